/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over an STM32 USART: USART3, whose pins and speed the kernel has set. It has no FIFO:
 * one interrupt for each byte that comes, and for each that has gone while more wait. Reading SR
 * and then DR ends an overrun, too.
 */
#include <errno.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "apps/linkd/line.h"

#define REGISTERS 0x40004800u
#define BYTES 0x400u
#define IRQ 39

enum { SR = 0, DR = 1, BRR = 2, CR1 = 3 }; /* word offsets */

#define SR_ORE 0x08
#define SR_RXNE 0x20
#define SR_TXE 0x80
#define CR1_ON 0x200c /* USART, transmitter, receiver */
#define CR1_RXNEIE 0x20
#define CR1_TXEIE 0x80

static volatile uint32_t *base;
static int attached;

static int line_open(int coid, int code)
{
    base = line_registers(REGISTERS, BYTES);
    attached = base ? line_attach(IRQ, coid, code) : -1;
    if (attached < 0) {
        return -1;
    }
    base[CR1] = CR1_ON | CR1_RXNEIE;
    return 0;
}

static void rearm(void)
{
    InterruptUnmask(IRQ, attached);
}

static size_t line_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    uint32_t state;

    while (count < room && ((state = base[SR]) & (SR_RXNE | SR_ORE))) {
        uint8_t byte = (uint8_t)base[DR];
        if (state & SR_RXNE) {
            bytes[count++] = byte;
        }
    }
    return count;
}

static size_t fill(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && (base[SR] & SR_TXE)) {
        base[DR] = bytes[done++];
    }
    return done;
}

static size_t line_write(const uint8_t *bytes, size_t count)
{
    size_t done = fill(bytes, count);

    base[CR1] = CR1_ON | CR1_RXNEIE | (done < count ? CR1_TXEIE : 0);
    return done;
}

const struct line_driver line_stm32 = {
    .name = "stm32",
    .open = line_open,
    .rearm = rearm,
    .read = line_read,
    .write = line_write,
};
