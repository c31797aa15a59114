/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a capture, after its last buffer: DROPPED slots for the losses that no buffer reports,
 * and the end mark. Written by the program that carries the buffers, with its own account or the
 * kernel's (QUERYLOSS). The slots are added to the capture's account of sums (check.h).
 */
#ifndef LIB_CAPTURE_LOSSES_H
#define LIB_CAPTURE_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "lib/capture/check.h"

/* Destination of a capture's bytes, in order: returns 0, or not 0 if it has failed. */
typedef int (*capture_put_t)(void *to, const void *data, size_t bytes);

/* Writes DROPPED slots for `events` events of reason << 8 | class, after that CPU's last slot. Does
 * not close the group. Returns not 0 if `put` has failed. */
int capture_losses_slots(struct capture_check *check, uint32_t cpu, uint32_t reason_class,
                         uint64_t events, capture_put_t put, void *to);
/* Closes the current group of DROPPED slots, if there is one. */
int capture_losses_close(struct capture_check *check, uint32_t cpu, capture_put_t put, void *to);
/* Writes the capture's end of one CPU: DROPPED for all that is pending in its account (NULL:
 * nothing is), END, CHECK, BUFFER_END. Called once for each CPU of the system page, in order. */
int capture_losses_end(struct capture_check *check, uint32_t cpu,
                       const struct kymo_trace_loss *loss, capture_put_t put, void *to);

#endif
