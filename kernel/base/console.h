/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's console output. Functions may be called in any context without a lock, unless their
 * comment says otherwise. See kernel/entry/console.c. */
#ifndef KERNEL_BASE_CONSOLE_H
#define KERNEL_BASE_CONSOLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints a character, a newline as CR LF. While a report has the console, holds the character back
 * until the report's end; characters that don't fit are counted, and the count is printed then. */
void console_put(char c);
/* Like kprintf(), into memory: truncated to fit, with a NUL. */
void ktext(char *text, size_t bytes, const char *fmt, va_list args);
void kformat(char *text, size_t bytes, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define CONSOLE_STUCK_MS 100
/* Prints as many of n characters as the device accepts without waiting, and returns how many. A
 * device that has accepted nothing for CONSOLE_STUCK_MS is skipped until it is ready: the rest
 * counts as printed. Kernel lock held. */
size_t console_write(const char *text, size_t n);
/*
 * Make self the console's owner, and end that. A thread owns the console in the middle of a line,
 * or of a report of several lines. Kernel lock held. console_take() returns 0, or as
 * call_lock_take(); self keeps the console until console_release().
 */
struct thread;
long console_take(struct thread *self);
void console_release(void);
/* Begins a report: console_put() holds back other output. The caller owns the console. */
void console_give(void);
/* Moves held-back output to text, as much as fits, with a NUL. Returns false if nothing is left.
 * Kernel lock held. */
bool console_kept(char *text, size_t room);
/* Ends a report, also for a panic that needs the console: prints the held-back output that has not
 * been moved. */
void console_take_back(void);

#endif
