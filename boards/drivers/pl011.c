/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm PL011 UART: see pl011.h. Tested by every boot of a board that has one. */
#include "boards/board.h"
#include "boards/drivers/pl011.h"

#define DR 0x00
#define FR 0x18
#define FR_TXFF 0x20
#define CR 0x30
#define CR_ENABLE 0x301 /* UARTEN, TXE, RXE */
#define IMSC 0x38

void pl011_init(uintptr_t base)
{
    mmio_write(base + IMSC, 0);
    mmio_write(base + CR, CR_ENABLE);
}

bool pl011_ready(uintptr_t base)
{
    return !(mmio_read(base + FR) & FR_TXFF);
}

void pl011_putc(uintptr_t base, char c)
{
    while (!pl011_ready(base)) {
    }
    mmio_write(base + DR, (uint8_t)c);
}
