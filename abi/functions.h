/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a program by address, for crash reports. host/unwind makes the table for each
 * program of a boot image, as the contents of a section of its ELF (.kymo_functions);
 * kernel/program/elf.c searches it. Numbers of 32 bits, little-endian and at any address:
 *
 *   FUNCTIONS_MAGIC, the number of functions
 *   for each function, by ascending address: its address, as linked and without a Thumb bit, and
 *   where its name begins, in bytes from the table's start
 *   the names, each ended by a NUL
 *
 * A function reaches to the next one.
 */
#ifndef ABI_FUNCTIONS_H
#define ABI_FUNCTIONS_H

#define FUNCTIONS_MAGIC 0x31664e4bu /* "KNf1" */
#define FUNCTIONS_HEADER_BYTES 8
#define FUNCTIONS_ENTRY_BYTES 8

#endif
