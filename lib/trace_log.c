/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/trace.h>: a program's own events through TraceEvent(). Contexts, limits and errors are in
 * the header. Proof: test/boot's t_events, whose events are compared value for value.
 */
#include "lib/include/sys/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/neutrino.h"
#include "lib/kercall.h"

#define MOST KYMO_TRACE_USER_COMBINE_MAX

#define NOT_ASKED 2u
volatile uint32_t kymo_user_wanted = NOT_ASKED;

/* Threads may do this at once: each says the same. */
static void ask(void)
{
    if (kymo_user_wanted == NOT_ASKED) {
        kymo_raw_TRACE_EVENT(KYMO_TRACE_USERWORD, (uintptr_t)&kymo_user_wanted, 0, 0, 0);
    }
}

static bool dropped(unsigned code)
{
    ask();
    return kymo_user_dropped(code);
}

static int insert(uintptr_t cmd, uintptr_t code, uintptr_t d1, uintptr_t d2)
{
    kymo_pair pair = kymo_raw_TRACE_EVENT(cmd, code, d1, d2, 0);

    if (KYMO_PAIR_ERROR(pair) != 0) {
        errno = KYMO_PAIR_ERROR(pair);
        return -1;
    }
    return 0;
}

int kymo_logi(unsigned code, unsigned d1, unsigned d2)
{
    ask();
    return insert(_NTO_TRACE_INSERTSUSEREVENT, code, d1, d2);
}

/* The header's macro is in line; this is for whoever wants the function. */
int(trace_logi)(unsigned code, unsigned d1, unsigned d2)
{
    return kymo_trace_logi(code, d1, d2);
}

int trace_logb(unsigned code, const void *data, size_t bytes)
{
    return trace_logbc(TRACE_CLASS_USER, code, data, bytes);
}

int trace_logbc(unsigned class_number, unsigned event, const void *data, size_t bytes)
{
    uint32_t words[MOST / 4] = {0};

    if (bytes > sizeof(words)) {
        errno = EINVAL;
        return -1;
    }
    if (class_number == TRACE_CLASS_USER && dropped(event)) {
        return 0;
    }
    if (bytes != 0) {
        memcpy(words, data, bytes);
    }
    return TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, class_number, event, words,
                      (unsigned)((bytes + 3) / 4));
}

int trace_logs(unsigned code, const char *text)
{
    char copy[MOST];

    if (dropped(code)) {
        return 0;
    }
    size_t len = strnlen(text, sizeof(copy));
    if (len < sizeof(copy)) {
        return insert(_NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)text, 0);
    }
    memcpy(copy, text, sizeof(copy) - 1);
    copy[sizeof(copy) - 1] = '\0';
    return insert(_NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)copy, 0);
}

int trace_vnlogf(unsigned code, int max, const char *format, va_list list)
{
    char text[MOST];

    if (max <= 0) {
        errno = EINVAL;
        return -1;
    }
    if (dropped(code)) {
        return 0;
    }
    vsnprintf(text, (size_t)max < sizeof(text) ? (size_t)max : sizeof(text), format, list);
    return insert(_NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)text, 0);
}

int trace_nlogf(unsigned code, int max, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int result = trace_vnlogf(code, max, format, list);
    va_end(list);
    return result;
}

int trace_logf(unsigned code, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int result = trace_vnlogf(code, MOST, format, list);
    va_end(list);
    return result;
}
