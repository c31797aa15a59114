/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CMSDK APB watchdog. Its first timeout raises its interrupt, which the boards have wired to
 * the NMI; if that is not cleared before the second timeout, it resets the machine. Its lock is
 * closed again after each access, so that a wild store does not disable it. Any context.
 *
 * QEMU keeps it counting while it is off, resets at once if it is switched on again after two
 * timeouts, and stops only at 0 (with the message "Timer with delta zero, disabling").
 */
#include "boards/board.h"
#include "boards/drivers/cmsdk.h"
#include "abi/errno.h"

#define WDOG_LOAD 0x00
#define WDOG_CONTROL 0x08
#define WDOG_INTCLR 0x0c
#define WDOG_LOCK 0xc00
#define CONTROL_INTERRUPT 1u
#define CONTROL_RESET 2u
#define UNLOCK 0x1acce551u

int cmsdk_watchdog_set(uintptr_t base, uint32_t hz, unsigned ms)
{
    uint32_t per_ms = hz / 1000;

    if (ms > UINT32_MAX / per_ms) {
        return -EINVAL;
    }
    mmio_write(base + WDOG_LOCK, UNLOCK);
    if (!ms) {
        mmio_write(base + WDOG_CONTROL, 0);
    }
    mmio_write(base + WDOG_LOAD, ms * per_ms); /* restarts from there */
    mmio_write(base + WDOG_INTCLR, 1);
    if (ms) {
        mmio_write(base + WDOG_CONTROL, CONTROL_INTERRUPT | CONTROL_RESET);
    }
    mmio_write(base + WDOG_LOCK, 0);
    return 0;
}
