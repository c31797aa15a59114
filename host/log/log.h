/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text whose format is in a program's ELF file (abi/sys/log.h, docs/log.md): a program's ELF
 * file is found by the build id that its events carry, and its formats make texts. Neither the
 * capture nor the ELF file is trusted. One thread. Proof: test/log/.
 */
#ifndef HOST_LOG_LOG_H
#define HOST_LOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kev;
struct kev_event;

/* A place in a program that logs, as its ELF file has it. */
struct log_site {
    unsigned line, level;
    const char *types, *file, *format; /* NUL-terminated */
};

/* log.c. From here on the reader of captures gives log events as text (host/reader/kev.h), in all
 * commands. */
void log_start(void);
/* ELF files, or folders of them, that the user named; before the first event. The strings must
 * live on. */
void log_paths(const char *const *paths, unsigned n);

/* format.c. Makes the text of an event's argument words, at most room - 1 bytes, as printf() would,
 * with the level in front unless it is "info". What doesn't fit together (a format that asks for
 * what is not there, %n) is said in the text. */
void log_format(const struct log_site *site, const uint32_t *words, unsigned nwords, char *text,
                size_t room);

#endif
