/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arm's firmware interface for CPUs and power, PSCI (DEN 0022). smc: the firmware is called by SMC
 * (it runs at EL3); otherwise by HVC (a hypervisor at EL2). Any context.
 */
#ifndef BOARDS_DRIVERS_PSCI_H
#define BOARDS_DRIVERS_PSCI_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the CPU with this MPIDR affinity at the physical address `entry`, MMU off, `argument` in
 * x0. Earlier stores of this CPU are visible to it. Returns 0 or -EIO. */
int psci_cpu_on(bool smc, uint64_t mpidr, uintptr_t entry, uint64_t argument);
/* These return only if the firmware refuses. */
void psci_system_off(bool smc);
void psci_system_reset(bool smc);

#endif
