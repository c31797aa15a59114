/* SPDX-License-Identifier: BSD-2-Clause */
/* See object.h. Saving needs no recording and disturbs none: an object is read through a
 * mapping. */
#include "tracelogger/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/ability.h"
#include "abi/sys/kymo.h"
#include "tracelogger/sink.h"

#define PIECE 4096

static int logger_object_print_trouble(const char *name, const char *what)
{
    if (errno == EACCES) {
        object_refused(object_name(name));
        return 1;
    }
    printf("tracelogger: %s%s: %s\n", name, what, strerror(errno));
    return 1;
}

const char *object_name(const char *name)
{
    static const char *const before[] = {OBJECT_PREFIX, "/dev/shmem/", "/"};

    for (unsigned i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        if (strncmp(name, before[i], strlen(before[i])) == 0) {
            name += strlen(before[i]);
        }
    }
    return name;
}

int object_make(const char *name, uint64_t size, unsigned mode)
{
    if (size != (size_t)size) {
        errno = EINVAL;
        return -1;
    }
    if (ObjectUnlink(name) < 0 && errno != ENOENT) {
        return -1;
    }
    int id = ObjectOpen(name, KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE | KYMO_OBJECT_EXCLUSIVE,
                        mode | KYMO_OBJECT_ABLE(ABILITY_TRACE));
    if (id >= 0 && ObjectSize(id, (size_t)size) < 0) {
        int error = errno;

        ObjectUnlink(name);
        ObjectClose(id);
        errno = error;
        return -1;
    }
    return id;
}

static int logger_object_find(const char *name, struct kymo_object_info *info)
{
    for (int i = 0; (i = ObjectInfo(KYMO_OBJECT_AT + i, info)) >= 0; i++) {
        if ((info->flags & KYMO_OBJECT_NAMED) && strcmp(info->name, name) == 0) {
            return 0;
        }
    }
    return -1;
}

void object_refused(const char *name)
{
    struct kymo_object_info info;
    struct kymo_proc_info maker;

    printf("tracelogger: %s: Permission denied", name);
    if (logger_object_find(name, &info) != 0) {
        printf(": it was removed at this moment: try again\n");
        return;
    }
    if (info.creator && ProcInfo(info.creator, &maker) == info.creator) {
        printf(": process %d (%s) created it with mode %o\n", (int)info.creator, maker.name,
               (unsigned)info.mode);
    } else {
        printf(": a process that has ended created it with mode %o\n", (unsigned)info.mode);
    }
    printf("a program with its creator's abilities may remove it: tracelogger --remove /%s; `pidin "
           "mem` shows whether it is in use\n",
           name);
}

/* Writes in pieces, so that a sink's messages may be bounded. */
static int logger_object_copy_bytes(const uint8_t *from, uint64_t size, const char *to)
{
    int result = 0;

    if (sink_wait(to) != 0 || sink_open(to) != 0) {
        return 1;
    }
    for (uint64_t at = 0; at < size && result == 0; at += PIECE) {
        result = sink_write(from + at, (size_t)(size - at < PIECE ? size - at : PIECE));
    }
    if (result != 0) {
        sink_abandon(false);
        printf("tracelogger: %s is INCOMPLETE; the memory object is unchanged\n", to);
    }
    return result != 0 || sink_close() != 0;
}

static int logger_object_save(const struct options *options)
{
    const char *name = options->save, *to = options->file;
    struct kymo_object_info info;
    int id = ObjectOpen(object_name(name), 0, 0);

    if (id < 0) {
        return logger_object_print_trouble(name, "");
    }
    struct kymo_map map = {.phys = (uint64_t)id, .flags = KYMO_MAP_OBJECT | KYMO_PROT_READ};
    if (MemMap(&map) < 0 || ObjectInfo(id, &info) < 0) {
        return logger_object_print_trouble(name, ": the memory object is empty");
    }
    if (options->size != 0 && options->size < info.size) {
        printf("tracelogger: -S %llu is too small for %s: give at least %llu\n",
               (unsigned long long)options->size, name, (unsigned long long)info.size);
        return 1;
    }
    int status = logger_object_copy_bytes((const uint8_t *)(uintptr_t)map.vaddr, info.size, to);
    if (status == 0) {
        printf("tracelogger: %s: %llu bytes saved to %s\n", name, (unsigned long long)info.size,
               to);
    }
    return status;
}

int object_work(const struct options *options)
{
    int status = options->save ? logger_object_save(options) : 0;

    if (status == 0 && options->remove && ObjectUnlink(object_name(options->remove)) < 0) {
        status = logger_object_print_trouble(options->remove, "");
    }
    return status;
}
