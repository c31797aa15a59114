/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the system page (kernel/abi/syspage.h). Boot, after all CPUs are up. */
#ifndef KERNEL_SYSPAGE_H
#define KERNEL_SYSPAGE_H

void syspage_init(void);

#endif
