/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's variables as the interpreter loads and stores them. By value a variable is 64 bits;
 * by reference it is an address, and a store copies the bytes there. Probe context.
 */
#ifndef TRACE_DTRACE_VARIABLE_H
#define TRACE_DTRACE_VARIABLE_H

#include "trace/dtrace/machine.h"

/* Globals and clause-locals by reference. area: their memory. */
uint64_t dtrace_static_address(const struct dtrace_static *, const uint8_t *area);
void dtrace_static_store(struct dtrace_context *, const struct dtrace_static *, uint8_t *area,
                         uint64_t address);

/* Thread-locals and associative elements; their key is the pushed tuple. */
uint64_t dtrace_dynamic_value(struct dtrace_context *, const struct dtrace_dynamic *);
void dtrace_dynamic_store(struct dtrace_context *, const struct dtrace_dynamic *, uint64_t value);

#endif
