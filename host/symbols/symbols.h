/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for addresses of a recorded system: program, function, offset, line of source. The ELF
 * files are found by the capture's build id; where a process has its text, MAPNAME events say,
 * which the caller passes on. Nothing that a capture says is believed. docs/reference/symbols.md;
 * proved by test/host/symbols/check and test/board/events.py.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_H
#define HOST_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/dt/dt.h"
#include "host/remote/elf_files.h"

struct kev;
struct kev_event;
struct symbols;

/* paths: files and folders that the user named with `option`, for messages. `found` may be NULL.
 * Returns NULL if there is no memory, or, after a message, if one of the paths is of another
 * build. */
struct symbols *symbols_open(const struct kev *kev, const char *option, const char *const *paths,
                             unsigned n, void (*found)(void *arg, const struct elf_found *),
                             void *arg);
/* Likewise for one who has no reader: build_id has ELF_ID_BYTES, or is NULL. */
struct symbols *symbols_open_build(const uint8_t *build_id, const char *board, unsigned word_bits,
                                   const char *option, const char *const *paths, unsigned n);
void symbols_close(struct symbols *symbols);

/* Notes where a process has its text, if the event says so (MAPNAME). Returns true if it does. */
bool symbols_learn(struct symbols *symbols, const struct kev_event *event);

/* Notes that a process has its text there, as a MAPNAME event says. False: no memory. */
bool symbols_learn_text(struct symbols *symbols, uint32_t pid, uint64_t start, uint64_t bytes,
                        const char *name, size_t length);

/* The longest text that symbols_name() makes, with its NUL. */
#define SYMBOLS_NAME_MOST 1024

/* Names an address of process `pid`; pid 0: the process is unknown, and the address has a name if
 * all programs that have it in their text agree on it. Returns false if it has none. The text is
 * "program`function+0x14 file.c:12", with " in inlined, inlined at file.c:40 in function" after
 * it where functions were inlined. */
bool symbols_name(struct symbols *symbols, uint32_t pid, uint64_t address,
                  char text[SYMBOLS_NAME_MOST]);
/* Likewise an address as the ELF file of `object` has it; NULL: the kernel's. */
bool symbols_name_linked(struct symbols *symbols, const char *object, uint64_t address,
                         char text[SYMBOLS_NAME_MOST]);
/* The detail in which the ELF file of `object` describes its addresses. */
enum dt_detail symbols_detail(const struct symbols *symbols, const char *object);
/* Calls fn for each program that processes had in their text: its name, and the last pid. */
void symbols_programs(const struct symbols *symbols,
                      void (*fn)(void *arg, const char *program, uint32_t pid), void *arg);

#endif
