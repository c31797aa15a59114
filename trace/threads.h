/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static filters by process and thread: TraceEvent()'s SETCLASSPID and related commands. A class
 * may be limited to a process or one of its threads, and so may each of its events; where both are
 * limited, an event passes if both allow it. Events stopped by a limit are not made: no account
 * counts them.
 *
 * An event of class THREAD belongs to the thread that it describes. An event of a kernel call,
 * SYSTEM or COMM belongs to the thread that runs on this CPU (for an interrupt: the interrupted
 * one; on an idle CPU: the idle thread); a reader attributes it to the same thread, the CPU's last
 * THRUNNING. Other classes can't be limited (-ENOTSUP).
 *
 * Limits have no cost while nothing is limited: the site of a limited table entry is set to ALL
 * (trace/fire.c then queries the limit), a limited state takes the path of its wide form
 * (trace_filter.state_slow), and for a kernel call one more bit is tested (trace/kercall.c).
 *
 * Setters: kernel lock. Queries: any context. Tested by test/trace/threads_test.c.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_id.h"

/* pid << 32 | tid, where tid counts from 1 and 0 means any thread; the value 0 means not
 * limited. */
typedef uint64_t trace_thread_t;
#define TRACE_THREAD(pid, tid) ((uint64_t)(uint32_t)(pid) << 32 | (uint32_t)(tid))

/* Set a limit. Return 0, or -ENOTSUP with nothing changed. event_class: external; event: as for
 * ADDEVENT. The caller then calls trace_filter_slow() and trace_filter_apply(). */
int trace_threads_set_class(unsigned event_class, trace_thread_t only);
int trace_threads_set_event(unsigned event_class, uint32_t event, trace_thread_t only);
void trace_threads_clear(void);

/* Executes TraceEvent()'s commands for limits: trace/control_threads.c. Returns 0, -EINVAL, or
 * -ENOTSUP with nothing changed. */
long trace_threads_command(uint32_t cmd, const uint32_t args[4]);

/* Return whether any of these is limited, for trace_filter_slow(). */
bool trace_threads_limit_row(unsigned id);
bool trace_threads_limit_kercall(unsigned number);
uint32_t trace_threads_limit_states(void); /* bit per state */

/* Return whether an event passes. event_class: external; tid 0: the process as a whole. */
bool trace_threads_entry(unsigned event_class, unsigned id, uint32_t pid, uint32_t tid);
bool trace_threads_entry_here(unsigned event_class, unsigned id); /* for the thread on this CPU */
bool trace_threads_state(unsigned state, uint32_t pid, uint32_t tid);
/* number: call | TRACE_KERCALL_* */
bool trace_threads_kercall(unsigned number, uint32_t pid, uint32_t tid);
bool trace_threads_kercall_here(unsigned number);

#endif
