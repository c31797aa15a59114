/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selecting events: lists of CPUs and of classes as the command line has them. Class names are
 * those of TraceEvent()'s external classes, in any case.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/kymo.h"
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
};

static const struct {
    const char *name;
    uint32_t bits;
} class_names[] = {
    {"control", CLASS_CONTROL},    {"kercall", CLASS_ENTER | CLASS_EXIT | CLASS_CALLINT},
    {"kercallenter", CLASS_ENTER}, {"kercallexit", CLASS_EXIT},
    {"kercallint", CLASS_CALLINT}, {"int", CLASS_INT},
    {"process", CLASS_PROCESS},    {"thread", CLASS_THREAD},
    {"vthread", CLASS_VTHREAD},    {"system", CLASS_SYSTEM},
    {"user", CLASS_USER},          {"comm", CLASS_COMM},
    {"other", CLASS_OTHER},
};

static bool number_parse(const char **text, unsigned *number)
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

        if (!number_parse(&text, &first)) {
            return -1;
        }
        last = first;
        if (*text == '-') {
            text++;
            if (!number_parse(&text, &last) || last < first) {
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
    default:
        return (classes->bits & CLASS_OTHER) != 0;
    }
}
