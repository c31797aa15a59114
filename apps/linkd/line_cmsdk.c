/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over an Arm CMSDK APB UART: the second one of MPS2 boards. It has no FIFO: one interrupt
 * for each byte that comes, and for each that has gone while more wait.
 */
#include <errno.h>

#include "apps/linkd/line.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

#define REGISTERS 0x40005000u
#define BYTES 0x1000u
#define IRQ_RX 2
#define IRQ_TX 3

/* 25 MHz / 115200 for a real line; QEMU's has no speed. */
#define DIVIDER 217

enum { DATA = 0, STATE = 1, CTRL = 2, INT = 3, BAUDDIV = 4 }; /* word offsets */

#define STATE_TX_FULL 0x1
#define STATE_RX_FULL 0x2
#define STATE_OVERRUNS 0xc
#define CTRL_BOTH 0x3
#define CTRL_TX_INTERRUPT 0x4
#define CTRL_RX_INTERRUPT 0x8
#define INT_TX 0x1
#define INT_RX 0x2

static volatile uint32_t *base;
static int rx, tx;

static int line_open(int coid, int code)
{
    base = line_registers(REGISTERS, BYTES);
    rx = base ? line_attach(IRQ_RX, coid, code) : -1;
    tx = base ? line_attach(IRQ_TX, coid, code) : -1;
    if (rx < 0 || tx < 0) {
        return -1;
    }
    base[CTRL] = 0;
    base[BAUDDIV] = DIVIDER;
    base[CTRL] = CTRL_BOTH | CTRL_RX_INTERRUPT;
    return 0;
}

static enum line_state interrupt(void)
{
    base[INT] = INT_RX | INT_TX;
    base[STATE] = STATE_OVERRUNS;
    return LINE_STEADY;
}

static void rearm(void)
{
    InterruptUnmask(IRQ_RX, rx);
    InterruptUnmask(IRQ_TX, tx);
}

static size_t line_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    while (count < room && (base[STATE] & STATE_RX_FULL)) {
        bytes[count++] = (uint8_t)base[DATA];
    }
    return count;
}

static size_t fill(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && !(base[STATE] & STATE_TX_FULL)) {
        base[DATA] = bytes[done++];
    }
    return done;
}

/* Full: the interrupt is asked for, and then looked again, as the byte may have gone in between. */
static size_t line_write(const uint8_t *bytes, size_t count)
{
    size_t done = fill(bytes, count);

    base[CTRL] = CTRL_BOTH | CTRL_RX_INTERRUPT | (done < count ? CTRL_TX_INTERRUPT : 0);
    return done < count ? done + fill(bytes + done, count - done) : done;
}

const struct line_driver line_cmsdk = {
    .name = "cmsdk",
    .open = line_open,
    .interrupt = interrupt,
    .rearm = rearm,
    .read = line_read,
    .write = line_write,
};
