/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log's gate by a D program: gate.c. */
#ifndef KERNEL_D_GATE_H
#define KERNEL_D_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/d/d.h"
#include "trace/d/probe.h"

/* Kernel lock. 0 or a negative errno: -EEXIST, or as d_consumer_create(). */
int d_gate_open(const void *image, size_t bytes, struct d_refusal *);
void d_gate_close(void);
/* Whether events of this site and number are this probe's (sites.c). Any context. */
bool d_site_is(const struct d_probe *, unsigned site, unsigned number);

#endif
