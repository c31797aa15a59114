/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64: registers for a panic, in the order of abi/sys/panic.h. Any context. */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/panic.h"

/* Filled by kernel_panic() in vectors.S, one per CPU; x16 and x17 are not saved. */
struct a64_fatal_frame a64_panicked[A64_MAX_CPUS];

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
    const struct a64_fatal_frame *frame =
        &a64_panicked[a64_read_sysreg(mpidr_el1) & (A64_MAX_CPUS - 1)];

    a64_registers(registers, frame, frame->x[30], 0);
}
