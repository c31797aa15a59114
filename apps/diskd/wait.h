/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for a device's answer: at most wait_ns in total, however many interrupts come meanwhile.
 * If each interrupt restarted the time, a device that interrupts without an answer would be waited
 * for forever. After the deadline the driver checks the device once more: the answer may have come.
 */
#ifndef APPS_DISKD_WAIT_H
#define APPS_DISKD_WAIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "apps/diskd/disk.h"
#include "abi/sys/neutrino.h"

static inline uint64_t disk_now(void)
{
    uint64_t now = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &now);
    return now;
}

/* Returns the deadline of an answer that is requested now, in nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t disk_deadline(const struct disk *disk)
{
    return disk_now() + disk->wait_ns;
}

/* Waits for the next interrupt. Returns false if the deadline has passed. */
static inline bool disk_interrupt(uint64_t deadline)
{
    const uint64_t now = disk_now();
    uint64_t left = now < deadline ? deadline - now : 0;

    if (left == 0) {
        return false;
    }
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_INTR, NULL, &left, NULL);
    return InterruptWait(0, NULL) == 0 || errno != ETIMEDOUT;
}

#endif
