/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink "memory:NAME": the capture is written to a memory object of -S's size, which stays when
 * the logger has ended, until it is unlinked (--remove). The object's size always covers exactly
 * the complete data: first the bytes are written, then the size, so a killed logger leaves a
 * capture, too. Needs the ability memory; processes with the ability trace may read it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/ability.h"
#include "abi/sys/kymo.h"
#include "tracelogger/object.h"
#include "tracelogger/sink.h"

static int sink_memory_shm_id = -1;
static const char *sink_memory_object_name;
static uint8_t *sink_memory_base;
static size_t sink_memory_used, sink_memory_room;

static int memory_give_up(void)
{
    int error = errno;

    ObjectClose(sink_memory_shm_id);
    errno = error;
    return -1;
}

/* An existing object of this name is replaced, as a file would be. */
static int sink_memory_open(const char *name)
{
    name = sink_memory_object_name = object_name(*name ? name : OBJECT_DEFAULT);
    sink_memory_shm_id = object_make(name, sink_settings.size, OBJECT_READ);
    if (sink_memory_shm_id < 0) {
        if (errno == EPERM) {
            printf("tracelogger: this program needs the ability memory\n");
        }
        return -1;
    }
    struct kymo_map map = {.phys = (uint64_t)sink_memory_shm_id,
                           .flags = KYMO_MAP_OBJECT | KYMO_PROT_READ | KYMO_PROT_WRITE};
    if (MemMap(&map) < 0) {
        ObjectUnlink(name);
        return memory_give_up();
    }
    sink_memory_base = (uint8_t *)(uintptr_t)map.vaddr;
    sink_memory_room = (size_t)sink_settings.size;
    sink_memory_used = 0;
    return 0;
}

static long sink_memory_write(const void *data, size_t bytes)
{
    if (bytes > sink_memory_room - sink_memory_used) {
        /* Prevented by -S once the header is written. */
        printf("tracelogger: -S %llu is too small for the capture's header: try -S 100k\n",
               (unsigned long long)sink_memory_room);
        errno = ENOSPC;
        return -1;
    }
    memcpy(sink_memory_base + sink_memory_used, data, bytes);
    if (bytes > 0 && ObjectSize(sink_memory_shm_id, sink_memory_used + bytes) < 0) {
        return -1;
    }
    sink_memory_used += bytes;
    return (long)bytes;
}

static int sink_memory_close(void)
{
    MemUnmap(sink_memory_base, 0);
    return ObjectClose(sink_memory_shm_id);
}

static void memory_abandon(bool useless)
{
    sink_memory_close();
    if (useless) {
        ObjectUnlink(sink_memory_object_name);
    }
}

const struct sink sink_memory = {
    .prefix = "memory:",
    .open = sink_memory_open,
    .write = sink_memory_write,
    .close = sink_memory_close,
    .abandon = memory_abandon,
};
