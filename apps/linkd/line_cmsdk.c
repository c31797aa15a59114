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

/* Divider of 25 MHz / 115200 for a real line; QEMU's has no speed. */
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

static volatile uint32_t *line_cmsdk_base;
static int line_cmsdk_rx_interrupt, line_cmsdk_tx_interrupt;

static int line_cmsdk_open(int coid, int code)
{
    line_cmsdk_base = line_registers(REGISTERS, BYTES);
    line_cmsdk_rx_interrupt = line_cmsdk_base ? line_attach(IRQ_RX, coid, code) : -1;
    line_cmsdk_tx_interrupt = line_cmsdk_base ? line_attach(IRQ_TX, coid, code) : -1;
    if (line_cmsdk_rx_interrupt < 0 || line_cmsdk_tx_interrupt < 0) {
        return -1;
    }
    line_cmsdk_base[CTRL] = 0;
    line_cmsdk_base[BAUDDIV] = DIVIDER;
    line_cmsdk_base[CTRL] = CTRL_BOTH | CTRL_RX_INTERRUPT;
    return 0;
}

static enum line_state line_cmsdk_on_interrupt(void)
{
    line_cmsdk_base[INT] = INT_RX | INT_TX;
    line_cmsdk_base[STATE] = STATE_OVERRUNS;
    return LINE_STEADY;
}

static void line_cmsdk_rearm(void)
{
    InterruptUnmask(IRQ_RX, line_cmsdk_rx_interrupt);
    InterruptUnmask(IRQ_TX, line_cmsdk_tx_interrupt);
}

static size_t line_cmsdk_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    while (count < room && (line_cmsdk_base[STATE] & STATE_RX_FULL)) {
        bytes[count++] = (uint8_t)line_cmsdk_base[DATA];
    }
    return count;
}

static size_t line_cmsdk_fill_buffer(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && !(line_cmsdk_base[STATE] & STATE_TX_FULL)) {
        line_cmsdk_base[DATA] = bytes[done++];
    }
    return done;
}

/* The register is full: enables the interrupt, then checks again, as the byte may have gone in
 * between. */
static size_t line_cmsdk_write(const uint8_t *bytes, size_t count)
{
    size_t done = line_cmsdk_fill_buffer(bytes, count);

    line_cmsdk_base[CTRL] = CTRL_BOTH | CTRL_RX_INTERRUPT | (done < count ? CTRL_TX_INTERRUPT : 0);
    return done < count ? done + line_cmsdk_fill_buffer(bytes + done, count - done) : done;
}

const struct line_driver line_cmsdk = {
    .name = "cmsdk",
    .open = line_cmsdk_open,
    .interrupt = line_cmsdk_on_interrupt,
    .rearm = line_cmsdk_rearm,
    .read = line_cmsdk_read,
    .write = line_cmsdk_write,
};
