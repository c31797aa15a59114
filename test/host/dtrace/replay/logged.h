/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures with a program's records in them (-x log=1), made without a board: `kymo dtrace` runs a
 * program on the machine of this process, and the wire to it does with notes and records what a
 * board's kernel does (trace/dtrace/log.c). What the notes hold can be changed on the way. One
 * thread.
 */
#ifndef TEST_HOST_DTRACE_REPLAY_LOGGED_H
#define TEST_HOST_DTRACE_REPLAY_LOGGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/host/fabricate/mkcapture.h"

/* A capture has at least so many CPUs; programs run on these. */
enum { LOGGED_STRINGS = 64, LOGGED_HANDLE = 1, LOGGED_CPUS = 4 };

/* What the program was compiled from, as host/dtrace/saved.h keeps it: names and values in turn. */
struct logged_strings {
    const char *text[LOGGED_STRINGS];
    uint32_t n;
};

/* The next recording goes to this capture (NULL: to a new one, see logged_capture()). */
extern struct mk *logged_capture;
/* Called, unless NULL, with the strings before they go into the notes. */
extern void (*logged_change)(struct logged_strings *);
/* The consumer's handle in the capture: another one is another program. */
extern uint32_t logged_handle;

/* Adds a name and a value; for logged_change(). */
void logged_add(struct logged_strings *, const char *name, const char *value);
/* Removes a name with its value, wherever it stands. */
void logged_remove(struct logged_strings *, const char *name, const char *value);

/* Runs `kymo dtrace -t loop -x log=1` with these arguments, NULL at the end, into logged_capture.
 * Its exit status. */
int logged_record(const char *first, ...);
/* The capture as a file; it is freed. */
void logged_save(const char *path);

/* The newest record and aggregation entry that were logged, to log more of their kind. */
struct logged_bytes {
    uint8_t bytes[512];
    size_t n;
};
extern struct logged_bytes logged_newest_record, logged_newest_entry;

/* One of D's events (trace/dtrace/log_event.h) into the capture. */
void logged_event(unsigned cpu, unsigned event, const uint32_t *words, unsigned nwords,
                  const void *bytes, size_t n);

/* Runs `kymo dtrace` with standard output and error in these files, or as they are if NULL. */
int logged_dtrace(int argc, const char *const *argv, const char *out, const char *err);

#endif
