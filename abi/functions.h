/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a program by address, for crash reports: an index of its symbol table.
 * host/unwind generates it for each program of a boot image, as the contents of a section of its
 * ELF (.kymo_functions); kernel/program/elf.c searches it. 32-bit numbers, little-endian and at any
 * alignment:
 *
 *   FUNCTIONS_MAGIC
 *   to the end of the section: the numbers of the symbols of functions in .symtab, by ascending
 *   address, one for each address
 *
 * A function extends to the next one.
 */
#ifndef ABI_FUNCTIONS_H
#define ABI_FUNCTIONS_H

#define FUNCTIONS_MAGIC 0x31664e4bu /* "KNf1" */

#endif
