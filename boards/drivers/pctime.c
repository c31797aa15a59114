/* SPDX-License-Identifier: BSD-2-Clause */
/* A PC's timers: see pctime.h. Boot only, except for the alarm. */
#include "boards/drivers/pctime.h"

#include "boards/board.h"

/* ---- HPET -------------------------------------------------------------------------- */

enum { HPET_ID = 0, HPET_PERIOD = 4, HPET_CONFIG = 0x10, HPET_COUNTER = 0xf0 };
#define HPET_ENABLE 1
#define FEMTOSECONDS 1000000000000000ull
#define PERIOD_MOST 100000000u /* femtoseconds: the specification's limit */

static uintptr_t hpet; /* [I] */

static uint64_t hpet_read(void)
{
    static uint32_t last;   /* its low half is read: every counter has that */
    static uint64_t passed; /* extended; calibration reads it often */
    uint32_t now = mmio_read(hpet + HPET_COUNTER);

    passed += now - last;
    last = now;
    return passed;
}

struct x86_reference hpet_start(uintptr_t base)
{
    uint32_t id = mmio_read(base + HPET_ID), period = mmio_read(base + HPET_PERIOD);

    if (id == UINT32_MAX || id == 0 || period == 0 || period > PERIOD_MOST) {
        return (struct x86_reference){NULL, 0};
    }
    hpet = base;
    mmio_write(base + HPET_CONFIG, mmio_read(base + HPET_CONFIG) | HPET_ENABLE);
    hpet_read();
    return (struct x86_reference){hpet_read, FEMTOSECONDS / period};
}

/* ---- the HPET's alarm -------------------------------------------------------------- */

enum { TIMER = 0x100, TIMER_LINES = 4, TIMER_AT = 8, TIMER_BYTES = 0x20 };
#define TIMER_ENABLE 0x004u
#define TIMER_32BIT 0x100u
#define TIMER_LINE 9
#define LATE 16 /* ticks: closer is too late for the comparator, which only detects equality */

static uintptr_t alarm_timer;   /* [I] its registers */
static uint32_t alarm_settings; /* [I] */

static void x86_hpet_alarm_set(uint32_t ticks)
{
    uint32_t at;

    mmio_write(alarm_timer, alarm_settings);
    do {
        at = mmio_read(hpet + HPET_COUNTER) + ticks;
        mmio_write(alarm_timer + TIMER_AT, at);
        ticks = ticks < LATE ? LATE : 2 * ticks; /* if the counter has passed it meanwhile */
    } while ((int32_t)(at - mmio_read(hpet + HPET_COUNTER)) <= 0);
}

struct x86_alarm hpet_alarm(unsigned first, unsigned *line)
{
    const struct x86_alarm none = {NULL, 0};

    if (!hpet) {
        return none;
    }
    unsigned last = mmio_read(hpet + HPET_ID) >> 8 & 31;
    alarm_timer = hpet + TIMER + last * TIMER_BYTES;
    uint32_t lines = mmio_read(alarm_timer + TIMER_LINES);
    for (*line = 31; *line >= first && !(lines >> *line & 1); --*line) {
    }
    if (last == 0 || *line < first) {
        return none;
    }
    mmio_write(alarm_timer, 0); /* the firmware may have left it running */
    alarm_settings = *line << TIMER_LINE | TIMER_32BIT | TIMER_ENABLE;
    return (struct x86_alarm){x86_hpet_alarm_set, FEMTOSECONDS / mmio_read(hpet + HPET_PERIOD)};
}

/* ---- PIT --------------------------------------------------------------------------- */

#define PIT_HZ 1193182
#define PIT_CHANNEL_2 0x42
#define PIT_COMMAND 0x43
#define PIT_COUNT_DOWN 0xb0 /* channel 2, both bytes, mode 0 */
#define PIT_LATCH 0x80      /* channel 2 */
#define PIT_GATE 0x61
#define PIT_GATE_ON 1
#define PIT_SPEAKER 2

static uint64_t pit_read(void)
{
    x86_out8(PIT_COMMAND, PIT_LATCH);
    unsigned count = x86_in8(PIT_CHANNEL_2);
    count |= (unsigned)x86_in8(PIT_CHANNEL_2) << 8;
    return 0xffff - count;
}

struct x86_reference pit_start(void)
{
    x86_out8(PIT_GATE, (uint8_t)((x86_in8(PIT_GATE) & ~PIT_SPEAKER) | PIT_GATE_ON));
    x86_out8(PIT_COMMAND, PIT_COUNT_DOWN);
    x86_out8(PIT_CHANNEL_2, 0xff);
    x86_out8(PIT_CHANNEL_2, 0xff);
    return (struct x86_reference){pit_read, PIT_HZ};
}

/* ---- the CMOS clock ---------------------------------------------------------------- */

#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
enum { SECONDS = 0, MINUTES = 2, HOURS = 4, DAY = 7, MONTH = 8, YEAR = 9 };
enum { STATUS_A = 10, STATUS_B = 11 };
#define UPDATING 0x80
#define BINARY 0x04
#define HOURS_24 0x02
#define PM 0x80
#define POLLS_MOST 1000000u

static unsigned cmos_read(unsigned index)
{
    x86_out8(CMOS_INDEX, (uint8_t)index);
    return x86_in8(CMOS_DATA);
}

static unsigned cmos_number(unsigned index, bool binary)
{
    unsigned value = cmos_read(index);

    return binary ? value : (value & 15) + (value >> 4) * 10;
}

/* Returns the days from 1970 to this day of the Gregorian calendar. The year begins in March, so
 * that a leap day is its last. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

    return 365ull * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

uint64_t cmos_clock(void)
{
    for (unsigned i = 0; i < POLLS_MOST && (cmos_read(STATUS_A) & UPDATING); i++) {
    }
    unsigned status = cmos_read(STATUS_B);
    bool binary = status & BINARY;
    unsigned hours = cmos_read(HOURS), pm = hours & PM;
    unsigned year = 2000 + cmos_number(YEAR, binary), month = cmos_number(MONTH, binary);
    unsigned day = cmos_number(DAY, binary);

    hours &= (unsigned)~PM;
    hours = binary ? hours : (hours & 15) + (hours >> 4) * 10;
    if (!(status & HOURS_24)) {
        hours = hours % 12 + (pm ? 12 : 0);
    }
    if (month < 1 || month > 12 || day < 1 || day > 31 || hours > 23) {
        return 0;
    }
    return days_of(year, month, day) * 86400 + hours * 3600 + cmos_number(MINUTES, binary) * 60 +
           cmos_number(SECONDS, binary);
}
