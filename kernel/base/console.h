/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's console output. Any context, no lock. See console.c. */
#ifndef KERNEL_BASE_CONSOLE_H
#define KERNEL_BASE_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

/* Prints a newline as CR LF. */
void console_put(char c);
/* Like kprintf(), into memory: truncated to fit, with a NUL. */
void ktext(char *text, size_t bytes, const char *fmt, va_list args);

#endif
