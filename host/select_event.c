/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --event and --class against a capture's own table of events: a bit for each class and number.
 * Names are those that `kymo print` prints, in any case; a name that no event has is an error that
 * names the nearest ones. Proof: test/host/select_test.c.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/select.h"
#include "trace/slot.h"

#define NUMBERS 1024
#define NAME_MOST 40
#define NEAR_MOST 3

/* An item of the list. */
struct pattern {
    struct kymo_classes classes; /* .any: without CLASS: */
    char name[NAME_MOST];
    bool is_number;
    unsigned number;
};

/* Returns an event's number without the bits that select its form. */
static unsigned plain_number(unsigned class, unsigned number)
{
    if (class == TRACE_CLASS_USER) {
        return number;
    }
    number &= ~(unsigned)TRACE_EVENT_64;
    return trace_class_is_call(class) ? number & 127 : number;
}

static bool pattern_fits(const struct pattern *pattern, const struct kev *kev,
                         const struct kev_event *event)
{
    const struct kev_desc *desc = kev_describe(kev, event->class, event->number);
    unsigned number = plain_number(event->class, event->number);
    char digits[8];

    if (!kymo_class_wanted(&pattern->classes, event)) {
        return false;
    }
    if (pattern->is_number) {
        return number == pattern->number;
    }
    snprintf(digits, sizeof(digits), "%u", number);
    return fnmatch(pattern->name, desc == NULL ? digits : desc->name, FNM_CASEFOLD) == 0;
}

/* ---- unknown names ----------------------------------------------------------------- */

/* Returns how many characters must be inserted, deleted, replaced or swapped; case is ignored. */
static unsigned select_event_edit_distance(const char *a, const char *b)
{
    unsigned row[3][NAME_MOST + 1];
    size_t n = strnlen(b, NAME_MOST);

    for (unsigned j = 0; j <= n; j++) {
        row[0][j] = j;
    }
    for (unsigned i = 1; i <= NAME_MOST && a[i - 1] != '\0'; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            int x = toupper((unsigned char)a[i - 1]), y = toupper((unsigned char)b[j - 1]);
            unsigned least = last[j - 1] + (x != y);

            least = last[j] + 1 < least ? last[j] + 1 : least;
            least = now[j - 1] + 1 < least ? now[j - 1] + 1 : least;
            if (i > 1 && j > 1 && x == toupper((unsigned char)b[j - 2]) &&
                y == toupper((unsigned char)a[i - 2]) && older[j - 2] + 1 < least) {
                least = older[j - 2] + 1;
            }
            now[j] = least;
        }
    }
    return row[strnlen(a, NAME_MOST) % 3][n];
}

struct near {
    unsigned n;
    const char *name[NEAR_MOST];
    unsigned away[NEAR_MOST];
};

static void near_add(struct near *near, const char *name, unsigned away)
{
    unsigned at = near->n;

    for (unsigned i = 0; i < near->n; i++) {
        if (strcmp(near->name[i], name) == 0) {
            return;
        }
    }
    while (at > 0 && near->away[at - 1] > away) {
        at--;
    }
    if (at == NEAR_MOST) {
        return;
    }
    near->n += near->n < NEAR_MOST;
    for (unsigned i = near->n - 1; i > at; i--) {
        near->name[i] = near->name[i - 1];
        near->away[i] = near->away[i - 1];
    }
    near->name[at] = name;
    near->away[at] = away;
}

/* "" or "; did you mean A, B or C?" */
static void near_find(const struct pattern *pattern, const struct kev *kev, char *text, size_t room)
{
    unsigned most = (unsigned)strlen(pattern->name) / 3 + 1;
    struct near near = {0};
    size_t at = 0;

    for (unsigned i = 0; i < KEV_CLASSES * NUMBERS; i++) {
        struct kev_event event = {.class = (uint8_t)(i / NUMBERS),
                                  .number = (uint16_t)(i % NUMBERS)};
        const struct kev_desc *desc = kev_describe(kev, event.class, event.number);
        unsigned away;

        if (desc == NULL || !kymo_class_wanted(&pattern->classes, &event)) {
            continue;
        }
        away = select_event_edit_distance(pattern->name, desc->name);
        if (strlen(pattern->name) > 2 && strcasestr(desc->name, pattern->name) != NULL) {
            away = 1;
        }
        if (away <= most) {
            near_add(&near, desc->name, away);
        }
    }
    text[0] = '\0';
    for (unsigned i = 0; i < near.n && at < room; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 < near.n ? ", " : " or ";

        at += (size_t)snprintf(text + at, room - at, "%s%s%s", before, near.name[i],
                               i + 1 == near.n ? "?" : "");
    }
}

/* ---- the list ---------------------------------------------------------------------- */

/* The item at `text` of `len` characters. */
static int pattern_parse(struct pattern *pattern, const char *command, const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);
    char class[NAME_MOST];
    const char *bad;
    size_t before = colon == NULL ? 0 : (size_t)(colon - text);

    memset(pattern, 0, sizeof(*pattern));
    pattern->classes.any = colon == NULL;
    if (colon != NULL) {
        snprintf(class, sizeof(class), "%.*s", (int)before, text);
        if (kymo_parse_classes(class, &pattern->classes, &bad) != 0) {
            return kymo_usage(command, "%s: --event %.*s: there is no class %s%s", command,
                              (int)len, text, class, kymo_class_hint(class, strlen(class)));
        }
        text += before + 1;
        len -= before + 1;
    }
    if (len == 0 || len >= sizeof(pattern->name)) {
        return kymo_usage(command, "%s: --event: %.*s is not the name of an event", command,
                          (int)len, text);
    }
    memcpy(pattern->name, text, len);
    pattern->is_number = strspn(pattern->name, "0123456789") == len;
    pattern->number = pattern->is_number ? (unsigned)strtoul(pattern->name, NULL, 10) : 0;
    if (pattern->is_number && (pattern->classes.any || pattern->number >= NUMBERS)) {
        return kymo_usage(command, "%s: --event %s: %s", command, pattern->name,
                          pattern->classes.any ? "a number needs its class: user:100"
                                               : "numbers of events go up to 1023");
    }
    return KYMO_OK;
}

/* Marks what one item means. */
static int pattern_use(const struct pattern *pattern, const char *command, const struct kev *kev,
                       uint8_t wanted[KEV_CLASSES][NUMBERS / 8])
{
    bool any = false;
    char near[160];

    for (unsigned i = 0; i < KEV_CLASSES * NUMBERS; i++) {
        struct kev_event event = {.class = (uint8_t)(i / NUMBERS),
                                  .number = (uint16_t)(i % NUMBERS)};

        if (pattern_fits(pattern, kev, &event)) {
            wanted[event.class][event.number >> 3] |= (uint8_t)(1 << (event.number & 7));
            any = true;
        }
    }
    if (any) {
        return KYMO_OK;
    }
    near_find(pattern, kev, near, sizeof(near));
    return kymo_usage(command, "%s: --event: %s has no event %s%s", command, kev_info(kev)->path,
                      pattern->name, near);
}

static int list_use(const char *list, const char *command, const struct kev *kev,
                    uint8_t wanted[KEV_CLASSES][NUMBERS / 8])
{
    for (;;) {
        size_t len = strcspn(list, ",");
        struct pattern pattern;
        int status = pattern_parse(&pattern, command, list, len);

        status = status == KYMO_OK ? pattern_use(&pattern, command, kev, wanted) : status;
        if (status != KYMO_OK || list[len] == '\0') {
            return status;
        }
        list += len + 1;
    }
}

int kymo_select_bind_events(struct kymo_select *select, const char *command, const struct kev *kev)
{
    memset(select->wanted, select->nevents == 0 ? 0xff : 0, sizeof(select->wanted));
    for (unsigned i = 0; i < select->nevents; i++) {
        int status = list_use(select->events[i], command, kev, select->wanted);

        if (status != KYMO_OK) {
            return status;
        }
    }
    for (unsigned i = 0; i < KEV_CLASSES * NUMBERS; i++) {
        struct kev_event event = {.class = (uint8_t)(i / NUMBERS),
                                  .number = (uint16_t)(i % NUMBERS)};

        if (!kymo_class_wanted(&select->classes, &event)) {
            select->wanted[event.class][event.number >> 3] &= (uint8_t) ~(1 << (event.number & 7));
        }
    }
    return KYMO_OK;
}
