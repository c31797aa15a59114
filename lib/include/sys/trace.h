/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/trace.h>, as QNX has it: TraceEvent() with its commands, classes and events, and helpers
 * that write events of one's own into the trace. docs/app.md shows how a program is traced,
 * docs/qnx.md what differs from QNX.
 *
 * The helpers need no ability and cost one kernel call; while nothing is traced, or the event is
 * filtered, it goes nowhere and that is no error. Any thread, at any time; they take no lock and no
 * memory beside some 300 bytes of stack (those with a format: what vsnprintf() takes, too).
 *
 * code: number of an event of class USER, 0..1023. Return 0, or -1 and errno: EINVAL a code above
 * 1023 or more than KYMO_TRACE_USER_COMBINE_MAX bytes, EFAULT a bad pointer. A text that is too
 * long is cut, and is no error.
 */
#ifndef LIB_SYS_TRACE_H
#define LIB_SYS_TRACE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "trace/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As many arguments as the command has follow it. Returns what the command says, mostly 0; or -1
 * and errno. abi/sys/trace.h lists the commands. */
int TraceEvent(int cmd, ...);

/* Two words. */
int trace_logi(unsigned code, unsigned d1, unsigned d2);
/* So many bytes; padded with 0 to whole slots, so that a reader sees a multiple of 8. */
int trace_logb(unsigned code, const void *data, size_t bytes);
/* The same as an event of another class: class is an internal one, TRACE_CLASS_*. What a program
 * tells of itself is for everyone (sys/trace.h), the rest takes ABILITY_TRACE: EPERM. ENOTSUP:
 * there is no such event. */
int trace_logbc(unsigned class_number, unsigned event, const void *data, size_t bytes);
/* A text; the formatted ones as printf() has it. max: bytes it may take, its NUL included, at most
 * KYMO_TRACE_USER_COMBINE_MAX (which trace_logf() takes); 0 is EINVAL. */
int trace_logs(unsigned code, const char *text);
int trace_logf(unsigned code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int trace_nlogf(unsigned code, int max, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int trace_vnlogf(unsigned code, int max, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* SYSTEM/ADDRESS: the place where it is called. */
int trace_here(void);
/*
 * SYSTEM/FUNC_ENTER and FUNC_EXIT: a function's address, and where it was called. The compiler
 * calls them by itself, at the beginning and end of every function, in files that are compiled with
 * -finstrument-functions: __cyg_profile_func_enter() and _exit() of the library lead here, unless
 * the program has its own.
 */
int trace_func_enter(void *this_fn, void *call_site);
int trace_func_exit(void *this_fn, void *call_site);
void __cyg_profile_func_enter(void *this_fn, void *call_site);
void __cyg_profile_func_exit(void *this_fn, void *call_site);

#ifdef __cplusplus
}
#endif

#endif
