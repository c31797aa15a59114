/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of the kernel's stacks was ever in use: for panics and pidin. See stack.c. */
#ifndef KERNEL_OBSERVE_STACK_H
#define KERNEL_OBSERVE_STACK_H

#include <stdint.h>

/* Returns the bytes of CPU n's kernel stack. */
uint32_t kernel_stack_bytes(unsigned n);
/* Returns the high-water mark of CPU n's kernel stack since boot, in bytes. Any context. */
uint32_t kernel_stack_used(unsigned n);

#endif
