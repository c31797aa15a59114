/* SPDX-License-Identifier: BSD-2-Clause */
/* <sys/slog.h>: a line is an event SYSTEM/SLOG. Tested by test/board's t_events. */
#include "lib/include/sys/slog.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/include/sys/trace.h"

int vslogf(int opcode, int severity, const char *format, va_list list)
{
    struct {
        int32_t opcode, severity;
        char text[TRACE_TEXT_BYTES];
    } line = {opcode, severity, {0}};

    if (severity < 0 || severity > _SLOG_DEBUG2) {
        errno = EINVAL;
        return -1;
    }
    vsnprintf(line.text, sizeof(line.text), format, list);
    return trace_logbc(TRACE_CLASS_SYSTEM, _NTO_TRACE_SYS_SLOG, &line,
                       offsetof(__typeof__(line), text) + strlen(line.text) + 1);
}

int slogf(int opcode, int severity, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int result = vslogf(opcode, severity, format, list);
    va_end(list);
    return result;
}
