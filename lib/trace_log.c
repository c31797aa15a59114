/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/trace.h>: a program's own events through TraceEvent(). Contexts, limits and errors are in
 * the header. Proof: test/boot's t_events, whose events are compared value for value.
 */
#include "lib/include/sys/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/neutrino.h"

#define MOST KYMO_TRACE_USER_COMBINE_MAX

int trace_logi(unsigned code, unsigned d1, unsigned d2)
{
    return TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, code, d1, d2);
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
    if (bytes != 0) {
        memcpy(words, data, bytes);
    }
    return TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, class_number, event, words,
                      (unsigned)((bytes + 3) / 4));
}

int trace_logs(unsigned code, const char *text)
{
    char copy[MOST];
    size_t len = strnlen(text, sizeof(copy));

    if (len < sizeof(copy)) {
        return TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, code, text);
    }
    memcpy(copy, text, sizeof(copy) - 1);
    copy[sizeof(copy) - 1] = '\0';
    return TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, code, copy);
}

int trace_vnlogf(unsigned code, int max, const char *format, va_list list)
{
    char text[MOST];

    if (max <= 0) {
        errno = EINVAL;
        return -1;
    }
    vsnprintf(text, (size_t)max < sizeof(text) ? (size_t)max : sizeof(text), format, list);
    return TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, code, text);
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
