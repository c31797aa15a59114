/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who lives, beside the ring in retained memory: a ring that has run for long has overwritten the
 * events that named its processes and threads. One place for each of the kernel's tables' (threads:
 * only those that have a name), written when something of it changes: some hundred instructions at
 * a process's birth, when it is loaded, and at its end. A reset in the middle of that leaves one
 * without a right CRC. Who has ended stays, because events of its are there: when its place is used
 * anew, its entry moves to the spare places behind the tables', where the oldest move gives way.
 *
 * Lock [k], or the boot. Proof: test/unit_kernel/retained_test.c, test/boot/flight.py, dies.py; the
 * finder: test/unit/test_names.c.
 */
#include "abi/retain.h"
#include "kernel/proc/process.h"
#include "kernel/observe/retain.h"
#include "kernel/base/string.h"
#include "trace/crc32c.h"

#define SPARE_FIRST (CONFIG_PROCESSES + CONFIG_THREADS)

_Static_assert(SPARE_FIRST + CONFIG_PROCESSES <= KYMO_RETAIN_NAMES_MOST &&
                   KYMO_NAME_MAX <= KYMO_RETAIN_NAME_MAX &&
                   KYMO_THREAD_NAME_MAX <= KYMO_RETAIN_NAME_MAX,
               "abi/retain.h");

static struct {
    struct kymo_retain_name *table; /* [k] NULL: the window is not this boot's */
    uint32_t boots;                 /* [k] */
    unsigned spare;                 /* [k] the spare place that is used next */
} names;

static void put(unsigned place, const struct kymo_retain_name *from)
{
    struct kymo_retain_name *to = &names.table[place];
    size_t begin = offsetof(struct kymo_retain_name, boots);

    *(volatile uint32_t *)&to->magic = 0;
    memcpy(&to->boots, &from->boots, sizeof(*to) - begin);
    to->boots = names.boots;
    to->crc = trace_crc(&to->boots, sizeof(*to) - begin);
    *(volatile uint32_t *)&to->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(to, sizeof(*to));
}

/* Of a process or thread that is new, or has changed: who had the place before it is kept. */
static void put_of(unsigned place, const struct kymo_retain_name *entry)
{
    const struct kymo_retain_name *before = &names.table[place];

    if (before->ended != 0 && (before->pid != entry->pid || before->tid != entry->tid)) {
        put(SPARE_FIRST + names.spare, before);
        names.spare = (names.spare + 1) % (KYMO_RETAIN_NAMES_MOST - SPARE_FIRST);
    }
    put(place, entry);
}

void retain_process(const struct process *proc)
{
    struct kymo_retain_name entry = {
        .pid = proc->pid,
        .ppid = proc->ppid,
        .ended = proc->dying ? arch_cycles() : 0,
        .text = proc->program.text,
        .text_size = proc->program.text_len,
    };

    if (names.table) {
        memcpy(entry.name, proc->name, sizeof(proc->name));
        put_of((unsigned)(proc->pid - 1) % CONFIG_PROCESSES, &entry);
    }
}

void retain_thread(const struct thread *t)
{
    struct kymo_retain_name entry = {
        .pid = t->pid,
        .ppid = t->proc->ppid,
        .tid = t->tid,
        .ended = t->state == STATE_DEAD ? arch_cycles() : 0,
    };

    if (names.table) {
        memcpy(entry.name, t->name, sizeof(t->name));
        put_of(CONFIG_PROCESSES + t->index, &entry);
    }
}

void retain_thread_ended(struct thread *t)
{
    if (t->name[0]) {
        retain_thread(t);
    }
}

void retain_process_ended(struct process *proc)
{
    retain_process(proc);
}

void retain_names_begin(struct kymo_retain_name *table, uint32_t boots)
{
    memset(table, 0, KYMO_RETAIN_NAMES_MOST * sizeof(*table));
    names.table = table;
    names.boots = boots;
    names.spare = 0;
    for (unsigned i = 0; i < CONFIG_PROCESSES; i++) {
        const struct process *proc = process_in_slot(i);

        if (proc && !proc->dying) {
            retain_process(proc);
        }
    }
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = thread_by_index(i);

        if (t && t->name[0] && t->state != STATE_DEAD) {
            retain_thread(t);
        }
    }
}
