/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of kernel calls, an optional part of the log. kind: 0 entry, 1 return, 2 INT; an event
 * is kind * TRACE_KERCALLS + call. The kernel's queries and trace_kercall() are in trace/trace.h.
 *
 * Setters: kernel lock. Tested by test/trace/filter_test.c.
 */
#ifndef TRACE_KERCALL_H
#define TRACE_KERCALL_H

#include "trace/filter.h"

/* Selects a call, or all of them (event NULL). Returns 0 or -ENOTSUP. */
int trace_kercall_set(enum trace_filter_set set, unsigned kind, const uint32_t *event, bool value);
/* Must be called after a change of the wide set, of the gate (all: it is armed), or of
 * trace/threads.h. */
void trace_kercall_update(bool all);
/* Adds or removes D as a listener of this kind's site. */
void trace_kercall_probe(unsigned kind, bool on);
/* Returns whether an event of this kind is on. */
bool trace_kercall_any(unsigned kind);

#endif
