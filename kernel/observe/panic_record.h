/* SPDX-License-Identifier: BSD-2-Clause */
/* The record that a panic leaves behind: between panic.c and panic_record.c. In a panic only. */
#ifndef KERNEL_OBSERVE_PANIC_RECORD_H
#define KERNEL_OBSERVE_PANIC_RECORD_H

#include "abi/sys/panic.h"
#include "kernel/thread/cpu.h"

/* The record, in retained memory where there is some, with what is certain but the
 * reason's text. */
struct kymo_panic *panic_record_begin(const struct cpu *cpu, unsigned kind,
                                      const uint64_t *registers);
/* That record, when the panic has run into another one; NULL: it wasn't that far. */
struct kymo_panic *panic_record_begun(void);
/* What may go wrong to find out: return addresses, what the others do; stopped: a mask. */
void panic_record_more(struct kymo_panic *record, const struct cpu *cpu, uint32_t stopped);
/* From here on the next boot will find it as it is now. */
void panic_record_seal(struct kymo_panic *record);
void panic_record_print(const struct kymo_panic *record);

#endif
