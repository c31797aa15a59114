/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console server's interface to a UART; one file per kind (uart_cmsdk.c, uart_pl011.c), chosen
 * in apps/apps.mk. The kernel has set the line's speed, and still does the sending; these functions
 * receive in a process, with the registers mapped. One thread only.
 */
#ifndef APPS_CONSOLE_UART_H
#define APPS_CONSOLE_UART_H

#include <stdint.h>

struct uart {
    const char *name;
    uint64_t registers; /* physical address; if length is 0, the first I/O port */
    uint64_t length;
    int interrupt;                                /* of received characters */
    void (*start)(volatile uint32_t *base);       /* receiver interrupt on */
    int (*get)(volatile uint32_t *base);          /* -1: no character */
    void (*acknowledge)(volatile uint32_t *base); /* receiver interrupt, before get() */
};

extern const struct uart console_uart;

#endif
