/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: fatal kernel errors (kernel/observe/panic.c) and messages. Any context, any
 * lock. kernel/arch/cpu.h explains the marks.
 */
#ifndef KERNEL_ARCH_PANIC_H
#define KERNEL_ARCH_PANIC_H

#include <stdint.h>

/* Saves the registers for arch_panic_registers(), leaves all else unchanged, and continues in
 * kernel_panicked(). [cpu, boot] */
void kernel_panic(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Stores the registers that kernel_panic() saved, in the order of abi/sys/panic.h. A stub stores
 * nothing. [cpu, stub] */
void arch_panic_registers(uint64_t *registers);

/* The kernel supplies the rest. kernel_panic_at() is for exceptions and watchdogs: abi/sys/panic.h
 * defines kind and the order of the registers. */
void kernel_panicked(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void kernel_panic_at(unsigned kind, const uint64_t *registers, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Prints on the console: %s %c %d %u %x %p %l* %%, a width and 0. */
int kprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
