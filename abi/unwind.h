/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind table: finds a function's caller from any of its instructions. host/unwind makes one
 * for the kernel and one for each program; kernel/observe/unwind.c reads them. 32-bit words, in the
 * byte order of the target:
 *
 *   UNWIND_MAGIC, bytes of the text, number of rules, number of entries
 *   the rules, two words each; rule 0 means that the caller can't be found
 *   for each block of UNWIND_BLOCK entries the place of its first one: offset in the text / 2
 *   the entries, by place, half a word each, the lower half first: the distance from the place of
 *   the entry before (of the first of a block: 0), and number << UNWIND_RULE_SHIFT of the rule that
 *   applies from its place to that of the next entry
 *
 * The CFA (canonical frame address) is the stack pointer before the call. A rule's first word:
 * UNWIND_BY_FP | bytes from the stack pointer, or with UNWIND_BY_FP from the frame pointer (r7,
 * x29), to the CFA. Its second word: the location of the return address (low half) and of the
 * caller's frame pointer (high half), each a signed number of 4-byte words from the CFA, or one of
 * the values below.
 */
#ifndef ABI_UNWIND_H
#define ABI_UNWIND_H

#define UNWIND_MAGIC 0x3277554bu /* "KUw2" */
#define UNWIND_HEADER_WORDS 4
#define UNWIND_RULE_SHIFT 8
#define UNWIND_RULES_MOST 256u
#define UNWIND_FAR 255u /* the longest distance between two entries of a block */
#define UNWIND_BLOCK 16u

#define UNWIND_BY_FP 0x80000000u
#define UNWIND_NO_CFA 0x40000000u /* unknown, but the return address is in its register */
#define UNWIND_IN_REGISTER 0      /* in lr or x30; for the frame pointer: unchanged */
#define UNWIND_LOST 0x7fff        /* for the frame pointer only */

#endif
