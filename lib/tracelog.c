/* SPDX-License-Identifier: BSD-2-Clause */
/* <sys/tracelog.h>: user events through TraceEvent(). */
#include "lib/include/sys/tracelog.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/abi/sys/neutrino.h"

int trace_logi(unsigned code, unsigned d1, unsigned d2)
{
    return TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, code, d1, d2);
}

int trace_logb(unsigned code, const void *data, size_t bytes)
{
    uint32_t words[KYMO_TRACE_USER_COMBINE_MAX / 4] = {0};

    if (bytes > sizeof(words)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(words, data, bytes);
    return TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, code, words, (unsigned)((bytes + 3) / 4));
}

int trace_logs(unsigned code, const char *text)
{
    char copy[KYMO_TRACE_USER_COMBINE_MAX];

    if (strlen(text) < sizeof(copy)) {
        return TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, code, text);
    }
    memcpy(copy, text, sizeof(copy) - 1);
    copy[sizeof(copy) - 1] = '\0';
    return TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, code, copy);
}

int trace_logf(unsigned code, const char *format, ...)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return trace_logs(code, text);
}
