/* SPDX-License-Identifier: BSD-2-Clause */
/* Common part of all sinks: see sink.h. The name's prefix selects one. */
#include "tracelogger/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/slot.h"

static const struct sink *const sinks[] = {&sink_link, &sink_block, &sink_memory,
                                           &sink_host}; /* the last takes any name */

struct sink_settings sink_settings;
struct capture_check sink_check;
static const struct sink *sink; /* open */
static const char *place;       /* as named by the user */
static uint64_t written;
static bool failed;

static int fail(const char *what, const char *why)
{
    if (!failed) {
        printf("tracelogger: %s: %s: %s; the capture is valid up to byte %llu\n", place, what, why,
               (unsigned long long)written);
    }
    failed = true;
    return -1;
}

static const struct sink *find(const char *name)
{
    unsigned i = 0;

    while (strncmp(name, sinks[i]->prefix, strlen(sinks[i]->prefix)) != 0) {
        i++;
    }
    return sinks[i];
}

bool sink_waits(const char *name)
{
    return find(name)->wait != NULL;
}

static int open_failed(const char *name)
{
    if (errno != 0) {
        printf("tracelogger: %s: %s\n", name, strerror(errno));
    }
    failed = true;
    return -1;
}

int sink_wait(const char *name)
{
    return sink_waits(name) && find(name)->wait() != 0 ? open_failed(name) : 0;
}

int sink_open(const char *name)
{
    const struct sink *named = find(name);

    place = name;
    if (named->open(name + strlen(named->prefix)) != 0) {
        return open_failed(name);
    }
    sink = named;
    return 0;
}

uint64_t sink_time(void)
{
    return sink && sink->time ? sink->time() : 0;
}

int sink_write(const void *data, size_t bytes)
{
    if (failed || !sink) {
        return -1;
    }
    long done = sink->write(data, bytes);
    if (done < 0) {
        return fail("write", strerror(errno));
    }
    written += (uint64_t)done;
    return (size_t)done == bytes ? 0 : fail("write", "the host's disk is full, or its file closed");
}

int sink_slots(const void *slots, size_t count)
{
    uint64_t before = written;

    if (failed || sink_write(slots, count * TRACE_SLOT_BYTES) == 0) {
        return failed ? -1 : 0;
    }
    uint64_t part = written - before;
    printf("tracelogger: of the last %lu slots %lu are in the file%s\n", (unsigned long)count,
           (unsigned long)(part / TRACE_SLOT_BYTES),
           part % TRACE_SLOT_BYTES ? ", and a part of one, which readers ignore" : "");
    return -1;
}

static int one_buffer(const struct sink_buffer *buffer)
{
    if (!sink->buffer) {
        return sink_slots(buffer->slots, buffer->count);
    }
    int result = sink->buffer(buffer->slots, buffer->count, buffer->cpu);
    written += result == 0 ? buffer->count * TRACE_SLOT_BYTES : 0;
    return result < 0 ? fail("write", strerror(errno)) : result;
}

void sink_buffers(struct sink_buffer *buffers, unsigned count)
{
    bool together = !failed && sink && sink->buffers && count > 0;

    if (together) {
        sink->buffers(buffers, count);
    }
    for (unsigned i = 0; i < count && together; i++) {
        written += buffers[i].result == 0 ? buffers[i].count * TRACE_SLOT_BYTES : 0;
        if (buffers[i].result < 0) {
            fail("write", strerror(errno));
        }
    }
    for (unsigned i = 0; i < count; i++) {
        struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

        if (!together) {
            buffers[i].result = failed || !sink ? -1 : one_buffer(&buffers[i]);
        }
        if (buffers[i].result != 0) {
            continue;
        }
        capture_check_add(&sink_check, buffers[i].slots, buffers[i].count);
        capture_check_close(&sink_check, buffers[i].cpu, trailer);
        if (sink->adds_trailers) {
            written += sizeof(trailer);
        } else {
            buffers[i].result = sink_slots(trailer, CAPTURE_TRAILER_SLOTS);
        }
    }
}

unsigned sink_together(void)
{
    return sink && sink->buffers ? SINK_TOGETHER : 1;
}

int sink_close(void)
{
    const struct sink *open = sink;

    sink = NULL;
    if (!open) {
        return failed ? -1 : 0;
    }
    if (open->close() != 0) {
        return fail("close", strerror(errno));
    }
    return failed ? -1 : 0;
}

void sink_abandon(bool useless)
{
    const struct sink *open = sink;

    sink = NULL;
    if (open && open->abandon) {
        open->abandon(useless);
    } else if (open) {
        open->close();
    }
}

uint64_t sink_bytes(void)
{
    return written;
}

bool sink_failed(void)
{
    return failed;
}
