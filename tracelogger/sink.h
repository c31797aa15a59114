/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Destination of a capture. One sink at a time, one thread. Functions return 0 or -1; the first
 * failure is reported and remembered, and everything after it is refused: the capture is valid up
 * to there. A sink that can continue after a buffer that it could not store returns SINK_LOST.
 */
#ifndef TRACELOGGER_SINK_H
#define TRACELOGGER_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/capture/check.h"

struct sink_buffer {
    const void *slots;
    size_t count;
    uint32_t cpu;
    int result; /* 0, -1, SINK_LOST, SINK_FULL */
    bool extra; /* the caller's: not counted for -n */
};
#define SINK_TOGETHER 16

/* One kind: a file and an entry in sink.c. -1 and errno on failure. */
struct sink {
    const char *prefix;            /* of -f's name */
    int (*open)(const char *name); /* name without the prefix; -1, errno 0: already reported */
    long (*write)(const void *data, size_t bytes); /* bytes taken */
    /* Writes the slots of a buffer: 0, -1, SINK_LOST, SINK_FULL; NULL: they are written like other
     * data. */
    int (*buffer)(const void *slots, size_t count, uint32_t cpu);
    /* Writes several, at most SINK_TOGETHER; NULL: not cheaper. */
    void (*buffers)(struct sink_buffer *buffers, unsigned count);
    uint64_t (*time)(void); /* seconds since 1970, by the other end's clock; NULL: unknown */
    /* Waits for the other end, before open(), and creates nothing. Returns -1 like open(). NULL:
     * there is no other end. */
    int (*wait)(void);
    bool adds_trailers; /* `buffers` also writes each buffer's CHECK and BUFFER_END */
    int (*close)(void);
    /* Discards an incomplete capture, so that it isn't taken for a complete one; `useless`: only
     * the header was written. NULL: close() suffices. */
    void (*abandon)(bool useless);
};
extern const struct sink sink_host, sink_link, sink_block, sink_memory;

#define SINK_LOST 1
#define SINK_FULL 2

/* Settings from the command line, for the sinks that use them. */
extern struct sink_settings {
    bool format;   /* --format */
    bool force;    /* --force */
    bool reclaim;  /* --reclaim */
    uint64_t size; /* -S */
} sink_settings;

/* The checksums of the written data. header_write() begins them, sink_buffers() continues them;
 * code that writes other slots adds those. */
extern struct capture_check sink_check;

bool sink_waits(const char *name); /* whether there is another end to wait for */
int sink_wait(const char *name);   /* comes before sink_open() */
int sink_open(const char *name);
uint64_t sink_time(void); /* seconds since 1970, 0: unknown to this sink */
int sink_write(const void *data, size_t bytes);
/* Writes slots: as above, but if they were written in part, reports how many whole ones are in the
 * file. */
int sink_slots(const void *slots, size_t count);
/* Writes several buffers completely, each followed by CHECK and BUFFER_END. The result of each: 0,
 * -1 as above, SINK_LOST: not stored, the capture continues without it; or SINK_FULL: no more can
 * be stored, but their loss can be recorded. */
void sink_buffers(struct sink_buffer *buffers, unsigned count);
unsigned sink_together(void); /* number of buffers worth waiting for */
int sink_close(void);
/* Called instead of sink_close() if something was not written. */
void sink_abandon(bool useless);
uint64_t sink_bytes(void); /* written so far */
bool sink_failed(void);

#endif
