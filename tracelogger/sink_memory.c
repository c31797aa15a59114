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

static int id = -1;
static const char *object;
static uint8_t *memory;
static size_t used, room;

static int memory_give_up(void)
{
    int error = errno;

    ObjectClose(id);
    errno = error;
    return -1;
}

/* An existing object of this name is replaced, as a file would be. */
static int memory_open(const char *name)
{
    name = object = object_name(*name ? name : OBJECT_DEFAULT);
    id = object_make(name, sink_settings.size, OBJECT_READ);
    if (id < 0) {
        if (errno == EPERM) {
            printf("tracelogger: this program needs the ability memory\n");
        }
        return -1;
    }
    struct kymo_map map = {.phys = (uint64_t)id,
                           .flags = KYMO_MAP_OBJECT | KYMO_PROT_READ | KYMO_PROT_WRITE};
    if (MemMap(&map) < 0) {
        ObjectUnlink(name);
        return memory_give_up();
    }
    memory = (uint8_t *)(uintptr_t)map.vaddr;
    room = (size_t)sink_settings.size;
    used = 0;
    return 0;
}

static long memory_write(const void *data, size_t bytes)
{
    if (bytes > room - used) {
        /* Behind the header -S has prevented that. */
        printf("tracelogger: -S %llu is too small for the capture's header: try -S 100k\n",
               (unsigned long long)room);
        errno = ENOSPC;
        return -1;
    }
    memcpy(memory + used, data, bytes);
    if (bytes > 0 && ObjectSize(id, used + bytes) < 0) {
        return -1;
    }
    used += bytes;
    return (long)bytes;
}

static int memory_close(void)
{
    MemUnmap(memory, 0);
    return ObjectClose(id);
}

static void memory_abandon(bool useless)
{
    memory_close();
    if (useless) {
        ObjectUnlink(object);
    }
}

const struct sink sink_memory = {
    .prefix = "memory:",
    .open = memory_open,
    .write = memory_write,
    .close = memory_close,
    .abandon = memory_abandon,
};
