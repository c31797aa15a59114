/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's gate: while it is armed, an event that the static filters let through is logged only if
 * the port's predicate (trace_port_passes()) is true for it. Events that the gate stops are not
 * losses: they were never meant for the log, and have their own counters, by class. The gate does
 * not apply to user events and records of D, because programs choose them themselves; to names of
 * processes and threads, without which other events can't be attributed; or to a state dump.
 *
 * The gate costs nothing while it is not armed. Table entries query it at sites that serve every
 * enabling (trace/fire.c), and arming switches all logged sites to that mode; states and kernel
 * calls query it on the path of their wide forms, and arming sends all of them there
 * (trace_filter.*_slow).
 *
 * Opening, closing: kernel lock. Queries: any context. Tested by test/trace/gate_test.c.
 */
#ifndef TRACE_GATE_H
#define TRACE_GATE_H

#include "trace/port.h"
#include "trace/ring.h"

extern uint32_t trace_gate_armed; /* [a] */

/* Arms the gate. Returns 0, -EFAULT (no buffers), -EEXIST, or an error of trace_port_gate(). */
int trace_gate_open(const char *name, struct kymo_trace_refusal *why);
void trace_gate_close(void);
/* Returns whether the event must not be logged, and counts it if tracing runs on this CPU. words:
 * all arguments of the entry's wider form, at least five. */
bool trace_gate_stops(unsigned slot_class, unsigned site, unsigned number, const uint64_t *words);

#endif
