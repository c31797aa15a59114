/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/trace.h>, as in QNX: TraceEvent() with its commands, classes and events, and helpers that
 * write a program's own events into the trace. docs/guide/app.md shows how to trace a program,
 * docs/reference/qnx.md lists the differences from QNX.
 *
 * The helpers need no ability and cost one kernel call, or a load and a branch while no user event
 * is wanted (nothing is traced, or class USER is off). Then, or if the event is filtered out, it is
 * dropped without an error. Any thread, at any time; they take no lock and no memory beyond some
 * 300 bytes of stack (plus, for those with a format, that of vsnprintf()).
 *
 * code: number of an event of class USER, 0..1023. Return 0, or -1 and errno: EINVAL a code above
 * 1023 or more than KYMO_TRACE_USER_COMBINE_MAX bytes, EFAULT a bad pointer. A text that is too
 * long is truncated without an error.
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

/* Takes as many further arguments as the command has. Returns the command's result, mostly 0; or -1
 * and errno. abi/sys/trace.h lists the commands. */
int TraceEvent(int cmd, ...);

/* 0: no user event is wanted. The kernel keeps it (KYMO_TRACE_USERWORD) once this process has
 * inserted a first one. */
extern volatile uint32_t kymo_user_wanted;
int kymo_logi(unsigned code, unsigned d1, unsigned d2);
static inline int kymo_user_dropped(unsigned code)
{
    return kymo_user_wanted == 0 && code <= _NTO_TRACE_USERLAST;
}

/* Inserts two words. */
int trace_logi(unsigned code, unsigned d1, unsigned d2);
static inline int kymo_trace_logi(unsigned code, unsigned d1, unsigned d2)
{
    return kymo_user_dropped(code) ? 0 : kymo_logi(code, d1, d2);
}
#define trace_logi(code, d1, d2) kymo_trace_logi(code, d1, d2)
/* Inserts `bytes` bytes, padded with 0 to whole slots, so that a reader sees a multiple of 8. */
int trace_logb(unsigned code, const void *data, size_t bytes);
/* trace_logb() for another class: class is an internal one, TRACE_CLASS_*. Every program may insert
 * events about itself (sys/trace.h); the rest needs ABILITY_TRACE: EPERM. ENOTSUP: there is no such
 * event. */
int trace_logbc(unsigned class_number, unsigned event, const void *data, size_t bytes);
/* Insert a text; the formatted ones take printf()'s formats. max: most bytes, NUL included, at most
 * KYMO_TRACE_USER_COMBINE_MAX (trace_logf()'s value); 0 is EINVAL. */
int trace_logs(unsigned code, const char *text);
int trace_logf(unsigned code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int trace_nlogf(unsigned code, int max, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int trace_vnlogf(unsigned code, int max, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* SYSTEM/ADDRESS: the address of the call. */
int trace_here(void);
/*
 * SYSTEM/FUNC_ENTER and FUNC_EXIT: a function's address, and that of its call. In files compiled
 * with -finstrument-functions the compiler inserts these calls at the beginning and end of every
 * function: the library's __cyg_profile_func_enter() and _exit() call these functions, unless the
 * program defines its own.
 */
int trace_func_enter(void *this_fn, void *call_site);
int trace_func_exit(void *this_fn, void *call_site);
void __cyg_profile_func_enter(void *this_fn, void *call_site);
void __cyg_profile_func_exit(void *this_fn, void *call_site);

#ifdef __cplusplus
}
#endif

#endif
