/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind table: finds a function's caller from any of its instructions. host/unwind generates
 * one for the kernel and one for each program; kernel/observe/unwind.c reads them. 32-bit words, in
 * the byte order of the target:
 *
 *   UNWIND_MAGIC, bytes of the text, number of rules, of blocks, of pairs
 *   the rules, two words each; rule 0 means that the caller can't be found
 *   for each block the position of its first entry: offset in the text / 2, on x86-64 / 1
 *   the pairs, two bytes each: distance and rule of entries that are frequent; filled to a word
 *   the blocks, UNWIND_BLOCK bytes each: entries by position, filled with 0
 *
 * The first entry of a block is one byte, the number of the rule that applies from its position to
 * that of the next entry. Each other entry has its distance from the previous entry's position, and
 * its rule: as the number of a pair, from 1 on, or as UNWIND_LONG | rule and the distance. With
 * rule UNWIND_LONG_RULE the rule is a byte before the distance.
 *
 * The CFA (canonical frame address) is the stack pointer before the call. A rule's first word:
 * UNWIND_BY_FP | bytes from the stack pointer, or with UNWIND_BY_FP from the frame pointer (r7,
 * x29, rbp), to the CFA. Its second word: the location of the return address (low half) and of the
 * caller's frame pointer (high half), each a signed number of 4-byte words from the CFA, or one of
 * the values below.
 */
#ifndef ABI_UNWIND_H
#define ABI_UNWIND_H

#define UNWIND_MAGIC 0x3477554bu /* "KUw4" */
#define UNWIND_HEADER_WORDS 5
#define UNWIND_RULES_MOST 256u
#define UNWIND_FAR 255u /* the longest distance between two entries of a block */
#define UNWIND_BLOCK 48u
#define UNWIND_PAIRS_MOST 127u
#define UNWIND_LONG 0x80u
#define UNWIND_LONG_RULE 0x7fu

#define UNWIND_BY_FP 0x80000000u
#define UNWIND_NO_CFA 0x40000000u /* unknown, but the return address is in its register */
#define UNWIND_IN_REGISTER 0      /* in lr or x30; for the frame pointer: unchanged */
#define UNWIND_LOST 0x7fff        /* for the frame pointer only */

#endif
