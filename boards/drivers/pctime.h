/* SPDX-License-Identifier: BSD-2-Clause */
/* A PC's timers as counters of known frequency, for the calibration at boot; and its real-time
 * clock. */
#ifndef BOARDS_DRIVERS_PCTIME_H
#define BOARDS_DRIVERS_PCTIME_H

#include "kernel/arch/x86_64/board.h"

/* Starts the HPET at this address; hz is 0 if there is none. */
struct x86_reference hpet_start(uintptr_t base);
/* Makes the HPET's last timer an alarm that raises the edge of a line, which it chooses from
 * `first` on. Called after hpet_start(). hz 0: not possible. */
struct x86_alarm hpet_alarm(unsigned first, unsigned *line);
/* Starts the second channel of the PIT, which counts for 54 ms. */
struct x86_reference pit_start(void);
/* Reads the CMOS clock: returns seconds since 1970, taken as UTC, or 0 if it has no valid time. */
uint64_t cmos_clock(void);

#endif
