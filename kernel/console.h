/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's way to its console. Any context, no lock. See console.c. */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

/* A newline goes out as CR LF. */
void console_put(char c);

#endif
