/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a capture goes. One sink at a time, one thread. Functions return 0 or -1; the first failure
 * is reported and remembered, and everything after it is refused: the capture is valid up to there.
 */
#ifndef TRACELOGGER_SINK_H
#define TRACELOGGER_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One kind: a file and a row in sink.c. -1 and errno on failure. */
struct sink {
    const char *prefix;                            /* of the name that -f gives */
    int (*open)(const char *name);                 /* without the prefix */
    long (*write)(const void *data, size_t bytes); /* bytes taken */
    int (*close)(void);
};
extern const struct sink sink_host, sink_link;

int sink_open(const char *name);
int sink_write(const void *data, size_t bytes);
/* Slots: as above, but if they were written in part, says how many whole ones are in the file. */
int sink_slots(const void *slots, size_t count);
int sink_close(void);
bool sink_failed(void);
uint64_t sink_bytes(void); /* written so far */

#endif
