/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects: their table and lifetime (mem.h), and the calls ObjectOpen, ObjectClose,
 * ObjectSize, ObjectInfo, ObjectUnlink. Kernel lock held. Memory belongs to its object as soon as
 * it is allocated, cleared or not, so that a caller's death can't leak it. It is cleared in pieces
 * with a preemption point after each. The object records the progress, so another caller that
 * requests the same size continues it, even if the first one dies.
 *
 * object_map() refuses: EBADF (not open), ENXIO (no memory yet, or less than requested), EACCES
 * (writing an object opened for reading), EINVAL (rights other than read, or read and write), EBUSY
 * (this process has it mapped: on an MPU a second mapping would be at the same address; or the
 * event log's buffers are in it, and writing is requested).
 *
 * The calls refuse: EBADF: not an open object of the caller's; EINVAL: empty name, unknown flags,
 * mode or ability, no size or (size) opened for reading only; ENOENT; EEXIST: CREATE and EXCLUSIVE;
 * EPERM: creating one without the ability; EACCES: its mode; EMFILE, EAGAIN: the process's or the
 * system's table or quota is full; ENOMEM; EBUSY: it has less memory or, when freeing memory, it is
 * mapped or traced into; ENAMETOOLONG; EFAULT.
 *
 * Tested by test/kernel/mem/object_test.c, test/board/programs/t_object.c, and test/board (suite
 * memory).
 */
#include "kernel/mem/mem.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/aspace.h"
#include "kernel/base/kercall.h"
#include "kernel/base/string.h"
#include "kernel/proc/proc.h"
#include "trace/trace.h"

#define SIZE_MOST 0x40000000u
#define FLAGS (KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE | KYMO_OBJECT_EXCLUSIVE)
/* An object can't require an ability that does not exist: no process could ever unlink it. */
#define MODES (0666 | KYMO_OBJECT_ABLE(ABILITY_EVERY))

struct object objects[CONFIG_OBJECTS];

_Static_assert(CONFIG_OBJECTS <= OBJECT_NUMBER, "an object's number fits in an open one's byte");

struct object *object_of(const struct process *proc, uintptr_t id)
{
    unsigned entry = id < CONFIG_OBJECTS_PER_PROCESS ? proc->objects[id] & OBJECT_NUMBER : 0;

    kernel_assert(entry == 0 || (objects[entry - 1].used && objects[entry - 1].opens > 0));
    return entry ? &objects[entry - 1] : NULL;
}

static void object_free_memory(struct object *object)
{
    if (object->phys) {
        ram_free(process_account(object->payer), object->phys, object->len);
    }
    object->phys = 0;
}

/* Frees the object if it is no longer in use. */
static void object_check(struct object *object)
{
    kernel_assert(object->used);
    if (object->named || object->opens || object->maps || object->tracing) {
        return;
    }
    object_free_memory(object);
    process_refund(object->payer, KYMO_LIMIT_OBJECTS, 1);
    object->used = false;
}

static struct object *object_at(paddr_t phys)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used && objects[i].phys == phys) {
            return &objects[i];
        }
    }
    return NULL;
}

void object_mapped(paddr_t phys)
{
    kernel_assert(object_at(phys));
    object_at(phys)->maps++;
}

void object_unmapped(paddr_t phys)
{
    struct object *object = object_at(phys);

    kernel_assert(object && object->maps > 0);
    object->maps--;
    object_check(object);
}

/* Returns 0 or -EBADF. */
static int object_close(struct process *proc, uintptr_t id)
{
    struct object *object = object_of(proc, id);

    if (!object) {
        return -EBADF;
    }
    proc->objects[id] = 0;
    object->opens--;
    object_check(object);
    return 0;
}

void object_process_gone(struct process *proc)
{
    kernel_assert(proc->space.nmaps == 0);
    for (unsigned id = 0; id < CONFIG_OBJECTS_PER_PROCESS; id++) {
        object_close(proc, id);
    }
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].creator == proc->pid) {
            objects[i].creator = 0;
        }
    }
}

static bool object_is_mapped(const struct process *proc, paddr_t phys)
{
    for (unsigned i = 0; i < proc->space.nmaps; i++) {
        const struct mapping *m = vm_nth(&proc->space, i);
        if ((m->flags & KYMO_MAP_OBJECT) && m->phys == phys) {
            return true;
        }
    }
    return false;
}

int object_map(const struct process *proc, const struct kymo_map *map, struct mapping *m)
{
    uintptr_t id = (uintptr_t)map->phys;
    const struct object *object = id == map->phys ? object_of(proc, id) : NULL;
    bool write = map->flags & KYMO_PROT_WRITE;

    if (!object) {
        return -EBADF;
    }
    if (!(map->flags & KYMO_PROT_READ) || (map->flags & KYMO_PROT_EXEC)) {
        return -EINVAL;
    }
    if (write && !(proc->objects[id] & OBJECT_WRITABLE)) {
        return -EACCES;
    }
    if (!object->len || object->cleared < object->len || map->len > object->len) {
        return -ENXIO;
    }
    if (object_is_mapped(proc, object->phys) || (write && object->tracing)) {
        return -EBUSY;
    }
    *m = (struct mapping){.len = object->len, .phys = object->phys, .flags = map->flags};
    return 0;
}

/* ---- the kernel calls -------------------------------------------------------------- */

static struct object *object_named(const char *name)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used && objects[i].named && strcmp(objects[i].name, name) == 0) {
            return &objects[i];
        }
    }
    return NULL;
}

/* Returns the caller's class in the object's mode: 0: the creator; 1: processes with the required
 * abilities; 2: others. */
static unsigned object_stands(const struct object *object, const struct process *proc)
{
    if (proc->pid == object->creator) {
        return 0;
    }
    return (proc->ability & object->ability) == object->ability ? 1 : 2;
}

static bool object_may(const struct object *object, const struct process *proc, bool write)
{
    unsigned rights = object->mode >> (6 - 3 * object_stands(object, proc));

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
    if (!quota_charge(&proc->quota, KYMO_LIMIT_OBJECTS, 1)) {
        return -EAGAIN;
    }
    kernel_assert(object < objects + CONFIG_OBJECTS); /* the system's account has counted them */
    *object = (struct object){.used = true, .named = true, .mode = (uint16_t)mode};
    object->creator = proc->pid;
    object->payer = process_payer(proc);
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
    return object_may(*out, proc, flags & KYMO_OBJECT_WRITE) ? 0 : -EACCES;
}

static int object_free_id(const struct process *proc)
{
    for (int id = 0; id < CONFIG_OBJECTS_PER_PROCESS; id++) {
        if (!proc->objects[id]) {
            return id;
        }
    }
    return -EMFILE;
}

static long object_name_in(const struct thread *self, uintptr_t where, char name[KYMO_NAME_MAX])
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
    long error = object_name_in(self, args[0], name);

    if (error) {
        return error;
    }
    if ((args[1] & ~(uintptr_t)FLAGS) || (args[2] & ~(uintptr_t)MODES)) {
        return -EINVAL;
    }
    int id = object_free_id(self->proc);
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

static int object_give_back(struct object *object)
{
    if (object->maps || object->tracing) {
        return -EBUSY;
    }
    object_free_memory(object);
    object->size = object->len = object->cleared = 0;
    return 0;
}

static int object_take(struct object *object, size_t size)
{
    size_t len, align;

    if (size > SIZE_MOST) {
        return -EINVAL;
    }
    int error = arch_map_shape(size, KYMO_PROT_READ | KYMO_PROT_WRITE, &len, &align);
    if (error) {
        return error;
    }
    object->phys = ram_alloc(process_account(object->payer), len, align);
    if (!object->phys) {
        return -ENOMEM;
    }
    object->len = len;
    object->size = size;
    object->cleared = 0;
    return 0;
}

static long object_clear_piece(struct thread *self, struct object *object)
{
    size_t left = object->len - object->cleared;
    size_t n = left < CONFIG_CLEAR_CHUNK ? left : CONFIG_CLEAR_CHUNK;

    arch_clear((char *)arch_phys_to_virt(object->phys) + object->cleared, n);
    object->cleared += n;
    if (n == left) {
        return 0;
    }
    self->step = 1;
    return KER_AGAIN;
}

/* Sets the size in use within the object's memory. The contents are kept. */
static int object_set_size(struct object *object, size_t size)
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
        return object_give_back(object);
    }
    if (object->len && object->cleared == object->len) {
        return object_set_size(object, size);
    }
    if (object->len && object->size != size) {
        return -EBUSY;
    }
    int error = object->len ? 0 : object_take(object, size);
    return error ? error : object_clear_piece(self, object);
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
    long error = object_name_in(self, args[0], name);
    struct object *object = error ? NULL : object_named(name);

    if (!object) {
        return error ? error : -ENOENT;
    }
    if (object_stands(object, self->proc) == 2) {
        return -EACCES;
    }
    object->named = false;
    object_check(object);
    return 0;
}

/* ---- the event log's buffers in an object, which they keep alive ------------------- */

static struct object *offered; /* [k] only during one kernel call */

int object_offer(const struct process *proc, uintptr_t id, size_t bytes)
{
    struct object *object = object_of(proc, id);
    size_t len, align;

    if (!object) {
        return -EBADF;
    }
    if (!(proc->objects[id] & OBJECT_WRITABLE)) {
        return -EACCES;
    }
    if (!object->len || object->cleared < object->len) {
        return -ENXIO;
    }
    if (arch_map_shape(bytes, KYMO_PROT_READ | KYMO_MAP_TRACE, &len, &align) ||
        len != object->len) {
        return -EINVAL;
    }
    if (object->maps) {
        return -EBUSY;
    }
    offered = object;
    return 0;
}

void object_offer_end(void)
{
    offered = NULL;
}

/* Refuses an object that already holds buffers: the log has only one block. */
paddr_t object_trace_begin(size_t len)
{
    if (!offered || offered->len != len || offered->tracing) {
        return 0;
    }
    offered->tracing = true;
    return offered->phys;
}

bool object_trace_end(paddr_t phys)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].tracing && objects[i].phys == phys) {
            objects[i].tracing = false;
            object_check(&objects[i]);
            return true;
        }
    }
    return false;
}
