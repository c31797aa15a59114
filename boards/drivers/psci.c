/* SPDX-License-Identifier: BSD-2-Clause */
/* Firmware calls: see psci.h. Tested by the SMP boots of both EL1 and EL2 starts. */
#include "boards/drivers/psci.h"
#include "abi/errno.h"

#define PSCI_CPU_ON 0xc4000003u
#define PSCI_SYSTEM_OFF 0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u

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

static long psci_call(bool smc, uint32_t function, uint64_t a, uint64_t b, uint64_t c)
{
    return smc ? psci_smc(function, a, b, c) : psci_hvc(function, a, b, c);
}

int psci_cpu_on(bool smc, uint64_t mpidr, uintptr_t entry, uint64_t argument)
{
    __asm__ volatile("dsb sy" ::: "memory");
    return psci_call(smc, PSCI_CPU_ON, mpidr, entry, argument) ? -EIO : 0;
}

void psci_system_off(bool smc)
{
    psci_call(smc, PSCI_SYSTEM_OFF, 0, 0, 0);
}

void psci_system_reset(bool smc)
{
    psci_call(smc, PSCI_SYSTEM_RESET, 0, 0, 0);
}
