/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The relocation table of a program that is moved when it is spawned: the words of its file that
 * hold an address in it. host/reloc generates one for each program of a boot image, as the contents
 * of a section of its ELF (.kymo_reloc); kernel/program/spawn_reloc.c reads it. Bytes, and 32-bit
 * numbers, little-endian and at any alignment:
 *
 *   RELOC_MAGIC
 *   groups, to the end of the section: the linked address of the segment with the words, that of
 *   the segment that they point into, the number of bytes of codes, and the codes
 *
 * A group has a position, initially the beginning of its segment's file bytes. Each code advances
 * it, never beyond their end:
 *
 *   0                           not at all: padding
 *   1 to RELOC_NEAR: n          by n words, the last of which is relocated
 *   to RELOC_ROW: n             by n - RELOC_NEAR words, all of which are relocated
 *   RELOC_FAR and three bytes   by this number of bytes
 *
 * To relocate a word is to add the distance by which the segment that it points into has moved.
 */
#ifndef ABI_RELOC_H
#define ABI_RELOC_H

#define RELOC_MAGIC 0x3172554bu /* "KUr1" */
#define RELOC_GROUP_BYTES 12
#define RELOC_NEAR 0xbf
#define RELOC_ROW 0xfe
#define RELOC_FAR 0xff
#define RELOC_FAR_MOST 0xffffff

#endif
