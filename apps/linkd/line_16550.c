/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over a PC's second 16550 UART, COM2, accessed by I/O ports. It has a FIFO of 16 bytes:
 * one interrupt when 8 have come or the line is quiet, and one when the FIFO to the line is empty.
 */
#include <errno.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "apps/linkd/line.h"
#include "lib/arch/x86_64/ports.h"

#define COM2 0x2f8
#define IRQ 3
#define FIFO_BYTES 16

enum {
    DATA = 0,
    DIVISOR_LOW = 0,
    IER = 1,
    DIVISOR_HIGH = 1,
    IIR = 2,
    FCR = 2,
    LCR = 3,
    MCR = 4,
    LSR = 5
};

#define IER_RECEIVED 0x01
#define IER_SENT 0x02
#define FCR_ON_CLEARED_8 0x87
#define LCR_8N1 0x03
#define LCR_DIVISOR 0x80
#define DIVISOR_115200 1
#define MCR_READY 0x0b
#define LSR_RECEIVED 0x01
#define LSR_FIFO_EMPTY 0x20
#define LSR_NOTHING 0xff /* no UART: all bits are set */

static int line_16550_interrupt_id;

static int line_16550_open(int coid, int code)
{
    if (ThreadCtl(_NTO_TCTL_IO, 0) < 0) {
        return -1;
    }
    if (kymo_in8(COM2 + LSR) == LSR_NOTHING) {
        errno = ENODEV;
        return -1;
    }
    kymo_out8(COM2 + IER, 0);
    kymo_out8(COM2 + LCR, LCR_DIVISOR | LCR_8N1);
    kymo_out8(COM2 + DIVISOR_LOW, DIVISOR_115200);
    kymo_out8(COM2 + DIVISOR_HIGH, 0);
    kymo_out8(COM2 + LCR, LCR_8N1);
    kymo_out8(COM2 + FCR, FCR_ON_CLEARED_8);
    kymo_out8(COM2 + MCR, MCR_READY);
    line_16550_interrupt_id = line_attach(IRQ, coid, code);
    if (line_16550_interrupt_id < 0) {
        return -1;
    }
    kymo_out8(COM2 + IER, IER_RECEIVED);
    return 0;
}

/* Reading the kind of the interrupt ends the one for sent bytes. */
static enum line_state line_16550_on_interrupt(void)
{
    kymo_in8(COM2 + IIR);
    return LINE_STEADY;
}

static void line_16550_rearm(void)
{
    InterruptUnmask(IRQ, line_16550_interrupt_id);
}

static size_t line_16550_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    while (count < room && (kymo_in8(COM2 + LSR) & LSR_RECEIVED)) {
        bytes[count++] = kymo_in8(COM2 + DATA);
    }
    return count;
}

/* An empty FIFO takes 16 bytes; the UART does not report the room in one that isn't empty. */
static size_t line_16550_fill_fifo(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && (kymo_in8(COM2 + LSR) & LSR_FIFO_EMPTY)) {
        for (unsigned i = 0; i < FIFO_BYTES && done < count; i++) {
            kymo_out8(COM2 + DATA, bytes[done++]);
        }
    }
    return done;
}

/* Not all fits: enabling the interrupt raises it if the FIFO has become empty in between. */
static size_t line_16550_write(const uint8_t *bytes, size_t count)
{
    size_t done = line_16550_fill_fifo(bytes, count);

    kymo_out8(COM2 + IER, IER_RECEIVED | (done < count ? IER_SENT : 0));
    return done;
}

const struct line_driver line_16550 = {
    .name = "16550",
    .open = line_16550_open,
    .interrupt = line_16550_on_interrupt,
    .rearm = line_16550_rearm,
    .read = line_16550_read,
    .write = line_16550_write,
};
