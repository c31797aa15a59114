/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the system page (abi/syspage.h). Boot, after all CPUs are up. */
#ifndef KERNEL_OBSERVE_SYSPAGE_H
#define KERNEL_OBSERVE_SYSPAGE_H

#include <stddef.h>
#include <stdint.h>

void syspage_init(void);
/* Copies the whole page; returns its bytes, 0: no room for it. */
size_t syspage_copy(void *to, size_t most);
/* Returns the bytes of the kernel's GNU build id, and the id. */
size_t syspage_build_id(const uint8_t **id);

#endif
