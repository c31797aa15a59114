/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's console output. Any context, no lock, where a function says nothing else. See
 * kernel/entry/console.c. */
#ifndef KERNEL_BASE_CONSOLE_H
#define KERNEL_BASE_CONSOLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints a newline as CR LF. While a report has the console, keeps the character until the report's
 * end; what there is no room for is counted, and said then. */
void console_put(char c);
/* Like kprintf(), into memory: truncated to fit, with a NUL. */
void ktext(char *text, size_t bytes, const char *fmt, va_list args);
void kformat(char *text, size_t bytes, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define CONSOLE_STUCK_MS 100
/* Prints as much of n characters as the device takes without a wait, and returns how many. One that
 * has taken nothing for CONSOLE_STUCK_MS gets nothing more until it is ready, so the rest counts as
 * printed. Kernel lock held. */
size_t console_write(const char *text, size_t n);
/*
 * The console's owner is the thread amid a line, or amid a report of several lines. Kernel lock
 * held. console_take(): 0, or as call_lock_take(); self keeps the console until console_release().
 */
struct thread;
long console_take(struct thread *self);
void console_release(void);
/* A report begins: console_put() keeps what others print. Its owner has the console. */
void console_give(void);
/* Moves some of what was kept to text, as much as there is room for, with a NUL. Returns false if
 * nothing is left. Kernel lock held. */
bool console_kept(char *text, size_t room);
/* The report is over, or a panic needs the console: prints what was kept and nobody has moved. */
void console_take_back(void);

#endif
