/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: a second kernel stack for a long call (kernel/thread/long_call.c).
 * kernel/arch/cpu.h explains the marks. */
#ifndef KERNEL_ARCH_COROUTINE_H
#define KERNEL_ARCH_COROUTINE_H

#include <stdint.h>

/*
 * Saves the registers that a function must preserve on the present stack and stores the stack
 * pointer in *from; continues with those saved at `to`, on that stack. Returns when something
 * switches back to *from. Kernel lock held; on the same CPU. [cpu, boot]
 */
void arch_coroutine_switch(uintptr_t *from, uintptr_t to);
/* Returns the argument `to` of a switch that begins entry() on an empty stack that ends at `top`,
 * aligned to 16 bytes. entry() never returns. [cpu, boot] */
uintptr_t arch_coroutine_begin(uintptr_t top, void (*entry)(void));
/* Returns the bounds of that stack. Any context. [cpu, boot] */
void arch_long_stack(uintptr_t *low, uintptr_t *high);

#endif
