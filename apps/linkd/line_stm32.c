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

static volatile uint32_t *line_stm32_base;
static int line_stm32_interrupt_id;

static int line_stm32_open(int coid, int code)
{
    line_stm32_base = line_registers(REGISTERS, BYTES);
    line_stm32_interrupt_id = line_stm32_base ? line_attach(IRQ, coid, code) : -1;
    if (line_stm32_interrupt_id < 0) {
        return -1;
    }
    line_stm32_base[CR1] = CR1_ON | CR1_RXNEIE;
    return 0;
}

static void line_stm32_rearm(void)
{
    InterruptUnmask(IRQ, line_stm32_interrupt_id);
}

static size_t line_stm32_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    uint32_t state;

    while (count < room && ((state = line_stm32_base[SR]) & (SR_RXNE | SR_ORE))) {
        uint8_t byte = (uint8_t)line_stm32_base[DR];
        if (state & SR_RXNE) {
            bytes[count++] = byte;
        }
    }
    return count;
}

static size_t line_stm32_fill_buffer(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && (line_stm32_base[SR] & SR_TXE)) {
        line_stm32_base[DR] = bytes[done++];
    }
    return done;
}

static size_t line_stm32_write(const uint8_t *bytes, size_t count)
{
    size_t done = line_stm32_fill_buffer(bytes, count);

    line_stm32_base[CR1] = CR1_ON | CR1_RXNEIE | (done < count ? CR1_TXEIE : 0);
    return done;
}

const struct line_driver line_stm32 = {
    .name = "stm32",
    .open = line_stm32_open,
    .rearm = line_stm32_rearm,
    .read = line_stm32_read,
    .write = line_stm32_write,
};
