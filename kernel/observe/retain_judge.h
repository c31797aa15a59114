/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of this board's window, and whether they can be trusted: for retain.c. */
#ifndef KERNEL_OBSERVE_RETAIN_JUDGE_H
#define KERNEL_OBSERVE_RETAIN_JUDGE_H

#include "kernel/arch/aspace.h"
#include "kernel/observe/retain_layout.h"

static inline void *retain_at(uint32_t offset)
{
    return (uint8_t *)arch_phys_to_virt(CONFIG_RETAIN_BASE) + offset;
}

#define HEADER ((struct kymo_retain_header *)retain_at(KYMO_RETAIN_HEADER))
#define PANIC ((struct kymo_retain_panic *)retain_at(RETAIN_PANIC))
#define BOOTS ((struct kymo_retain_boots *)retain_at(RETAIN_BOOTS))
#define FROZEN ((struct kymo_retain_frozen *)retain_at(RETAIN_FROZEN))

extern const struct kymo_retain_areas retain_areas;

uint32_t retain_header_crc(const struct kymo_retain_header *header);
/* Return whether it is there and right. */
bool retain_header_good(void);
bool retain_panic_good(void);
bool retain_boots_good(void);
/* Returns whether the panic's record is as a claim leaves it: there was none. */
bool retain_panic_absent(void);

#endif
