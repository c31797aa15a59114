/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system page as stored in a capture (.kev), after the text attributes: a description of the
 * machine, and the event table, so that old captures stay readable.
 *
 * Little-endian, all offsets from the start of the page. The kernel builds it once at boot
 * (kernel/observe/syspage.c, SyspageRead()); the tracelogger copies it; host/reader checks every
 * field. Layout changes raise KYMO_SYSPAGE_VERSION. Documented in docs/reference/syspage.md.
 */
#ifndef ABI_SYSPAGE_H
#define ABI_SYSPAGE_H

#include <stdint.h>

#define KYMO_SYSPAGE_MAGIC 0x4f4d594bu /* "KYMO" */
/* Version 1 has no image name. Version 2 has no table of errors, and Kymo's own kernel calls have
 * their events in class KER_CALL (trace/slot.h). Before version 4 the events of a state dump have
 * no flag. Everything else is the same. */
#define KYMO_SYSPAGE_VERSION 4

struct kymo_syspage {
    uint32_t magic;
    uint32_t version;
    uint32_t size;           /* whole page, tables included */
    uint32_t ncpu;           /* CPU numbers are below this; some may not run */
    uint64_t cycles_per_sec; /* of the trace clock */
    uint64_t skew_cycles;    /* upper bound of the difference between two CPUs' clocks */
    uint32_t word_bits;      /* 32 or 64: size of pointers on the target */
    uint32_t buffer_slots;   /* 64 to 1024 */
    uint64_t boot_time;      /* seconds since 1970, 0 if the board has no clock */
    char board[32];
    char cpu_name[32];
    char release[32];                    /* kernel version */
    uint32_t build_id_off, build_id_len; /* the kernel's GNU build id, raw bytes */
    uint32_t events_off, events_len;     /* text: one line per event, see below */
    uint32_t kercalls_off, kercalls_len; /* text: one line per kernel call */
    uint32_t states_off, states_len;     /* text: "number name\n" */
    uint32_t irqs_off, irqs_len;         /* text: "number name\n" */
    char image[32];                      /* name of the boot image; from version 2 on */
    uint32_t errors_off, errors_len;     /* text: "number name\n"; from version 3 on */
    uint32_t code_high;                  /* upper half of the kernel's code addresses; likewise */
    uint32_t reserved;                   /* 0 */
};

/*
 * events:   "class number NAME fast wide\n"; class is the internal number, fast and wide are
 *           comma-separated type:name lists ("-" if none; wide "=" if it is the same as fast).
 * kercalls: "number NAME enter_fast enter_wide exit_fast exit_wide\n", same lists.
 * errors:   the meaning of this kernel's error numbers (abi/errno.h); QNX's differ.
 * Types: D dec32, H hex32, E dec64, X hex64, P pointer (word_bits), I code address (a P; in one
 * word with bit 0 set its upper half is code_high, if that isn't 0), N string, S 4 chars + hex.
 */

#endif
