/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's way to its console. Any context, no lock. See console.c. */
#ifndef KERNEL_BASE_CONSOLE_H
#define KERNEL_BASE_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

/* A newline goes out as CR LF. */
void console_put(char c);
/* As kprintf(), into memory: what there is room for, and a NUL. */
void ktext(char *text, size_t bytes, const char *fmt, va_list args);

#endif
