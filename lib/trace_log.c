/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/trace.h>: a program's own events through TraceEvent(). Contexts, limits and errors are in
 * the header. Tested by test/board's t_events, whose events are compared value by value.
 */
#include "lib/include/sys/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi/compiler.h"
#include "abi/sys/neutrino.h"
#include "lib/kercall.h"

#define MOST KYMO_TRACE_USER_COMBINE_MAX

/* The call's number. */
enum {
#define KERCALL(number, NAME, ...) CALL_##NAME = number,
#include "abi/kercalls.def"
#undef KERCALL
};

#define NOT_ASKED 2u
volatile uint32_t kymo_user_wanted = NOT_ASKED;

/* Several threads may do this at once: they set the same value. */
COLD static void ask_once(void)
{
    kymo_raw_TRACE_EVENT(KYMO_TRACE_USERWORD, (uintptr_t)&kymo_user_wanted, 0, 0, 0);
}

static inline void trace_log_ask_kernel(void)
{
    if (kymo_user_wanted == NOT_ASKED) {
        ask_once();
    }
}

static inline bool trace_log_count_dropped(unsigned code)
{
    trace_log_ask_kernel();
    return kymo_user_dropped(code);
}

COLD static int insert_failed(int error)
{
    errno = error;
    return -1;
}

static inline int trace_log_insert_event(uintptr_t cmd, uintptr_t code, uintptr_t d1, uintptr_t d2)
{
    int error = kymo_error_4(CALL_TRACE_EVENT, cmd, code, d1, d2);

    return error == 0 ? 0 : insert_failed(error);
}

COLD static int first_logi(unsigned code, unsigned d1, unsigned d2)
{
    ask_once();
    return trace_log_insert_event(_NTO_TRACE_INSERTSUSEREVENT, code, d1, d2);
}

int kymo_logi(unsigned code, unsigned d1, unsigned d2)
{
    if (kymo_user_wanted == NOT_ASKED) {
        return first_logi(code, d1, d2);
    }
    return trace_log_insert_event(_NTO_TRACE_INSERTSUSEREVENT, code, d1, d2);
}

/* The header's version is inline; this is the function itself. */
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
    if (class_number == TRACE_CLASS_USER && trace_log_count_dropped(event)) {
        return 0;
    }
    if (bytes != 0) {
        memcpy(words, data, bytes);
    }
    return TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, class_number, event, words,
                      (unsigned)((bytes + 3) / 4));
}

/* Inserts the beginning of a text that is too long for the kernel. */
COLD static int insert_long(unsigned code, const char *text)
{
    char copy[MOST];
    size_t len = strnlen(text, sizeof(copy) - 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return trace_log_insert_event(_NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)copy, 0);
}

/* The kernel searches the text's end and refuses a text that is too long (EINVAL). */
int trace_logs(unsigned code, const char *text)
{
    if (trace_log_count_dropped(code)) {
        return 0;
    }
    int error =
        kymo_error_4(CALL_TRACE_EVENT, _NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)text, 0);

    if (error == EINVAL) {
        return insert_long(code, text);
    }
    return error == 0 ? 0 : insert_failed(error);
}

int trace_vnlogf(unsigned code, int max, const char *format, va_list list)
{
    char text[MOST];

    if (max <= 0) {
        errno = EINVAL;
        return -1;
    }
    if (trace_log_count_dropped(code)) {
        return 0;
    }
    vsnprintf(text, (size_t)max < sizeof(text) ? (size_t)max : sizeof(text), format, list);
    return trace_log_insert_event(_NTO_TRACE_INSERTUSRSTREVENT, code, (uintptr_t)text, 0);
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
