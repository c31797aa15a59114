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
 * The functions, ordered by name, as a sequence of bits, of each byte the lowest first;
 * kernel/dtrace/fbt.c reads them. A "number of k bits" encodes any number, and is shortest for
 * numbers of at most k bits: z zeros, a one, then k + z bits, whose value plus 2^k (2^z - 1) is the
 * number. Distances are in halfwords, on x86-64 in bytes. Each function begins at an even bit:
 *
 *   FBT_HEAD_BITS      index of its head in FBT_HEADS, the most frequent ones, or their number
 *                      plus the head itself:
 *                      bits 0-1, halfwords displaced for the entry probe, 0: there is none; x86-64:
 *                      2, the instruction's length is in its encoding
 *                      bit 2, it has the same name as the previous function
 *                      the other bits, number of returns
 *   FBT_ADDRESS_BITS   distance of its address from the last return of the previous function, or
 *                      from that function, or from __kernel_start; 0: a number of as many bits
 *                      follows, the distance downwards
 *   FBT_PAD_BITS       if one halfword is displaced: only a 16-bit branch fits, and this is the
 *                      distance from the function to its pad, 2n, or -2n - 1 if it is negative
 *
 * and each of its returns, by address:
 *
 *   FBT_RETURN_BITS    1 + 5n + kind: n is the distance of the return instruction from the
 *                      previous one, or from the function; kind: index of its bits in
 *                      FBT_RETURN_KINDS, the most frequent ones. 0: its bits follow, as a number of
 *                      FBT_OTHER_BITS, and then this number, with no kind
 *   FBT_PAD_BITS       with bit 2: distance from the branch to the pad
 *
 * whose bits are:
 *
 *   bits 0-1     number of 16-bit instructions displaced before the return instruction
 *   bit 2        the branch needs a pad
 *   bit 3        the return is a jump to another function
 *
 * After the last function there are one-bits, which can be read as another function.
 *
 * Where the linker orders functions by name (a board.mk says so), most distances are short.
 */
extern const uint8_t fbt_functions[];
extern const unsigned fbt_function_count;
#define FBT_HEAD_BITS 1
#define FBT_OTHER_BITS 0
#define FBT_ADDRESS_BITS 3
#define FBT_PAD_BITS 9
#define FBT_RETURN_BITS 6
#define FBT_DISPLACED 3u /* of a function or a return */
#define FBT_SAME_NAME 4u /* of a function */
#define FBT_REST 3       /* shift of the number of returns */
#define FBT_HEADS 10, 18, 26, 19, 11, 34, 9, 2, 27, 17, 1, 35
#define FBT_RETURN_PAD 4u /* of a return */
#define FBT_RETURN_TAIL 8u
#define FBT_RETURN_KINDS 1, 8, 0, 4, 2
/* A function's position in the table, its bit / 2, as a probe stores it; the bits above are for the
 * kernel's text. */
#define FBT_PLACE_BITS (sizeof(void *) == 4 ? 14 : 24)
/* The names, shared by functions of the same name, in the format of trace/dtrace/short_text.h. */
extern const uint8_t fbt_names[];
extern const uint8_t fbt_codes[];
#define FBT_NAME_MOST 64 /* bytes of a name, with its NUL */
/* The build id of the kernel that the table was made from. All 0: it is this kernel, which contains
 * the table. */
extern const uint8_t fbt_code_id[20];

/* Memory for the slots, which is not loaded, within a branch's range of the text. */
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
