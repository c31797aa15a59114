/* SPDX-License-Identifier: BSD-2-Clause */
/* See keep.h. The kernel clears the buffers when it allocates them: kept data must be read
 * before. */
#include "tracelogger/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/object.h"

#define KEPT OBJECT_KEPT
#define NEEDS "this program needs the abilities trace and memory"

static int id = -1;
static bool filled; /* the buffers were there */

static int trouble(void)
{
    if (errno == EACCES) {
        object_refused(KEPT);
        return -1;
    }
    printf("tracelogger: /" KEPT ": %s\n", errno == EPERM ? NEEDS : strerror(errno));
    return -1;
}

static int reuse(struct options *options)
{
    struct kymo_object_info info;

    id = ObjectOpen(KEPT, KYMO_OBJECT_WRITE, 0);
    if (id < 0 && errno == ENOENT) {
        printf("tracelogger: -R: there is no /" KEPT ": make one with -P\n");
        return -1;
    }
    if (id < 0 || ObjectInfo(id, &info) < 0) {
        return trouble();
    }
    options->kernel_buffers = (uint32_t)(info.size / TRACE_BUFFER_BYTES / kymo_cpus());
    if (options->kernel_buffers == 0) {
        printf("tracelogger: -R: /" KEPT
               " has %llu bytes, too few for buffers of each CPU: make a new "
               "one with -P\n",
               (unsigned long long)info.size);
        return -1;
    }
    return 0;
}

int keep_open(struct options *options)
{
    if (options->reuse) {
        return reuse(options);
    }
    if (!options->keep) {
        return 0;
    }
    uint64_t buffers = (uint64_t)options->kernel_buffers * kymo_cpus();

    id = object_make(KEPT, buffers * TRACE_BUFFER_BYTES, OBJECT_SHARED);
    return id < 0 ? trouble() : 0;
}

long keep_alloc(unsigned count, uint64_t *paddr)
{
    if (id < 0) {
        return TraceEvent(_NTO_TRACE_ALLOCBUFFER, count, paddr);
    }
    long result = TraceEvent(KYMO_TRACE_ALLOCOBJECT, count, paddr, id);
    filled |= result == 0;
    return result;
}

void keep_close(const struct options *options)
{
    if (id < 0) {
        return;
    }
    if (filled ? !options->keep : !options->reuse) {
        ObjectUnlink(KEPT);
    } else if (options->verbose) {
        printf("tracelogger: the kernel's buffers are kept in /" KEPT "\n");
    }
    ObjectClose(id);
    id = -1;
}
