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

static long handle = -1;
static const char *file;

static int host_open(const char *name)
{
    file = name;
    handle = HostCall(KYMO_HOST_OPEN, name, strlen(name), CREATE);
    return handle < 0 ? -1 : 0;
}

static uint64_t host_time(void)
{
    long seconds = HostCall(KYMO_HOST_TIME, NULL, 0, 0);

    return seconds > 0 ? (uint64_t)seconds : 0;
}

static long host_write(const void *data, size_t bytes)
{
    return HostCall(KYMO_HOST_WRITE, data, bytes, (int)handle);
}

static int host_close(void)
{
    long result = HostCall(KYMO_HOST_CLOSE, NULL, 0, (int)handle);

    handle = -1;
    return result < 0 ? -1 : 0;
}

/* A file can't be removed there, only emptied. */
static void host_abandon(bool useless)
{
    host_close();
    if (useless && host_open(file) == 0) {
        host_close();
    }
}

const struct sink sink_host = {
    .prefix = "",
    .open = host_open,
    .time = host_time,
    .write = host_write,
    .close = host_close,
    .abandon = host_abandon,
};
