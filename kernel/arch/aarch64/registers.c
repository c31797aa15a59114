/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64: registers for a panic, in the order of kernel/abi/sys/panic.h. Any context. */
#include "kernel/arch/aarch64/port.h"

struct a64_fatal_frame a64_panicked; /* kernel_panic() in vectors.S; x16 and x17 are not kept */

void a64_registers(uint64_t *registers, const struct a64_fatal_frame *frame, uint64_t pc,
                   uint64_t psr)
{
    for (unsigned i = 0; i <= KYMO_PANIC_AARCH64_x30; i++) {
        registers[i] = frame->x[i];
    }
    registers[KYMO_PANIC_AARCH64_sp] = frame->sp;
    registers[KYMO_PANIC_AARCH64_pc] = pc;
    registers[KYMO_PANIC_AARCH64_psr] = psr;
    registers[KYMO_PANIC_AARCH64_esr] = 0;
    registers[KYMO_PANIC_AARCH64_far] = 0;
}

void arch_panic_registers(uint64_t *registers)
{
    a64_registers(registers, &a64_panicked, a64_panicked.x[30], 0);
}
