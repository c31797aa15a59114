/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text whose format stays in the program's ELF file (lib/include/kymo_log.h), as an event of
 * class USER has it. Shared with the host's host/log/. docs/guide/log.md.
 *
 * The event's words are: the address of its struct kymo_log_site, a link-time address in the
 * section .kymo_log, which is in no segment; the first word of the program's build id; then the
 * arguments. A 32-bit number is one word; a 64-bit number and a double are two, the lower half
 * first. A string is a word with its length and flags, and its bytes, padded to words.
 */
#ifndef ABI_SYS_LOG_H
#define ABI_SYS_LOG_H

#include <stdint.h>

#define KYMO_LOG_BASE 0xf4a00000u /* of the section: ldscripts/user.ld has the same value */
#define KYMO_LOG_BYTES 0x00100000u
#define KYMO_LOG_CODE 1023u        /* the event's number, unless the program defines another one */
#define KYMO_LOG_SYSTEM_CODE 1022u /* the number of the system's probes (KYMO_LOG_SYSTEM) */
#define KYMO_LOG_ARGS 9            /* at most */
#define KYMO_LOG_WORDS 64          /* most words of an event */

#define KYMO_LOG_LENGTH 0x0000ffffu /* of a string's word */
#define KYMO_LOG_CUT 0x00010000u    /* the string was truncated */
#define KYMO_LOG_NULL 0x00020000u   /* a null pointer */

/* Levels, the numbers of <sys/slog.h>'s severities. */
enum {
    KYMO_LOG_CRITICAL = 1,
    KYMO_LOG_ERROR = 2,
    KYMO_LOG_WARNING = 3,
    KYMO_LOG_NOTICE = 4,
    KYMO_LOG_INFO = 5,
    KYMO_LOG_DEBUG = 6,
    /* a static probe: the format is the source text between the parentheses of KYMO_PROBE():
     * provider, name, arguments */
    KYMO_LOG_PROBE = 7,
    KYMO_LOG_SYSTEM = 8, /* likewise, of the library or a driver: they are switched separately */
    KYMO_LOG_LEVELS = 9
};

/* In the ELF file, at a multiple of 4, followed by the source file's name and the format, each with
 * its NUL. types: i, u: signed, unsigned of 32 bits; I, U: of 64 bits; f: double; s: string; p, P:
 * pointer of 32, 64 bits; terminated by a NUL. */
struct kymo_log_site {
    uint16_t line;
    uint16_t file_bytes; /* of the file's name, with its NUL */
    uint8_t level;
    char types[KYMO_LOG_ARGS + 2];
};

#endif
