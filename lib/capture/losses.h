/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Behind a capture's last buffer: DROPPED slots for the losses that no buffer tells of. Written by
 * whoever carries the buffers, with its own account or the kernel's (QUERYLOSS).
 */
#ifndef LIB_CAPTURE_LOSSES_H
#define LIB_CAPTURE_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/abi/sys/trace.h"

/* Where a capture's bytes go, in their order: 0, else it has refused them. */
typedef int (*capture_put_t)(void *to, const void *data, size_t bytes);

/* So many events, for reason << 8 | class; `time`: of the last slot of that CPU. Not 0: `put` has
 * refused. */
int capture_losses_slots(uint32_t cpu, uint32_t time, uint32_t reason_class, uint64_t events,
                         capture_put_t put, void *to);
/* All that is pending in that CPU's account. */
int capture_losses_write(uint32_t cpu, uint32_t time, const struct kymo_trace_loss *loss,
                         capture_put_t put, void *to);

#endif
