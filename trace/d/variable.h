/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of a program as the interpreter reads and stores them. By value a variable is 64
 * bits; by reference it is an address, and storing copies what is there. Of a firing.
 */
#ifndef TRACE_D_VARIABLE_H
#define TRACE_D_VARIABLE_H

#include "trace/d/machine.h"

/* Globals and clause-locals by reference. area: where they are. */
uint64_t d_static_address(const struct d_static *, const uint8_t *area);
void d_static_store(struct d_context *, const struct d_static *, uint8_t *area, uint64_t address);

/* Thread-locals and associative elements; their key is what was pushed. */
uint64_t d_dynamic_value(struct d_context *, const struct d_dynamic *);
void d_dynamic_store(struct d_context *, const struct d_dynamic *, uint64_t value);

#endif
