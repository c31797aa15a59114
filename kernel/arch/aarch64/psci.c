/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firmware calls (PSCI): other CPUs, power off, reset; and the shutdown that passes an exit status
 * to an emulator. Kernel context. Proved by the SMP boots of both EL1 and EL2 starts.
 */
#include "abi/errno.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"

#define SYS_EXIT_EXTENDED 0x20
#define ADP_APPLICATION_EXIT 0x20026

uint64_t a64_started_at_el2;

static long psci_hvc(uint32_t function, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = a;
    register uint64_t x2 __asm__("x2") = b;
    register uint64_t x3 __asm__("x3") = c;
    __asm__ volatile("hvc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6", "x7", "x8", "x9",
                       "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory");
    return (long)x0;
}

static long psci_smc(uint32_t function, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = a;
    register uint64_t x2 __asm__("x2") = b;
    register uint64_t x3 __asm__("x3") = c;
    __asm__ volatile("smc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6", "x7", "x8", "x9",
                       "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory");
    return (long)x0;
}

/* A kernel started at EL2 has firmware above EL2, reached by SMC; else the hypervisor, by HVC. */
long a64_psci(uint32_t function, uint64_t a, uint64_t b, uint64_t c)
{
    if (a64_started_at_el2) {
        return psci_smc(function, a, b, c);
    }
    return psci_hvc(function, a, b, c);
}

int arch_cpu_start(unsigned n)
{
    uintptr_t entry = arch_virt_to_phys((const void *)a64_secondary);

    if (n == 0 || n >= arch_cpu_count()) {
        return -EINVAL;
    }
    a64_dsb(sy);
    if (a64_psci(PSCI_CPU_ON, a64_board_mpidr(n), entry, n) != 0) {
        return -EIO;
    }
    return 0;
}

static void psci_stop(void) __attribute__((noreturn));
static void psci_stop(void)
{
    for (;;) {
        __asm__ volatile("wfi");
    }
}

void arch_shutdown(int status)
{
    const uint64_t block[2] = {ADP_APPLICATION_EXIT, (uint64_t)status};

    a64_semihost_call(SYS_EXIT_EXTENDED, block);
    a64_psci(PSCI_SYSTEM_OFF, 0, 0, 0);
    psci_stop();
}

void arch_reset(void)
{
    a64_psci(PSCI_SYSTEM_RESET, 0, 0, 0);
    psci_stop();
}
