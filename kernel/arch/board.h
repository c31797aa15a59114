/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: console, RAM, reset, watchdog. kernel/arch/cpu.h explains the marks. */
#ifndef KERNEL_ARCH_BOARD_H
#define KERNEL_ARCH_BOARD_H

#include "kernel/arch/aspace.h"

/* Called first at boot by the port's start-up code: sets up console and clock. [board, boot] */
void arch_board_init(void);
/* Sends a character, polled. Any context. [board, boot] */
void arch_console_putc(char c);
/* Returns whether arch_console_putc() would send a character without a wait. Any context. A stub
 * returns true. [board, stub] */
bool arch_console_ready(void);
/* Returns the RAM that the kernel may allocate. [cpu or board, boot] */
void arch_ram(paddr_t *start, size_t *len);
/* Returns true if a driver process may map this range: RAM or device memory, but not the kernel's
 * RAM or the kernel's devices. [cpu or board, boot] */
bool arch_device_allowed(paddr_t pa, size_t len);
/* Returns seconds since 1970 from the board's real-time clock, read at boot, or 0 if the board has
 * no such clock. [board, stub] */
uint64_t arch_wall_clock(void);
/* On an emulator: exits with status. A machine that can't be turned off waits forever. [cpu or
 * board, stub] */
void arch_shutdown(int status) __attribute__((noreturn));
/* Resets the machine; RAM is preserved. The caller cleans the caches first if it needs the
 * contents. Any context. A machine that can't reset itself waits forever. [cpu or board, stub] */
void arch_reset(void) __attribute__((noreturn));
/*
 * Arms the watchdog for `ms` milliseconds; 0 disarms it. Unless it is armed again in time it panics
 * (kernel_panic_at()), and if that hangs, resets the machine after the same time again. Returns 0,
 * -EINVAL (ms above the watchdog's range) or -ENOSYS (no watchdog). Any context. [board, stub]
 */
int arch_watchdog_set(unsigned ms);

#endif
