/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ObjectOpen, ObjectClose, ObjectSize, ObjectInfo, ObjectUnlink. Kernel lock held. Memory is
 * cleared in pieces with a preemption point after each. The object records the progress, so another
 * caller that requests the same size continues it, even if the first one dies.
 *
 * EBADF: not an open object of the caller's; EINVAL: empty name, unknown flags or mode, no size or
 * (size) opened for reading only; ENOENT; EEXIST: CREATE and EXCLUSIVE; EPERM: creating one without
 * the ability; EACCES: its mode; EMFILE, EAGAIN: the process's or the system's table is full;
 * ENOMEM; EBUSY: it has less memory or, when freeing memory, it is mapped or traced into;
 * ENAMETOOLONG; EFAULT. Tested by test/unit_kernel/object_test.c, test/boot/programs/t_object.c.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/aspace.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/object_table.h"
#include "kernel/proc/process.h"
#include "kernel/base/string.h"
#include "trace/trace.h"

#define SIZE_MOST 0x40000000u
#define FLAGS (KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE | KYMO_OBJECT_EXCLUSIVE)
#define MODES (0666 | 0xffff0000u) /* KYMO_OBJECT_ABLE() */

static struct object *object_named(const char *name)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used && objects[i].named && strcmp(objects[i].name, name) == 0) {
            return &objects[i];
        }
    }
    return NULL;
}

/* Returns the mode's class: 0: the creator; 1: processes with the required abilities; 2: others. */
static unsigned object_calls_stands(const struct object *object, const struct process *proc)
{
    if (proc->pid == object->creator) {
        return 0;
    }
    return (proc->ability & object->ability) == object->ability ? 1 : 2;
}

static bool object_calls_may(const struct object *object, const struct process *proc, bool write)
{
    unsigned rights = object->mode >> (6 - 3 * object_calls_stands(object, proc));

    return (rights & 4) && (!write || (rights & 2));
}

static int object_make(struct process *proc, const char *name, uintptr_t mode, struct object **out)
{
    struct object *object = objects;

    if (!process_able(proc, ABILITY_MEMORY)) {
        return -EPERM;
    }
    while (object < objects + CONFIG_OBJECTS && object->used) {
        object++;
    }
    if (object == objects + CONFIG_OBJECTS) {
        return -EAGAIN;
    }
    *object = (struct object){.used = true, .named = true, .mode = (uint16_t)mode};
    object->creator = proc->pid;
    object->ability = (uint32_t)mode >> 16 ? (uint32_t)mode >> 16 : proc->ability;
    memcpy(object->name, name, strlen(name) + 1);
    *out = object;
    return 0;
}

static int object_get(struct process *proc, const char *name, uintptr_t flags, uintptr_t mode,
                      struct object **out)
{
    *out = object_named(name);
    if (!*out) {
        return flags & KYMO_OBJECT_CREATE ? object_make(proc, name, mode, out) : -ENOENT;
    }
    if ((flags & KYMO_OBJECT_CREATE) && (flags & KYMO_OBJECT_EXCLUSIVE)) {
        return -EEXIST;
    }
    return object_calls_may(*out, proc, flags & KYMO_OBJECT_WRITE) ? 0 : -EACCES;
}

static int free_id(const struct process *proc)
{
    for (int id = 0; id < CONFIG_OBJECTS_PER_PROCESS; id++) {
        if (!proc->objects[id]) {
            return id;
        }
    }
    return -EMFILE;
}

static long name_in(const struct thread *self, uintptr_t where, char name[KYMO_NAME_MAX])
{
    long len = copy_in_string(self->proc, name, where, KYMO_NAME_MAX);

    if (len > 0) {
        trace_pathmgr_open((uint32_t)self->proc->pid, (uint32_t)self->tid, name);
    }
    return len > 0 ? 0 : len ? len : -EINVAL;
}

long ker_object_open(struct thread *self, const uintptr_t *args)
{
    char name[KYMO_NAME_MAX];
    struct object *object;
    long error = name_in(self, args[0], name);

    if (error) {
        return error;
    }
    if ((args[1] & ~(uintptr_t)FLAGS) || (args[2] & ~(uintptr_t)MODES)) {
        return -EINVAL;
    }
    int id = free_id(self->proc);
    if (id < 0) {
        return id;
    }
    error = object_get(self->proc, name, args[1], args[2], &object);
    if (error) {
        return error;
    }
    object->opens++;
    self->proc->objects[id] = (uint8_t)(object - objects + 1);
    if (args[1] & KYMO_OBJECT_WRITE) {
        self->proc->objects[id] |= OBJECT_WRITABLE;
    }
    return id;
}

long ker_object_close(struct thread *self, const uintptr_t *args)
{
    return object_close(self->proc, args[0]);
}

static int object_calls_give_back(struct object *object)
{
    if (object->maps || object->tracing) {
        return -EBUSY;
    }
    if (object->phys) {
        phys_free(object->phys, object->len);
    }
    object->phys = 0;
    object->size = object->len = object->cleared = 0;
    return 0;
}

static int object_calls_take(struct object *object, size_t size)
{
    size_t len, align;

    if (size > SIZE_MOST) {
        return -EINVAL;
    }
    int error = arch_map_shape(size, KYMO_PROT_READ | KYMO_PROT_WRITE, &len, &align);
    if (error) {
        return error;
    }
    object->phys = phys_alloc_raw(len, align);
    if (!object->phys) {
        return -ENOMEM;
    }
    object->len = len;
    object->size = size;
    object->cleared = 0;
    return 0;
}

static long clear_piece(struct thread *self, struct object *object)
{
    size_t left = object->len - object->cleared;
    size_t n = left < CONFIG_COPY_CHUNK ? left : CONFIG_COPY_CHUNK;

    memset((char *)arch_phys_to_virt(object->phys) + object->cleared, 0, n);
    object->cleared += n;
    if (n == left) {
        return 0;
    }
    self->step = 1;
    return KER_AGAIN;
}

/* Sets the meaningful size within the memory it has. The contents are kept. */
static int set_size(struct object *object, size_t size)
{
    if (size > object->len) {
        return -EBUSY;
    }
    object->size = size;
    return 0;
}

/* Each step checks everything again: another thread may have closed the object meanwhile. */
long ker_object_size(struct thread *self, const uintptr_t *args)
{
    struct object *object = object_of(self->proc, args[0]);
    size_t size = args[1];

    if (!object) {
        return -EBADF;
    }
    if (!(self->proc->objects[args[0]] & OBJECT_WRITABLE)) {
        return -EINVAL;
    }
    if (size == 0) {
        return object_calls_give_back(object);
    }
    if (object->len && object->cleared == object->len) {
        return set_size(object, size);
    }
    if (object->len && object->size != size) {
        return -EBUSY;
    }
    int error = object->len ? 0 : object_calls_take(object, size);
    return error ? error : clear_piece(self, object);
}

/* Returns the caller's object with this id, or for KYMO_OBJECT_AT + number the object with that
 * number, or the next one. */
static const struct object *object_asked_for(const struct process *proc, uintptr_t id)
{
    if (id < KYMO_OBJECT_AT) {
        return object_of(proc, id);
    }
    for (uintptr_t i = id - KYMO_OBJECT_AT; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used) {
            return &objects[i];
        }
    }
    return NULL;
}

long ker_object_info(struct thread *self, const uintptr_t *args)
{
    const struct object *object = object_asked_for(self->proc, args[0]);
    struct kymo_object_info info = {0};

    if (!object) {
        return args[0] < KYMO_OBJECT_AT ? -EBADF : -ENOENT;
    }
    info.size = object->size;
    info.memory = object->len;
    info.creator = object->creator;
    info.mode = object->mode;
    info.opens = object->opens;
    info.maps = object->maps;
    info.flags =
        (object->named ? KYMO_OBJECT_NAMED : 0) | (object->tracing ? KYMO_OBJECT_TRACING : 0);
    memcpy(info.name, object->name, sizeof(info.name));
    return copy_out(self->proc, args[1], &info, sizeof(info)) ? -EFAULT : object - objects;
}

long ker_object_unlink(struct thread *self, const uintptr_t *args)
{
    char name[KYMO_NAME_MAX];
    long error = name_in(self, args[0], name);
    struct object *object = error ? NULL : object_named(name);

    if (!object) {
        return error ? error : -ENOENT;
    }
    if (object_calls_stands(object, self->proc) == 2) {
        return -EACCES;
    }
    object->named = false;
    object_check(object);
    return 0;
}
