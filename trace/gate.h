/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's gate: while it is armed, an event that the static filters let through is logged only if
 * the port's predicate holds for it (trace_port_passes()). What it stops is no loss: it was never
 * meant to be in the log, and has a counter of its own, by class. Not asked about are user events
 * and records of D, as their programs say themselves what they log; names of processes and threads,
 * without which nobody knows whose the other events are; and a state dump.
 *
 * Costs nothing while not armed: rows are asked where a site serves every enabling (trace/fire.c),
 * for armed turns all logged sites to that; states and kernel calls are asked on the way of their
 * wide forms, for armed sends all of them there (trace_filter.*_slow).
 *
 * Opening, closing: kernel lock. Asking: any context. Proof: test/unit/test_gate.c.
 */
#ifndef TRACE_GATE_H
#define TRACE_GATE_H

#include "trace/port.h"
#include "trace/ring.h"

extern uint32_t trace_gate_armed; /* [a] */

/* 0, -EFAULT no buffers, -EEXIST, or as trace_port_gate(). */
int trace_gate_open(const char *name, struct kymo_trace_refusal *why);
void trace_gate_close(void);
/* True: the event must not be logged; that is counted, if tracing runs on this CPU. words: all
 * arguments of the row's wider form, at least five. */
bool trace_gate_stops(unsigned class, unsigned site, unsigned number, const uint64_t *words);

#endif
