/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static filters by process and thread: TraceEvent()'s SETCLASSPID and its kin. A class may be
 * limited to a process or one of its threads, and so may each of its events; where both are, an
 * event passes if both say so. What is stopped here was not made: it is in no account.
 *
 * Whose an event is: one of class THREAD, the thread's that it tells of; one of a kernel call,
 * SYSTEM or COMM, the thread's that runs on this CPU (of an interrupt: that it interrupts; on an
 * idle CPU: the idle thread's), which is the one a reader takes it for: the CPU's last THRUNNING.
 * Other classes can't be limited (-ENOTSUP).
 *
 * Costs nothing while nothing is limited: a row that is has its site set to ALL (trace/fire.c asks
 * then), a state takes the way of its wide form (trace_filter.state_slow); of a kernel call one
 * more bit is looked at (trace/kercall.c).
 *
 * Setters: kernel lock. Askers: any context. Proof: test/unit/test_threads.c.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event_id.h"

/* pid << 32 | tid, tid from 1, 0: any of its threads; 0: not limited. */
typedef uint64_t trace_thread_t;
#define TRACE_THREAD(pid, tid) ((uint64_t)(uint32_t)(pid) << 32 | (uint32_t)(tid))

/* 0, or -ENOTSUP: nothing was changed. class: external; event as ADDEVENT's. trace_filter_slow()
 * and trace_filter_apply() are the caller's. */
int trace_threads_set_class(unsigned class, trace_thread_t only);
int trace_threads_set_event(unsigned class, uint32_t event, trace_thread_t only);
void trace_threads_clear(void);

/* TraceEvent()'s: trace/control_threads.c. 0, -EINVAL, or -ENOTSUP: nothing was changed. */
long trace_threads_command(uint32_t cmd, const uint32_t args[4]);

/* Whether something of these is limited: what trace_filter_slow() asks. */
bool trace_threads_limit_row(unsigned id);
bool trace_threads_limit_kercall(unsigned number);
uint32_t trace_threads_limit_states(void); /* bit per state */

/* Whether an event passes. class: external; tid 0: the process as a whole. */
bool trace_threads_row(unsigned class, unsigned id, uint32_t pid, uint32_t tid);
bool trace_threads_row_here(unsigned class, unsigned id); /* of the thread on this CPU */
bool trace_threads_state(unsigned state, uint32_t pid, uint32_t tid);
/* number: call | TRACE_KERCALL_* */
bool trace_threads_kercall(unsigned number, uint32_t pid, uint32_t tid);
bool trace_threads_kercall_here(unsigned number);

#endif
