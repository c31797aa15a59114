/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a capture goes. One sink at a time, one thread. Functions return 0 or -1; the first failure
 * is reported and remembered, and everything after it is refused: the capture is valid up to there.
 * A sink that can go on after a buffer that it could not store says SINK_LOST.
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
    bool extra; /* the caller's: -n does not count it */
};
#define SINK_TOGETHER 16

/* One kind: a file and a row in sink.c. -1 and errno on failure. */
struct sink {
    const char *prefix;            /* of the name that -f gives */
    int (*open)(const char *name); /* without the prefix; -1, errno 0: it has said why */
    long (*write)(const void *data, size_t bytes); /* bytes taken */
    /* The slots of a buffer: 0, -1, SINK_LOST, SINK_FULL; NULL: they are written like anything
     * else. */
    int (*buffer)(const void *slots, size_t count, uint32_t cpu);
    /* Several, where that is cheaper, at most SINK_TOGETHER; NULL: it isn't. */
    void (*buffers)(struct sink_buffer *buffers, unsigned count);
    uint64_t (*time)(void); /* seconds since 1970, as the other end knows them; NULL: it doesn't */
    /* Waits for the other end, before open(); nothing is made by then. -1 as open(). NULL: there is
     * nothing to wait for. */
    int (*wait)(void);
    bool adds_trailers; /* `buffers` also sees to each buffer's CHECK and BUFFER_END */
    int (*close)(void);
    /* Ends what isn't whole, so that nobody takes it for a capture; `useless`: nothing but the
     * header was written. NULL: close() will do. */
    void (*abandon)(bool useless);
};
extern const struct sink sink_host, sink_link, sink_block, sink_memory;

#define SINK_LOST 1
#define SINK_FULL 2

/* Of the command line, for sinks that it concerns. */
extern struct sink_settings {
    bool format;   /* --format */
    bool force;    /* --force */
    bool reclaim;  /* --reclaim */
    uint64_t size; /* -S */
} sink_settings;

/* The sums of what is written. header_write() begins it, sink_buffers() goes on with it; whoever
 * writes other slots adds them. */
extern struct capture_check sink_check;

bool sink_waits(const char *name); /* whether there is an other end to wait for */
int sink_wait(const char *name);   /* comes before sink_open() */
int sink_open(const char *name);
uint64_t sink_time(void); /* seconds since 1970, 0: this sink doesn't know */
int sink_write(const void *data, size_t bytes);
/* Slots: as above, but if they were written in part, says how many whole ones are in the file. */
int sink_slots(const void *slots, size_t count);
/* All of some buffers, each with CHECK and BUFFER_END behind it; the result of each: 0, -1 as
 * above, or SINK_LOST: it isn't stored, the capture goes on without; or SINK_FULL: nor will others
 * be, but that they are lost can be written. */
void sink_buffers(struct sink_buffer *buffers, unsigned count);
unsigned sink_together(void); /* as many as are worth waiting for */
int sink_close(void);
/* Instead of it, if what was written isn't all. */
void sink_abandon(bool useless);
uint64_t sink_bytes(void); /* written so far */
bool sink_failed(void);

#endif
