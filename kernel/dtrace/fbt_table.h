/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that fbt can probe: a table made from the linked kernel (host/fbt), at the end of
 * its constants, and the slots at the end of its text that it needs to probe all of them at once.
 */
#ifndef KERNEL_DTRACE_FBT_TABLE_H
#define KERNEL_DTRACE_FBT_TABLE_H

#include <stdint.h>

#define FBT_SLOT_BYTES 36
#define FBT_TABLE __attribute__((section("fbt_table"), used))

struct fbt_function {
    uint32_t at;      /* from __kernel_start */
    uint16_t name;    /* in fbt_names; functions of one name follow each other */
    uint16_t returns; /* first one in fbt_returns */
    uint8_t nreturns;
    uint8_t entry; /* bytes displaced for the entry probe; 0: there is none */
    int16_t pad;   /* from `at`: where a branch of 16 bits goes on from; 0: one of 32 bits fits */
};

/* Ordered by name. */
extern const struct fbt_function fbt_functions[];
extern const unsigned fbt_function_count;
/* Bits 0-13: where the return instruction is, from the function's start, in half words; 14-15: how
 * many before it are displaced with it; 16: it jumps to another function; 17-27: how many from
 * the branch to its pad (signed; 0: none). */
extern const uint32_t fbt_returns[];
extern const char fbt_names[];
/* The build id of the kernel that the table was made from. All 0: it is that one, whose own
 * it is. */
extern const uint8_t fbt_code_id[20];

/* The kernel's unwind table (abi/unwind.h), made from the same kernel: host/unwind. */
extern const uint32_t kernel_unwind[];
extern const unsigned kernel_unwind_words;

/* Room for as many slots; in the text, so that a branch reaches them. */
extern uint32_t fbt_slots[];
extern const char fbt_slots_end[];
#define FBT_SLOTS(bytes) \
    __asm__(".pushsection fbt_slot_area, \"ax\", %progbits\n" \
            "    .balign 32\n" \
            "    .global fbt_slots, fbt_slots_end\n" \
            "fbt_slots:\n" \
            "    .org . + " #bytes "\n" \
            "fbt_slots_end:\n" \
            "    .popsection");

#endif
