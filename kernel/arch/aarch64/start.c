/* SPDX-License-Identifier: BSD-2-Clause */
/* The path from boot.S to the portable kernel, on each CPU; names and ELF kind of this port. Boot
 * only. */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/coroutine.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/entry.h"

#define EM_AARCH64 183
#define MIDR_CORTEX_A53 0x410fd030

_Static_assert(CONFIG_CPUS <= A64_MAX_CPUS, "entry code");

uintptr_t a64_loader_x0;
uint64_t a64_started_at_el2;
char a64_stacks[CONFIG_CPUS + 1][KERNEL_STACK_GUARD + KERNEL_STACK_SIZE]
    __attribute__((aligned(KERNEL_STACK_GUARD)));
/* Stack for the panic of a CPU whose own stack failed: vectors.S. */
char a64_emergency_stacks[A64_MAX_CPUS][EMERGENCY_STACK_SIZE] __attribute__((aligned(16)));

static void cpu_set(unsigned n)
{
    a64_write_sysreg(tpidr_el1, (uintptr_t)kernel_cpu_at(n));
    a64_write_sysreg(cntv_ctl_el0, 0);
    a64_board_irq_cpu_init(n);
    a64_count_cpu_init();
    a64_sample_cpu_init();
}

struct thread *a64_start(void)
{
    kernel_stack_fill();
    retain_boot();
    arch_board_init();
    a64_map_kernel();
    a64_irq_init();
    cpu_set(0);
    return kernel_main();
}

struct thread *a64_start_secondary(unsigned n)
{
    a64_write_sysreg(ttbr0_el1, a64_empty_ttbr0);
    a64_isb();
    __asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
    cpu_set(n);
    return kernel_cpu_main(n);
}

void arch_kernel_stack(unsigned n, uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)a64_stacks[n] + KERNEL_STACK_GUARD;
    *high = (uintptr_t)a64_stacks[n + 1];
}

void arch_long_stack(uintptr_t *low, uintptr_t *high)
{
    arch_kernel_stack(CONFIG_CPUS, low, high);
}

const char *arch_cpu_name(void)
{
    if ((a64_read_sysreg(midr_el1) & 0xff0ffff0) == MIDR_CORTEX_A53) {
        return "Cortex-A53";
    }
    return "AArch64";
}

uint16_t arch_elf_machine(void)
{
    return EM_AARCH64;
}
