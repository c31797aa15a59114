/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over a Cadence UART of Xilinx's Zynq chips (UG1087), whose FIFOs have 64 bytes each way.
 * The line's speed is the firmware's. board.mk has its location: CADENCE_BASE, CADENCE_IRQ.
 */
#include <errno.h>

#include "apps/linkd/line.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

enum { CONTROL = 0, IER = 2, IDR = 3, ISR = 5, TRIGGER = 8, STATUS = 11, FIFO = 12 };

#define CONTROL_ENABLED 0x14u /* both directions */
#define RX_EMPTY 0x02u
#define TX_FULL 0x10u
#define INT_RX 0x01u /* TRIGGER bytes were received */
#define INT_TX_EMPTY 0x08u

static volatile uint32_t *line_cadence_base;
static int line_cadence_interrupt_id;

static int line_cadence_open(int coid, int code)
{
    line_cadence_base = line_registers(CADENCE_BASE, 0x1000);
    line_cadence_interrupt_id = line_cadence_base ? line_attach(CADENCE_IRQ, coid, code) : -1;
    if (line_cadence_interrupt_id < 0) {
        return -1;
    }
    line_cadence_base[CONTROL] = CONTROL_ENABLED;
    line_cadence_base[TRIGGER] = 1;
    line_cadence_base[IER] = INT_RX;
    return 0;
}

/* Acknowledged before the FIFOs are checked: a later byte sets its bit again. */
static enum line_state line_cadence_on_interrupt(void)
{
    line_cadence_base[ISR] = INT_RX | INT_TX_EMPTY;
    return LINE_STEADY;
}

static void line_cadence_rearm(void)
{
    InterruptUnmask(CADENCE_IRQ, line_cadence_interrupt_id);
}

static size_t line_cadence_read(uint8_t *bytes, size_t room)
{
    size_t count = 0;

    while (count < room && !(line_cadence_base[STATUS] & RX_EMPTY)) {
        bytes[count++] = (uint8_t)line_cadence_base[FIFO];
    }
    return count;
}

static size_t line_cadence_write(const uint8_t *bytes, size_t count)
{
    size_t done = 0;

    while (done < count && !(line_cadence_base[STATUS] & TX_FULL)) {
        line_cadence_base[FIFO] = bytes[done++];
    }
    line_cadence_base[done < count ? IER : IDR] = INT_TX_EMPTY;
    return done;
}

const struct line_driver line_cadence = {
    .name = "Cadence UART",
    .open = line_cadence_open,
    .interrupt = line_cadence_on_interrupt,
    .rearm = line_cadence_rearm,
    .read = line_cadence_read,
    .write = line_cadence_write,
};
