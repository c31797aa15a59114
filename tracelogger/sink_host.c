/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink on a development board: a file on the host, by semihosting through the kernel
 * (HostCall(), ability host). A file can't be cut there: if the disk fills inside a slot, the part
 * of it stays, and the reader takes the file up to the last whole slot (docs/format.md).
 */
#include "tracelogger/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/abi/sys/kymo.h"
#include "trace/slot.h"

#define CREATE 1

static long handle = -1;
static uint64_t written;
static bool failed;

static int fail(const char *what, const char *why)
{
    if (!failed) {
        printf("tracelogger: %s: %s; the capture is valid up to byte %llu\n", what, why,
               (unsigned long long)written);
    }
    failed = true;
    return -1;
}

int sink_open(const char *name)
{
    handle = HostCall(KYMO_HOST_OPEN, name, strlen(name), CREATE);
    if (handle < 0) {
        printf("tracelogger: %s: %s\n", name, strerror(errno));
        failed = true;
        return -1;
    }
    return 0;
}

int sink_write(const void *data, size_t bytes)
{
    if (failed) {
        return -1;
    }
    long done = HostCall(KYMO_HOST_WRITE, data, bytes, (int)handle);
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
           part % TRACE_SLOT_BYTES ? ", and a part of one that readers leave out" : "");
    return -1;
}

int sink_close(void)
{
    if (handle < 0) {
        return failed ? -1 : 0;
    }
    long result = HostCall(KYMO_HOST_CLOSE, NULL, 0, (int)handle);
    handle = -1;
    if (result < 0) {
        return fail("close", strerror(errno));
    }
    return failed ? -1 : 0;
}

bool sink_failed(void)
{
    return failed;
}

uint64_t sink_bytes(void)
{
    return written;
}
