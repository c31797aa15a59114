/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/slog.h>: log lines. The only log is the trace: a line is an event SYSTEM/SLOG, and is lost
 * while nothing is traced. Contexts and costs as in <sys/trace.h>.
 */
#ifndef LIB_SYS_SLOG_H
#define LIB_SYS_SLOG_H

#include <stdarg.h>

/* opcode: identifies the writer by a major number of the program's choice and a minor one
 * (0..999). */
#define _SLOG_SETCODE(major, minor) ((major)*1000 + (minor))
#define _SLOG_GETMAJOR(code) ((code) / 1000)
#define _SLOG_GETMINOR(code) ((code) % 1000)

/* severity */
#define _SLOG_SHUTDOWN 0
#define _SLOG_CRITICAL 1
#define _SLOG_ERROR 2
#define _SLOG_WARNING 3
#define _SLOG_NOTICE 4
#define _SLOG_INFO 5
#define _SLOG_DEBUG1 6
#define _SLOG_DEBUG2 7

/* Texts are truncated to 127 bytes. Return 0, or -1 and errno: EINVAL a severity above
 * _SLOG_DEBUG2. */
int slogf(int opcode, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vslogf(int opcode, int severity, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

#endif
