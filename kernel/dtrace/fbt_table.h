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

/*
 * The functions, ordered by name, as bytes; kernel/dtrace/fbt.c reads them. A number is the sum of
 * its bytes, each times 32 to the power of its place; all bytes but the last are at least FBT_MORE.
 * A signed number n is 2n, or -2n - 1 if it is negative; distances are in halfwords, on x86-64 in
 * bytes. Each function:
 *
 *   bits 0-1     halfwords displaced for the entry probe, 0: there is none; x86-64: 1, the
 *                instruction says how long it is
 *   bit 2        it has the name of the function before it
 *   bit 3        the entry needs a pad, because only a 16-bit branch fits
 *   bits 4-      number of returns
 *   signed       distance of its address from that of the function before, or from __kernel_start
 *   signed       with bit 3: distance from its address to the pad
 *
 * and each of its returns, by address:
 *
 *   number       6n + kind: n is the distance of the return instruction from the one before, or
 *                from the function; kind: place of its bits in FBT_RETURN_KINDS, the most frequent
 *                ones; FBT_RETURN_OTHER: they follow as a number
 *   signed       with bit 2: distance from the branch to the pad
 *
 * whose bits are:
 *
 *   bits 0-1     instructions of 16 bits displaced before the return instruction
 *   bit 2        the branch needs a pad
 *   bit 3        the return is a jump to another function
 *
 * Behind the last function are zeros, which can be read as one.
 */
extern const uint8_t fbt_functions[];
extern const unsigned fbt_function_count;
#define FBT_MORE 0xe0u /* of a number's byte */
#define FBT_MORE_BITS 5
#define FBT_DISPLACED 3u /* of the first number of a function or a return */
#define FBT_SAME_NAME 4u /* of a function */
#define FBT_ENTRY_PAD 8u
#define FBT_RETURN_PAD 4u /* of a return */
#define FBT_RETURN_TAIL 8u
#define FBT_RETURN_KINDS 1, 8, 0, 4, 2
#define FBT_RETURN_OTHER 5u
#define FBT_REST 4 /* shifted, of a function */
/* A function's place in the table, as a probe has it; the bits above are for the kernel's text. */
#define FBT_PLACE_BITS (sizeof(void *) == 4 ? 13 : 24)
/* The names, one for functions of the same name, stored short (trace/dtrace/short_text.h). */
extern const uint8_t fbt_names[];
extern const uint8_t fbt_codes[];
#define FBT_NAME_MOST 64 /* bytes of a name, with its NUL */
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
