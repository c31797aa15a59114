/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selecting events: lists as the command line has them, and a whole selection (host/select.h).
 * Class names are those of TraceEvent()'s external classes and those of printed lines, in any case.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/nearest.h"
#include "host/select.h"
#include "trace/slot.h"

enum {
    CLASS_CONTROL = 1 << 0,
    CLASS_ENTER = 1 << 1,
    CLASS_EXIT = 1 << 2,
    CLASS_CALLINT = 1 << 3,
    CLASS_INT = 1 << 4,
    CLASS_PROCESS = 1 << 5,
    CLASS_THREAD = 1 << 6,
    CLASS_VTHREAD = 1 << 7,
    CLASS_SYSTEM = 1 << 8,
    CLASS_USER = 1 << 9,
    CLASS_COMM = 1 << 10,
    CLASS_OTHER = 1 << 11,
    CLASS_D = 1 << 12,
    CLASS_KYMO_CALL = 1 << 13,
};

static const struct {
    const char *name;
    uint32_t bits;
} class_names[] = {
    {"control", CLASS_CONTROL},
    {"kercall", CLASS_ENTER | CLASS_EXIT | CLASS_CALLINT},
    {"kercallenter", CLASS_ENTER},
    {"kercallexit", CLASS_EXIT},
    {"kercallint", CLASS_CALLINT},
    {"int", CLASS_INT},
    {"process", CLASS_PROCESS},
    {"thread", CLASS_THREAD},
    {"vthread", CLASS_VTHREAD},
    {"system", CLASS_SYSTEM},
    {"user", CLASS_USER},
    {"comm", CLASS_COMM},
    {"d", CLASS_D},
    {"kymo_call", CLASS_KYMO_CALL},
    {"other", CLASS_OTHER | CLASS_D},
    {"ker_call", CLASS_ENTER},
    {"ker_exit", CLASS_EXIT},
    {"int_call", CLASS_CALLINT},
    {"usrevent", CLASS_USER},
};

static bool select_number_parse(const char **text, unsigned *number)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    value = strtoul(*text, &end, 10);
    if (value >= KEV_CPUS) {
        return false;
    }
    *number = (unsigned)value;
    *text = end;
    return true;
}

int kymo_parse_cpus(const char *text, uint64_t *mask)
{
    *mask = 0;
    for (;;) {
        unsigned first, last;

        if (!select_number_parse(&text, &first)) {
            return -1;
        }
        last = first;
        if (*text == '-') {
            text++;
            if (!select_number_parse(&text, &last) || last < first) {
                return -1;
            }
        }
        for (unsigned cpu = first; cpu <= last; cpu++) {
            *mask |= (uint64_t)1 << cpu;
        }
        if (*text == '\0') {
            return 0;
        }
        if (*text++ != ',') {
            return -1;
        }
    }
}

static uint32_t class_find(const char *name, size_t len)
{
    for (unsigned i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++) {
        if (strlen(class_names[i].name) == len &&
            strncasecmp(class_names[i].name, name, len) == 0) {
            return class_names[i].bits;
        }
    }
    return 0;
}

int kymo_parse_classes(const char *text, struct kymo_classes *classes, const char **bad)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        uint32_t bits = class_find(text, len);

        if (bits == 0) {
            *bad = text;
            return -1;
        }
        classes->any = false;
        classes->bits |= bits;
        if (text[len] == '\0') {
            return 0;
        }
        text += len + 1;
    }
}

const char *kymo_class_hint(const char *name, size_t len)
{
    static struct nearest nearest;
    char word[32];

    snprintf(word, sizeof(word), "%.*s", (int)len, name);
    nearest = (struct nearest){.word = word};
    for (unsigned i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++) {
        nearest_offer(&nearest, class_names[i].name);
    }
    return nearest_hint(&nearest);
}

static uint32_t pr_th_bits(unsigned number)
{
    if (number >= 64) {
        return CLASS_PROCESS;
    }
    return number >= 26 ? CLASS_VTHREAD : CLASS_THREAD;
}

static uint32_t call_bits(unsigned number)
{
    static const uint32_t bits[4] = {CLASS_ENTER, CLASS_EXIT, CLASS_CALLINT, CLASS_CALLINT};

    return bits[number >> 7 & 3];
}

bool kymo_class_wanted(const struct kymo_classes *classes, const struct kev_event *event)
{
    if (classes->any) {
        return true;
    }
    switch (event->class) {
    case TRACE_CLASS_CONTROL:
        return (classes->bits & CLASS_CONTROL) != 0;
    case TRACE_CLASS_KER_CALL:
        return (classes->bits & call_bits(event->number)) != 0;
    case TRACE_CLASS_KYMO_CALL:
        return (classes->bits & (call_bits(event->number) | CLASS_KYMO_CALL)) != 0;
    case TRACE_CLASS_INT:
        return (classes->bits & CLASS_INT) != 0;
    case TRACE_CLASS_PR_TH:
        return (classes->bits & pr_th_bits(event->number)) != 0;
    case TRACE_CLASS_SYSTEM:
        return (classes->bits & CLASS_SYSTEM) != 0;
    case TRACE_CLASS_USER:
        return (classes->bits & CLASS_USER) != 0;
    case TRACE_CLASS_COMM:
        return (classes->bits & CLASS_COMM) != 0;
    case TRACE_CLASS_D:
        return (classes->bits & CLASS_D) != 0;
    default:
        return (classes->bits & CLASS_OTHER) != 0;
    }
}

/* ---- a selection ------------------------------------------------------------------- */

void kymo_select_init(struct kymo_select *select)
{
    memset(select, 0, sizeof(*select));
    select->classes.any = true;
}

/* Appends a list like "3,5-7". Returns -1 if it is malformed or too long. */
static int ranges_parse(struct kymo_ranges *ranges, const char *text)
{
    for (;;) {
        char *end;
        unsigned long first, last;

        if (!isdigit((unsigned char)*text) || ranges->n == SELECT_MOST) {
            return -1;
        }
        first = last = strtoul(text, &end, 10);
        if (*end == '-' && isdigit((unsigned char)end[1])) {
            last = strtoul(end + 1, &end, 10);
        }
        if (last > INT32_MAX || first > last || (*end != '\0' && *end != ',')) {
            return -1;
        }
        ranges->range[ranges->n].first = (int32_t)first;
        ranges->range[ranges->n++].last = (int32_t)last;
        if (*end == '\0') {
            return 0;
        }
        text = end + 1;
    }
}

static bool ranges_have(const struct kymo_ranges *ranges, int32_t value)
{
    for (unsigned i = 0; i < ranges->n; i++) {
        if (value >= ranges->range[i].first && value <= ranges->range[i].last) {
            return true;
        }
    }
    return ranges->n == 0;
}

static int select_text_add(const char *command, const char *option, const char **texts, unsigned *n,
                           const char *value)
{
    if (*n == SELECT_MOST) {
        return kymo_usage(command, "%s: --%s: at most %d times", command, option, SELECT_MOST);
    }
    texts[(*n)++] = value;
    return 0;
}

static int when_option(const char *command, const char *option, struct kymo_when *when,
                       const char *value)
{
    if (kymo_parse_when(value, when) == 0) {
        return 0;
    }
    return kymo_usage(command,
                      "%s: --%s %s: not a time: seconds since the start (1.25), 1250ms, us, ns, or "
                      "cycles (0x3a0c6)",
                      command, option, value);
}

static int ranges_option(const char *command, const char *option, struct kymo_ranges *ranges,
                         const char *value)
{
    if (ranges_parse(ranges, value) == 0) {
        return 0;
    }
    return kymo_usage(command, "%s: --%s %s: not a list of at most %d numbers (3,5-7)", command,
                      option, value, SELECT_MOST);
}

static int cpus_option(const char *command, uint64_t *cpus, const char *value)
{
    uint64_t more;

    if (kymo_parse_cpus(value, &more) != 0) {
        return kymo_usage(command, "%s: --cpu %s: not a list of CPUs (0,2-3)", command, value);
    }
    *cpus |= more;
    return 0;
}

int kymo_select_option(struct kymo_select *select, const char *command, int option,
                       const char *value)
{
    const char *bad;

    switch (option) {
    case SELECT_FROM:
        return when_option(command, "from", &select->from, value);
    case SELECT_TO:
        return when_option(command, "to", &select->to, value);
    case SELECT_CPU:
        return cpus_option(command, &select->cpus, value);
    case SELECT_CLASS:
        if (kymo_parse_classes(value, &select->classes, &bad) == 0) {
            return 0;
        }
        return kymo_usage(command, "%s: --class: there is no class %.*s%s", command,
                          (int)strcspn(bad, ","), bad, kymo_class_hint(bad, strcspn(bad, ",")));
    case SELECT_EVENT:
        return select_text_add(command, "event", select->events, &select->nevents, value);
    case SELECT_PID:
        return ranges_option(command, "pid", &select->pids, value);
    case SELECT_TID:
        return ranges_option(command, "tid", &select->tids, value);
    case SELECT_NAME:
        return select_text_add(command, "name", select->names, &select->nnames, value);
    default:
        return -1;
    }
}

/* Every CPU of the list is one that the capture has. */
static int cpus_bind(const struct kymo_select *select, const char *command, const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);

    for (unsigned cpu = info->ncpu; cpu < KEV_CPUS; cpu++) {
        if ((select->cpus >> cpu & 1) == 0) {
            continue;
        }
        if (info->ncpu == 1) {
            return kymo_usage(command, "%s: --cpu: %s has no CPU %u, only CPU 0", command,
                              info->path, cpu);
        }
        return kymo_usage(command, "%s: --cpu: %s has no CPU %u, only CPUs 0-%u", command,
                          info->path, cpu, info->ncpu - 1);
    }
    return KYMO_OK;
}

void kymo_select_bind_times(struct kymo_select *select, const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);

    select->first = 0;
    select->end = UINT64_MAX;
    if (select->from.given) {
        select->first = kymo_when_cycles(&select->from, info->start, info->cycles_per_sec);
    }
    if (select->to.given) {
        select->end = kymo_when_cycles(&select->to, info->start, info->cycles_per_sec);
    }
}

int kymo_select_bind(struct kymo_select *select, const char *command, const struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);
    int status = cpus_bind(select, command, kev);

    select->owned = select->pids.n > 0 || select->tids.n > 0 || select->nnames > 0;
    kymo_select_bind_times(select, kev);
    if (status == KYMO_OK && select->to.given && select->first >= select->end &&
        (select->from.absolute == select->to.absolute || info->start > 0)) {
        status = kymo_usage(command, "%s: nothing is between --from and --to", command);
    }
    return status == KYMO_OK ? kymo_select_bind_events(select, command, kev) : status;
}

static bool owner_fits(const struct kymo_select *select, int32_t pid, int32_t tid,
                       const struct owners *owners)
{
    const char *name;

    if (!ranges_have(&select->pids, pid) ||
        (select->tids.n > 0 && (tid == OWNER_NONE || !ranges_have(&select->tids, tid)))) {
        return false;
    }
    if (select->nnames == 0) {
        return true;
    }
    name = owners_process(owners, pid);
    for (unsigned i = 0; i < select->nnames && name != NULL; i++) {
        if (fnmatch(select->names[i], name, 0) == 0) {
            return true;
        }
    }
    return false;
}

bool kymo_select_owner(const struct kymo_select *select, const struct owner *owner,
                       const struct owners *owners)
{
    return !select->owned || (owner->known && owner_fits(select, owner->pid, owner->tid, owners)) ||
           (owner->about && owner_fits(select, owner->about_pid, owner->about_tid, owners));
}

bool kymo_select_event(const struct kymo_select *select, const struct kev_event *event,
                       const struct owner *owner, const struct owners *owners)
{
    return kymo_select_time(select, event->time) && kymo_select_kind(select, event) &&
           kymo_select_owner(select, owner, owners);
}

void kymo_select_learn(struct kymo_select *select, const struct kev_event *event)
{
    char *name = select->nnames == 0 ? NULL : owners_told(event, &select->no_memory);

    for (unsigned i = 0; i < select->nnames && name != NULL; i++) {
        if (fnmatch(select->names[i], name, 0) == 0) {
            select->named |= (uint64_t)1 << i;
        }
    }
    free(name);
}

int kymo_select_check_names(const struct kymo_select *select, const struct kev *kev)
{
    if (select->no_memory) {
        kymo_error("%s: out of memory", kev_info(kev)->path);
        return KYMO_FAILURE;
    }
    for (unsigned i = 0; i < select->nnames; i++) {
        if ((select->named >> i & 1) == 0) {
            kymo_error("%s: no process is called %s; `kymo stat --all` has their names",
                       kev_info(kev)->path, select->names[i]);
            return KYMO_FAILURE;
        }
    }
    return KYMO_OK;
}
