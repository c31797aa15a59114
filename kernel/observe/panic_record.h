/* SPDX-License-Identifier: BSD-2-Clause */
/* The record that a panic leaves behind, shared by panic.c and panic_record.c. Panic context
 * only. */
#ifndef KERNEL_OBSERVE_PANIC_RECORD_H
#define KERNEL_OBSERVE_PANIC_RECORD_H

#include "abi/sys/panic.h"
#include "kernel/base/cpu.h"

/* Begins the record, in retained memory where there is some, and fills in all facts that are
 * certain except the reason's text. */
struct kymo_panic *panic_record_begin(const struct cpu *cpu, unsigned kind,
                                      const uint64_t *registers);
/* Returns that record if the panic runs into a second one; NULL: it was not begun. */
struct kymo_panic *panic_record_begun(void);
/* Adds facts whose collection may fail: return addresses, the other CPUs' state; stopped: a
 * mask. */
void panic_record_more(struct kymo_panic *record, const struct cpu *cpu, uint32_t stopped);
/* Completes the record: from here on the next boot finds it in its present state. */
void panic_record_seal(struct kymo_panic *record);
void panic_record_print(const struct kymo_panic *record);

#endif
