/* SPDX-License-Identifier: BSD-2-Clause */
/* Likewise of AArch64, whose port leaves the mask to the system: trace/port/aarch64.h. */
#ifndef TEST_TRACE_ALONE_SYSTEM_A64_H
#define TEST_TRACE_ALONE_SYSTEM_A64_H

#include "test/trace/alone/system.h"

#define TRACE_PORT_CODE_HIGH 0u

static inline uintptr_t trace_port_irq_save(void)
{
    uint64_t daif;
    __asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(daif)::"memory");
    return daif;
}

static inline void trace_port_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr daif, %0" ::"r"((uint64_t)state) : "memory");
}

#endif
