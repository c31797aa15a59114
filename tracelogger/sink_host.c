/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink on a development board: a file on the host, through semihosting by the kernel
 * (HostCall(), ability host). A file can't be truncated there: if the disk fills inside a slot, the
 * part of it stays, and the reader accepts the file up to the last whole slot
 * (docs/reference/format.md).
 */
#include <string.h>

#include "abi/sys/kymo.h"
#include "tracelogger/sink.h"

#define CREATE 1

static long sink_host_handle = -1;
static const char *sink_host_file_name;

static int sink_host_open(const char *name)
{
    sink_host_file_name = name;
    sink_host_handle = HostCall(KYMO_HOST_OPEN, name, strlen(name), CREATE);
    return sink_host_handle < 0 ? -1 : 0;
}

static uint64_t sink_host_set_time(void)
{
    long seconds = HostCall(KYMO_HOST_TIME, NULL, 0, 0);

    return seconds > 0 ? (uint64_t)seconds : 0;
}

static long sink_host_write(const void *data, size_t bytes)
{
    return HostCall(KYMO_HOST_WRITE, data, bytes, (int)sink_host_handle);
}

static int sink_host_close(void)
{
    long result = HostCall(KYMO_HOST_CLOSE, NULL, 0, (int)sink_host_handle);

    sink_host_handle = -1;
    return result < 0 ? -1 : 0;
}

/* A file can't be removed on the host, only emptied. */
static void host_abandon(bool useless)
{
    sink_host_close();
    if (useless && sink_host_open(sink_host_file_name) == 0) {
        sink_host_close();
    }
}

const struct sink sink_host = {
    .prefix = "",
    .open = sink_host_open,
    .time = sink_host_set_time,
    .write = sink_host_write,
    .close = sink_host_close,
    .abandon = host_abandon,
};
