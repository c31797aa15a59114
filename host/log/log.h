/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text whose format is in a program's ELF file (abi/sys/log.h, docs/guide/log.md): a program's
 * ELF file is found by the build id that its events carry, and its formats make texts. Neither the
 * capture nor the ELF file is trusted. One thread. Proof: test/host/log/.
 */
#ifndef HOST_LOG_LOG_H
#define HOST_LOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/log.h"

struct dt_session;
struct kev;
struct kev_event;

/* A place in a program that logs, as its ELF file has it. */
struct log_site {
    unsigned line, level;
    const char *types, *file, *format; /* NUL-terminated */
};

/* A static probe's, not text's. */
static inline bool log_level_is_probe(unsigned level)
{
    return level == KYMO_LOG_PROBE || level == KYMO_LOG_SYSTEM;
}

/* A program that no ELF file was found of. */
struct log_missing {
    const char *capture; /* what messages call it */
    char id[9];          /* the first four bytes of its build id, in hexadecimal */
    /* An ELF file with formats but another build id, and that; "": there was none. */
    const char *other, *other_id;
};

/* probes.c. Gives the session the static probes of a program's ELF file, as derived probes of the
 * module `program`. path: any file, or none. */
void log_probes_add(struct dt_session *, const char *path, const char *program);

/* log.c. From here on the reader of captures gives log events as text (host/reader/kev.h), in all
 * commands. */
void log_start(void);
/* ELF files, or folders of them, that the user named; before the first event. The strings must
 * live on. */
void log_paths(const char *const *paths, unsigned n);

/* A kev_log_text_fn that leaves events of static probes as they were recorded. */
bool log_text_but_probes(void *, const struct kev *, const struct kev_event *, char *text,
                         size_t room);
/* True if the event, as it was recorded, is of a static probe of a program whose ELF file is
 * found. */
bool log_is_probe(const struct kev *, const struct kev_event *);

/* Gives the session the static probes of the ELF files that the user named, of KYMO_ELF's, and of
 * those in the folder of the capture; NULL: there is no capture. */
void log_probes_find(struct dt_session *, const char *capture);

/* find.c. The programs whose formats were looked for so far; also libkev's, one for each capture.
 * Zeros, but for what the caller sets. The strings must live on. */
struct log_programs {
    const char *const *first; /* files, and folders with their folders `programs` */
    unsigned nfirst;
    const char *list;        /* likewise, with colons between them; NULL: none */
    const char *const *last; /* folders that are searched when nothing else has the program */
    unsigned nlast;
    void (*missing)(void *arg, const struct log_missing *); /* NULL: nobody asks */
    void *arg;
    struct log_program *programs;
    unsigned n;
};
/* A kev_log_text_fn whose argument is a struct log_programs. */
bool log_programs_text(void *programs, const struct kev *kev, const struct kev_event *event,
                       char *text, size_t room);
/* True if the event, as it was recorded, is of a static probe. */
bool log_programs_probe(struct log_programs *, const struct kev *, const struct kev_event *);
/* Calls fn for each file among what the user named, KYMO_ELF, and the folder of the capture; NULL:
 * there is no capture. */
void log_programs_each(const struct log_programs *, const char *capture,
                       void (*fn)(void *arg, const char *path), void *arg);
void log_programs_free(struct log_programs *);

/* format.c. Sets [*from, return value) to the next piece of a probe's source without the blanks
 * around it, and *at past its comma. Returns NULL if there is none. */
const char *log_piece_next(const char **at, const char **from);
/* Makes the text of an event's argument words, at most room - 1 bytes, as printf() would, with the
 * level in front unless it is "info". What doesn't fit together (a format that asks for what is not
 * there, %n) is reported in the text. */
void log_format(const struct log_site *site, const uint32_t *words, unsigned nwords, char *text,
                size_t room);

#endif
