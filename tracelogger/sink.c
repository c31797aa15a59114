/* SPDX-License-Identifier: BSD-2-Clause */
/* Common part of all sinks: see sink.h. The name's prefix selects one. */
#include "tracelogger/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/slot.h"

static const struct sink *const sink_kind_table[] = {&sink_link, &sink_block, &sink_memory,
                                                     /* the last one accepts any name */
                                                     &sink_host};

struct sink_settings sink_settings;
struct capture_check sink_check;
static const struct sink *sink_chosen; /* open */
static const char *sink_place_name;    /* as named by the user */
static uint64_t sink_bytes_written;
static bool sink_has_failed;

static int sink_fail_with(const char *what, const char *why)
{
    if (!sink_has_failed) {
        printf("tracelogger: %s: %s: %s; the capture is valid up to byte %llu\n", sink_place_name,
               what, why, (unsigned long long)sink_bytes_written);
    }
    sink_has_failed = true;
    return -1;
}

static const struct sink *sink_find_kind(const char *name)
{
    unsigned i = 0;

    while (strncmp(name, sink_kind_table[i]->prefix, strlen(sink_kind_table[i]->prefix)) != 0) {
        i++;
    }
    return sink_kind_table[i];
}

bool sink_waits(const char *name)
{
    return sink_find_kind(name)->wait != NULL;
}

static int open_failed(const char *name)
{
    if (errno != 0) {
        printf("tracelogger: %s: %s\n", name, strerror(errno));
    }
    sink_has_failed = true;
    return -1;
}

int sink_wait(const char *name)
{
    return sink_waits(name) && sink_find_kind(name)->wait() != 0 ? open_failed(name) : 0;
}

int sink_open(const char *name)
{
    const struct sink *named = sink_find_kind(name);

    sink_place_name = name;
    if (named->open(name + strlen(named->prefix)) != 0) {
        return open_failed(name);
    }
    sink_chosen = named;
    return 0;
}

uint64_t sink_time(void)
{
    return sink_chosen && sink_chosen->time ? sink_chosen->time() : 0;
}

int sink_write(const void *data, size_t bytes)
{
    if (sink_has_failed || !sink_chosen) {
        return -1;
    }
    long done = sink_chosen->write(data, bytes);
    if (done < 0) {
        return sink_fail_with("write", strerror(errno));
    }
    sink_bytes_written += (uint64_t)done;
    return (size_t)done == bytes
               ? 0
               : sink_fail_with("write", "the host's disk is full, or its file closed");
}

int sink_slots(const void *slots, size_t count)
{
    uint64_t before = sink_bytes_written;

    if (sink_has_failed || sink_write(slots, count * TRACE_SLOT_BYTES) == 0) {
        return sink_has_failed ? -1 : 0;
    }
    uint64_t part = sink_bytes_written - before;
    printf("tracelogger: of the last %lu slots %lu are in the file%s\n", (unsigned long)count,
           (unsigned long)(part / TRACE_SLOT_BYTES),
           part % TRACE_SLOT_BYTES ? ", and a part of one, which readers ignore" : "");
    return -1;
}

static int one_buffer(const struct sink_buffer *buffer)
{
    if (!sink_chosen->buffer) {
        return sink_slots(buffer->slots, buffer->count);
    }
    int result = sink_chosen->buffer(buffer->slots, buffer->count, buffer->cpu);
    sink_bytes_written += result == 0 ? buffer->count * TRACE_SLOT_BYTES : 0;
    return result < 0 ? sink_fail_with("write", strerror(errno)) : result;
}

void sink_buffers(struct sink_buffer *buffers, unsigned count)
{
    bool together = !sink_has_failed && sink_chosen && sink_chosen->buffers && count > 0;

    if (together) {
        sink_chosen->buffers(buffers, count);
    }
    for (unsigned i = 0; i < count && together; i++) {
        sink_bytes_written += buffers[i].result == 0 ? buffers[i].count * TRACE_SLOT_BYTES : 0;
        if (buffers[i].result < 0) {
            sink_fail_with("write", strerror(errno));
        }
    }
    for (unsigned i = 0; i < count; i++) {
        struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

        if (!together) {
            buffers[i].result = sink_has_failed || !sink_chosen ? -1 : one_buffer(&buffers[i]);
        }
        if (buffers[i].result != 0) {
            continue;
        }
        capture_check_add(&sink_check, buffers[i].slots, buffers[i].count);
        capture_check_close(&sink_check, buffers[i].cpu, trailer);
        if (sink_chosen->adds_trailers) {
            sink_bytes_written += sizeof(trailer);
        } else {
            buffers[i].result = sink_slots(trailer, CAPTURE_TRAILER_SLOTS);
        }
    }
}

unsigned sink_together(void)
{
    return sink_chosen && sink_chosen->buffers ? SINK_TOGETHER : 1;
}

int sink_close(void)
{
    const struct sink *open = sink_chosen;

    sink_chosen = NULL;
    if (!open) {
        return sink_has_failed ? -1 : 0;
    }
    if (open->close() != 0) {
        return sink_fail_with("close", strerror(errno));
    }
    return sink_has_failed ? -1 : 0;
}

void sink_abandon(bool useless)
{
    const struct sink *open = sink_chosen;

    sink_chosen = NULL;
    if (open && open->abandon) {
        open->abandon(useless);
    } else if (open) {
        open->close();
    }
}

uint64_t sink_bytes(void)
{
    return sink_bytes_written;
}

bool sink_failed(void)
{
    return sink_has_failed;
}
