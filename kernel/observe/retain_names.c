/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of processes and threads, next to the ring in retained memory: a long-running ring has
 * overwritten the events that named them. One entry for each slot of the kernel's tables (threads:
 * only those with a name), written when it changes: some hundred instructions at a process's
 * creation, loading and end. So all living ones have an entry, however many there are. A reset
 * during a write leaves an entry without a correct CRC. Entries of ended processes and threads
 * remain, because the ring may hold their events: when the slot is reused, the entry moves to the
 * spare entries after the tables', replacing the oldest; the ring itself has the names of those
 * whose slots the kernel reuses (trace/ended.c). Where a board's window has no room for all
 * threads, those in later slots have only the spare entries.
 *
 * Lock [k], or boot. Tested by test/kernel/observe/retained_test.c, test/board/flight.py, dies.py;
 * the finder: test/trace/names_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/retain.h"
#include "kernel/observe/retain_layout.h"
#include "kernel/base/string.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "trace/crc32c.h"

#define SPARE_LEAST (CONFIG_PROCESSES < 76 ? CONFIG_PROCESSES : 76)
/* The number of slots of the table of threads that have entries of their own. In a small window the
 * spare entries come first. */
#define THREADS \
    (RETAIN_NAMES_MOST >= CONFIG_PROCESSES + CONFIG_THREADS + SPARE_LEAST \
         ? CONFIG_THREADS \
         : RETAIN_NAMES_MOST - CONFIG_PROCESSES - SPARE_LEAST)
#define SPARE_FIRST (CONFIG_PROCESSES + THREADS)
#define SPARE (RETAIN_NAMES_MOST - SPARE_FIRST)

_Static_assert(RETAIN_NAMES_MOST >= CONFIG_PROCESSES + SPARE_LEAST &&
                   RETAIN_NAMES_MOST <= KYMO_RETAIN_NAMES_MOST,
               "CONFIG_RETAIN_NAMES_BYTES: an entry for each process, and spare ones");
_Static_assert(KYMO_NAME_MAX <= KYMO_RETAIN_NAME_MAX &&
                   KYMO_THREAD_NAME_MAX <= KYMO_RETAIN_NAME_MAX,
               "abi/retain.h");

static struct {
    struct kymo_retain_name *table; /* [k] NULL: the window doesn't belong to this boot */
    uint32_t boots;                 /* [k] */
    unsigned spare;                 /* [k] index of the next spare entry */
} names;

static void retain_names_put(unsigned place, const struct kymo_retain_name *from)
{
    kernel_assert(kernel_locked() && place < RETAIN_NAMES_MOST);
    struct kymo_retain_name *to = &names.table[place];
    size_t begin = offsetof(struct kymo_retain_name, boots);

    *(volatile uint32_t *)&to->magic = 0;
    memcpy(&to->boots, &from->boots, sizeof(*to) - begin);
    to->boots = names.boots;
    to->crc = trace_crc(&to->boots, sizeof(*to) - begin);
    *(volatile uint32_t *)&to->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(to, sizeof(*to));
}

static void put_spare(const struct kymo_retain_name *entry)
{
    retain_names_put(SPARE_FIRST + names.spare, entry);
    names.spare = (names.spare + 1) % SPARE;
}

/* Writes the entry of a new or changed process or thread, after keeping that of the slot's previous
 * owner. */
static void put_of(unsigned place, const struct kymo_retain_name *entry)
{
    const struct kymo_retain_name *before = &names.table[place];

    if (before->ended != 0 && (before->pid != entry->pid || before->tid != entry->tid)) {
        put_spare(before);
    }
    retain_names_put(place, entry);
}

/* Writes the entry of a process or thread without an entry of its own: over its previous one, or
 * the oldest spare one. */
static void put_late(const struct kymo_retain_name *entry)
{
    for (unsigned i = SPARE_FIRST; i < RETAIN_NAMES_MOST; i++) {
        const struct kymo_retain_name *last = &names.table[i];
        if (last->pid == entry->pid && last->tid == entry->tid) {
            retain_names_put(i, entry);
            return;
        }
    }
    put_spare(entry);
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
        if (t->index + 1u <= THREADS) { /* 0 in a small window */
            put_of(CONFIG_PROCESSES + t->index, &entry);
        } else {
            put_late(&entry);
        }
    }
}

void retain_process_ended(struct process *proc)
{
    retain_process(proc);
}

#define NAMES_STEP 64u /* entries that are cleared, slots that are visited without a window */

/* Works in steps: a change meanwhile is written as always, and once more if its turn comes. */
void retain_names_begin(struct kymo_retain_name *table, uint32_t boots)
{
    names.table = NULL;
    for (size_t i = 0, n; i < RETAIN_NAMES_MOST; i += n) {
        n = RETAIN_NAMES_MOST - i < NAMES_STEP ? RETAIN_NAMES_MOST - i : NAMES_STEP;
        memset(&table[i], 0, n * sizeof(*table));
        kernel_window();
    }
    names.table = table;
    names.boots = boots;
    names.spare = 0;
    for (unsigned i = 0; i < process_slots(); i++) {
        const struct process *proc = process_in_slot(i);

        if (proc && !proc->dying) {
            retain_process(proc);
            kernel_window();
        } else if (i % NAMES_STEP == 0) {
            kernel_window();
        }
    }
    for (unsigned i = 0; i < thread_slots(); i++) {
        const struct thread *t = thread_by_index(i);

        if (t && t->name[0] && t->state != STATE_DEAD) {
            retain_thread(t);
            kernel_window();
        } else if (i % NAMES_STEP == 0) {
            kernel_window();
        }
    }
}
