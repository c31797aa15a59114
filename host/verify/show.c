/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of kymo verify (show.h): lines for people, an object a line for programs. Texts of the
 * capture are escaped. Proof: test/host/verify.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/escape.h"
#include "host/json_text.h"
#include "host/kev/inside.h"
#include "host/verify/show.h"

static const char *const show_kinds[] = {
    [VERIFY_WHOLE] = "whole",         [VERIFY_DAMAGED] = "damaged",
    [VERIFY_CUT_SHORT] = "cut short", [VERIFY_INCOMPLETE] = "incomplete",
    [VERIFY_FOLLOWED] = "followed",   [VERIFY_UNREADABLE] = "unreadable",
};

typedef void show_loss(unsigned cpu, const char *class, const char *reason, uint64_t events,
                       bool first);

static void show_each_loss(const struct verify_result *result, show_loss *show)
{
    bool first = true;

    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        for (unsigned class = 0; class < VERIFY_CLASSES; class ++) {
            for (unsigned reason = 0; reason < VERIFY_REASONS; reason++) {
                uint64_t events = result->counts->lost[cpu][class][reason];
                const char *why = record_drop_reason(reason);

                if (events > 0) {
                    show(cpu, class == VERIFY_CLASSES - 1 ? NULL : kev_class_name(class),
                         why == NULL ? "unknown" : why, events, first);
                    first = false;
                }
            }
        }
    }
}

/* The reader of what could be read; NULL: nothing could. */
static const struct kev *show_reader(const struct verify_result *result)
{
    return result->capture == NULL || kev_capture_facts(result->capture) == NULL
               ? NULL
               : capture_inside(result->capture).kev;
}

/* ---- lines ------------------------------------------------------------------------- */

static void show_safe(const char *text)
{
    size_t left = strlen(text);
    char one[4];

    for (unsigned taken; left > 0; text += taken, left -= taken) {
        fwrite(one, 1, escape_line_char(one, text, left, &taken), stdout);
    }
}

static void show_line(const char *name, const char *text)
{
    printf("  %-8s ", name);
    show_safe(text);
    putchar('\n');
}

static void show_line_of_loss(unsigned cpu, const char *class, const char *reason, uint64_t events,
                              bool first)
{
    printf("  %-8s %" PRIu64 " event%s of %s%s on CPU %u: %s\n", first ? "losses" : "", events,
           events == 1 ? "" : "s", class == NULL ? "any class" : "class ",
           class == NULL ? "" : class, cpu, reason);
}

static void show_sums(const struct kev *kev)
{
    const struct kev_damage *damage = kev_damage(kev);
    char text[200];

    if (damage->first[0] != '\0') {
        snprintf(text, sizeof(text),
                 "%" PRIu64 " wrong; not valid: %" PRIu64 " bytes in %" PRIu64 " places, %" PRIu64
                 " slots, %" PRIu64 " events, %" PRIu64 " buffers out of order",
                 damage->sums, damage->bytes, damage->places, damage->slots, damage->events,
                 damage->sequences);
        show_line("sums", text);
    } else {
        show_line("sums",
                  kev_info(kev)->checked ? "all are right" : "none: this format has no sums");
    }
}

static void show_gaps(const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);
    char text[200];

    for (unsigned i = 0; i < info->nmissing; i++) {
        const struct kev_missing *gap = &info->missing[i];
        char names[48] = "that are elsewhere";

        if (gap->first <= gap->last) {
            snprintf(names, sizeof(names), "%" PRIu32 " to %" PRIu32, gap->first, gap->last);
        }
        snprintf(text, sizeof(text), "%" PRIu32 " of the buffers %s of CPU %u: %s", gap->buffers,
                 names, gap->cpu,
                 gap->written ? "they were in the capture" : "no DROPPED accounts for them");
        show_line(i == 0 ? "gaps" : "", text);
    }
    if (info->nmissing == 0 && info->missing_bytes > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " bytes that were in the capture",
                 info->missing_bytes);
        show_line("gaps", text);
    } else if (info->nmissing == 0) {
        show_line("gaps", info->kymo ? "none" : "unknown: another kernel's capture counts none");
    }
}

void verify_show_text(const struct verify_result *result)
{
    const struct kev *kev = show_reader(result);
    char text[240];

    show_safe(result->path);
    printf(": %s\n", show_kinds[result->kind]);
    if (kev == NULL) {
        return;
    }
    const struct kev_info *info = kev_info(kev);
    const char *minor = kev_capture_attribute(result->capture, "VER_MINOR");

    snprintf(text, sizeof(text),
             "%s, %u CPU%s, %" PRIu64 " buffers, %" PRIu64 " bytes, version 1.%s",
             info->kymo ? info->board : "another kernel's", info->ncpu, info->ncpu == 1 ? "" : "s",
             info->buffers, info->size, minor == NULL ? "?" : minor);
    show_line("format", text);
    show_sums(kev);
    show_gaps(kev);
    show_line("end", info->ended     ? "marked"
                     : info->checked ? "not marked"
                                     : "unknown: this format has no end mark");
    for (unsigned i = 0; i < result->nscopes; i++) {
        show_line(i == 0 ? "scope" : "", result->scopes[i].text);
    }
    if (result->nscopes == 0) {
        show_line("scope", "all events of all CPUs");
    }
    show_each_loss(result, show_line_of_loss);
    if (result->lost == 0) {
        show_line("losses", "none is counted");
    }
}

/* ---- JSON -------------------------------------------------------------------------- */

static void show_object_of_loss(unsigned cpu, const char *class, const char *reason,
                                uint64_t events, bool first)
{
    printf("%s{\"cpu\":%u,\"class\":", first ? "" : ",", cpu);
    json_put(stdout, class);
    printf(",\"reason\":");
    json_put(stdout, reason);
    printf(",\"events\":%" PRIu64 "}", events);
}

static void show_damage_json(const struct kev_damage *damage)
{
    if (damage->first[0] == '\0') {
        printf(",\"damage\":null");
        return;
    }
    printf(",\"damage\":{\"bytes\":%" PRIu64 ",\"places\":%" PRIu64 ",\"slots\":%" PRIu64
           ",\"events\":%" PRIu64 ",\"order\":%" PRIu64 ",\"sums\":%" PRIu64 ",\"first\":%" PRIu64
           "}",
           damage->bytes, damage->places, damage->slots, damage->events, damage->sequences,
           damage->sums, damage->first_offset);
}

static void show_reader_json(const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);

    printf(",\"kymo\":%s,\"cpus\":%u,\"bytes\":%" PRIu64 ",\"buffers\":%" PRIu64
           ",\"sums\":%s,\"end\":\"%s\",\"missing_bytes\":%" PRIu64 ",\"gaps\":[",
           info->kymo ? "true" : "false", info->ncpu, info->size, info->buffers,
           info->checked ? "true" : "false",
           info->ended     ? "marked"
           : info->checked ? "missing"
                           : "unknown",
           info->missing_bytes);
    for (unsigned i = 0; i < info->nmissing; i++) {
        const struct kev_missing *gap = &info->missing[i];

        printf("%s{\"cpu\":%u,\"first\":%" PRIu32 ",\"last\":%" PRIu32 ",\"buffers\":%" PRIu32
               ",\"written\":%s}",
               i == 0 ? "" : ",", gap->cpu, gap->first, gap->last, gap->buffers,
               gap->written ? "true" : "false");
    }
    printf("],\"next_capture\":");
    if (info->next_capture != 0) {
        printf("%" PRIu64, info->next_capture);
    } else {
        printf("null");
    }
    show_damage_json(kev_damage(kev));
}

void verify_show_json(const struct verify_result *result)
{
    const struct kev *kev = show_reader(result);

    printf("{\"file\":");
    json_put(stdout, result->path);
    printf(",\"verdict\":\"%s\",\"message\":", show_kinds[result->kind]);
    json_put(stdout, result->message[0] == '\0' ? NULL : result->message);
    if (kev != NULL) {
        show_reader_json(kev);
        printf(",\"scope\":[");
        for (unsigned i = 0; i < result->nscopes; i++) {
            printf("%s{\"cpu\":", i == 0 ? "" : ",");
            printf(result->scopes[i].cpu < 0 ? "null" : "%d", result->scopes[i].cpu);
            printf(",\"text\":");
            json_put(stdout, result->scopes[i].text);
            putchar('}');
        }
        printf("],\"lost\":%" PRIu64 ",\"losses\":[", result->lost);
        show_each_loss(result, show_object_of_loss);
        putchar(']');
    }
    printf("}\n");
}
