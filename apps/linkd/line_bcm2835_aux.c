/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over the mini UART of a BCM2835 to BCM2837 (Raspberry Pi), which shares a block with two
 * SPI controllers. Its FIFOs have eight bytes each way. Bits 0 and 1 of IER are swapped in the
 * manual, and an interrupt comes only with bits 2 and 3 set as well.
 */
#include <errno.h>

#include "apps/linkd/line.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

#define REGISTERS 0x3f215000u
#define BYTES 0x1000u
#define IRQ 29

/* Divider of 250 MHz, which config.txt keeps fixed: 250 MHz / (8 * 115200) - 1. */
#define DIVIDER 270

/* word offsets */
enum { ENABLES = 1, IO = 16, IER = 17, IIR = 18, LCR = 19, LSR = 21, CNTL = 24, BAUD = 26 };

#define ENABLES_UART 1u
#define IER_RX 0x0du
#define IER_TX 0x02u
#define IIR_CLEAR_FIFOS 0x06u
#define LCR_8_BITS 0x03u
#define LSR_RX_READY 0x01u
#define LSR_TX_ROOM 0x20u
#define CNTL_BOTH 0x03u

static volatile uint32_t *line_aux_base;
static int line_aux_interrupt_id;

static int line_aux_open(int coid, int code)
{
    line_aux_base = line_registers(REGISTERS, BYTES);
    line_aux_interrupt_id = line_aux_base ? line_attach(IRQ, coid, code) : -1;
    if (line_aux_interrupt_id < 0) {
        return -1;
    }
    line_aux_base[ENABLES] |= ENABLES_UART;
    line_aux_base[IER] = 0;
    line_aux_base[CNTL] = 0;
    line_aux_base[LCR] = LCR_8_BITS;
    line_aux_base[BAUD] = DIVIDER;
    line_aux_base[IIR] = IIR_CLEAR_FIFOS;
    line_aux_base[CNTL] = CNTL_BOTH;
    line_aux_base[IER] = IER_RX;
    return 0;
}

/* There is nothing to acknowledge: received bytes are read, and write() reports whether it waits
 * for room. */
static void line_aux_rearm(void)
{
    InterruptUnmask(IRQ, line_aux_interrupt_id);
}

static size_t line_aux_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    while (count < room && (line_aux_base[LSR] & LSR_RX_READY)) {
        bytes[count++] = (uint8_t)line_aux_base[IO];
    }
    return count;
}

/* Room that becomes free after the test raises the interrupt: its condition is a level. */
static size_t line_aux_write(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && (line_aux_base[LSR] & LSR_TX_ROOM)) {
        line_aux_base[IO] = bytes[done++];
    }
    line_aux_base[IER] = IER_RX | (done < count ? IER_TX : 0);
    return done;
}

const struct line_driver line_bcm2835_aux = {
    .name = "mini UART",
    .open = line_aux_open,
    .rearm = line_aux_rearm,
    .read = line_aux_read,
    .write = line_aux_write,
};
