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

static int keep_shm_id = -1;
static bool keep_is_filled; /* the buffers existed already */

static int keep_print_trouble(void)
{
    if (errno == EACCES) {
        object_refused(KEPT);
        return -1;
    }
    printf("tracelogger: /" KEPT ": %s\n", errno == EPERM ? NEEDS : strerror(errno));
    return -1;
}

static int keep_reuse_buffers(struct options *options)
{
    struct kymo_object_info info;

    keep_shm_id = ObjectOpen(KEPT, KYMO_OBJECT_WRITE, 0);
    if (keep_shm_id < 0 && errno == ENOENT) {
        printf("tracelogger: -R: there is no /" KEPT ": make one with -P\n");
        return -1;
    }
    if (keep_shm_id < 0 || ObjectInfo(keep_shm_id, &info) < 0) {
        return keep_print_trouble();
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
        return keep_reuse_buffers(options);
    }
    if (!options->keep) {
        return 0;
    }
    uint64_t buffers = (uint64_t)options->kernel_buffers * kymo_cpus();

    keep_shm_id = object_make(KEPT, buffers * TRACE_BUFFER_BYTES, OBJECT_SHARED);
    return keep_shm_id < 0 ? keep_print_trouble() : 0;
}

long keep_alloc(unsigned count, uint64_t *paddr)
{
    if (keep_shm_id < 0) {
        return TraceEvent(_NTO_TRACE_ALLOCBUFFER, count, paddr);
    }
    long result = TraceEvent(KYMO_TRACE_ALLOCOBJECT, count, paddr, keep_shm_id);
    keep_is_filled |= result == 0;
    return result;
}

void keep_close(const struct options *options)
{
    if (keep_shm_id < 0) {
        return;
    }
    if (keep_is_filled ? !options->keep : !options->reuse) {
        ObjectUnlink(KEPT);
    } else if (options->verbose) {
        printf("tracelogger: the kernel's buffers are kept in /" KEPT "\n");
    }
    ObjectClose(keep_shm_id);
    keep_shm_id = -1;
}
