/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes that every capture begins with, in QNX's order (docs/reference/format.md §1): one
 * list for the tracelogger and for what the host writes (kymo extract --core). X-macro A(KEY,
 * format, ...); the values are of these names, where it is expanded:
 *
 *   file        where the capture goes          now, boot   dates as ctime() has them
 *   page        struct kymo_syspage *           args        the command line
 *   build_id    the kernel's, in hexadecimal
 *
 * Others stand between the first list and the last.
 */
#ifndef LIB_CAPTURE_ATTRIBUTES_H
#define LIB_CAPTURE_ATTRIBUTES_H

#define CAPTURE_VALUE_MOST \
    72 /* characters of a key or a value: old readers look through 100 bytes */

/* FILTER_1 of a capture whose filters are unknown: readers take "unknown" for no statement. */
#define CAPTURE_FILTERS_UNKNOWN "unknown: they were set before a reset"

#define CAPTURE_FIRST_LIST(A) \
    A(HEADER_BEGIN, "%s", "") \
    A(FILE_NAME, "%s", file) \
    A(DATE, "%s", now) \
    A(VER_MAJOR, "1") \
    A(VER_MINOR, "02") \
    A(LITTLE_ENDIAN, "TRUE") \
    A(ENCODING, "16 byte events") \
    A(BOOT_DATE, "%s", boot) \
    A(CYCLES_PER_SEC, "%llu", (unsigned long long)page->cycles_per_sec) \
    A(CPU_NUM, "%u", (unsigned)page->ncpu) \
    A(SYSNAME, "Kymo") \
    A(NODENAME, "%.31s", page->board) \
    A(SYS_RELEASE, "%.31s", page->release) \
    A(SYS_VERSION, "%.31s", page->release) \
    A(MACHINE, "%.31s", page->cpu_name) \
    A(SYSPAGE_LEN, "%u", (unsigned)page->size) \
    A(IMAGE, "%.31s", page->image) \
    A(BUILD_ID, "%s", build_id)
#define CAPTURE_LAST_LIST(A) \
    A(TRACELOGGER_ARGS, "%s", args) \
    A(HEADER_END, "%s", "")

#endif
