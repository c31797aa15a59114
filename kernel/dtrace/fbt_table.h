/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that fbt can probe: a table made from the linked kernel (host/fbt), at the end of
 * its constants, and the size of the slots needed to probe all of them at once.
 */
#ifndef KERNEL_DTRACE_FBT_TABLE_H
#define KERNEL_DTRACE_FBT_TABLE_H

#include <stdint.h>

#include "kernel/observe/observe.h" /* kernel_unwind[], generated with these tables */

#define FBT_SLOT_BYTES 36
#define FBT_TABLE __attribute__((section("fbt_table"), used))

struct fbt_function {
    uint32_t at;      /* offset from __kernel_start */
    uint16_t name;    /* offset in fbt_names; functions of the same name are adjacent */
    uint16_t returns; /* first one in fbt_returns */
    uint8_t nreturns;
    uint8_t entry; /* bytes displaced for the entry probe; 0: there is none */
    int16_t pad;   /* offset from `at` of the pad of a 16-bit branch; 0: a 32-bit branch fits */
};

/* Ordered by name. */
extern const struct fbt_function fbt_functions[];
extern const unsigned fbt_function_count;
/* Bits 0-13: offset of the return instruction from the function's start, in halfwords; 14-15:
 * number of instructions displaced before it; 16: it jumps to another function; 17-27: halfwords
 * from the branch to its pad (signed; 0: none). */
extern const uint32_t fbt_returns[];
extern const char fbt_names[];
/* The build id of the kernel that the table was made from. All 0: this kernel, which contains the
 * table. */
extern const uint8_t fbt_code_id[20];

/* Memory for the slots, which nothing loads, within a branch's range of the text. */
extern uint32_t fbt_slots[];
extern const char fbt_slots_end[];
#define FBT_SLOTS(bytes) \
    __asm__(".pushsection fbt_slot_area, \"ax\", %nobits\n" \
            "    .balign 32\n" \
            "    .global fbt_slots, fbt_slots_end\n" \
            "fbt_slots:\n" \
            "    .org . + " #bytes "\n" \
            "fbt_slots_end:\n" \
            "    .popsection");

#endif
