/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes: the table, ids, creation and end. Kernel lock held.
 *
 * A process ends in steps, so that no thread waits long for the CPU: one of its threads, the ender,
 * ends the others, one per step, waits for those on other CPUs, frees a few objects per step, and
 * ends itself. Between two steps other threads find a process with fewer objects, none of them half
 * freed; process_find() doesn't find it, and it gets no new thread and no pulses from programs. It
 * remains as a zombie until its parent, if it has one, collects the status. Tested by test/kernel
 * (end_test), test/board (all states, zombies, orphans).
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/proc/proc.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"

/* Free slots that keep information about their previous processes, in large tables. */
#define SLOTS_KEPT 16u
#define GENERATIONS (INT32_MAX / CONFIG_PROCESSES - 1)

static TABLE_OF(struct process, processes, CONFIG_PROCESSES); /* pid 0: free */
static int32_t generations[CONFIG_PROCESSES];          /* [k] number of times the slot was used */
static struct trie by_pid;                             /* [k] the slots in use */
static unsigned fresh;                                 /* [k] slots from here on were never used */
static struct list free_slots = LIST_INIT(free_slots); /* [k] the freed slots, oldest first */
static unsigned free_count;                            /* [k] number of free_slots */

struct process *kernel_process;

/* Initializes a process that has its pid, without resources. */
static void process_init_sets(struct process *proc)
{
    list_init(&proc->sync_waiters);
    list_init(&proc->closed);
    list_init(&proc->link);
    list_init(&proc->children);
    list_init(&proc->zombies);
    list_init(&proc->names);
    proc->by_pid.key = (uint32_t)proc->pid;
    trie_insert(&by_pid, &proc->by_pid);
}

void process_init(void)
{
    TABLE_MAKE(processes, struct process, TABLE_ENTRIES(PROCESSES));
    struct process *proc = kernel_process = TABLE_ADD(processes, struct process, fresh++);

    proc->pid = 1;
    memcpy(proc->name, "kymo", sizeof("kymo"));
    vm_init(&proc->space);
    process_init_sets(proc);
    quota_init(&proc->quota, phys_available());
}

struct process *process_in_slot(unsigned slot)
{
    return slot < fresh && TABLE_AT(processes, slot)->pid ? TABLE_AT(processes, slot) : NULL;
}

int32_t process_ended_in_slot(unsigned slot, const struct process **out)
{
    if (slot >= fresh || TABLE_AT(processes, slot)->ended == 0) {
        return 0;
    }
    *out = TABLE_AT(processes, slot);
    return (*out)->pid ? (*out)->pid : (*out)->ended_pid;
}

struct process *process_any(int pid)
{
    struct process *proc = process_in_slot(((unsigned)pid - 1) % CONFIG_PROCESSES);

    return pid > 0 && proc && proc->pid == pid ? proc : NULL;
}

struct process *process_find(int pid)
{
    struct process *proc = process_any(pid);
    return proc && !proc->dying && !proc->loading ? proc : NULL;
}

struct process *process_self_or(struct process *self, int pid)
{
    return pid == 0 ? self : process_find(pid);
}

struct process *process_any_at_least(int pid)
{
    struct trie_node *node = trie_at_least(&by_pid, pid > 0 ? (uint32_t)pid : 1);

    return node ? list_entry(node, struct process, by_pid) : NULL;
}

struct process *process_at_least(int pid)
{
    struct process *proc = process_any_at_least(pid);

    while (proc && proc->loading) { /* bounded by the number of spawning threads */
        proc = process_any_at_least(proc->pid + 1);
    }
    return proc;
}

unsigned process_slots(void)
{
    return fresh;
}

bool process_able(const struct process *proc, uint32_t ability)
{
    return (proc->ability & ability) == ability;
}

/* Returns a free slot, or NULL. The SLOTS_KEPT most recently freed slots stay free while never used
 * ones are left: they hold information for dumps of ended processes. */
static struct process *process_free_slot(void)
{
    bool more = fresh < TABLE_ENTRIES(PROCESSES) && free_count <= SLOTS_KEPT;
    struct process *proc = more ? TABLE_ADD(processes, struct process, fresh) : NULL;

    if (proc || free_count == 0) {
        fresh += proc != NULL;
        return proc;
    }
    proc = list_entry(free_slots.next, struct process, link);
    list_remove(&proc->link);
    free_count--;
    return proc;
}

/* Adds a freed slot, which becomes the last to be used again. */
static void process_free_push(struct process *proc)
{
    list_push_back(&free_slots, &proc->link);
    free_count++;
}

static int32_t process_new_pid(unsigned slot)
{
    int32_t generation = generations[slot];

    generations[slot] = (generation + 1) % GENERATIONS;
    return (int32_t)slot + 1 + generation * CONFIG_PROCESSES;
}

int process_create(const char *name, int ppid, uint32_t ability, struct process **out)
{
    struct process *found = process_find(ppid), *parent = found ? found : kernel_process;
    struct process *family = process_any(ppid);

    kernel_assert(kernel_locked());
    if (!quota_charge(&parent->quota, KYMO_LIMIT_PROCESSES, 1)) {
        return -EAGAIN;
    }
    struct process *proc = table_charged(process_free_slot(), &parent->quota, KYMO_LIMIT_PROCESSES);
    if (!proc) {
        return -EAGAIN;
    }
    kernel_assert(!proc->pid);
    for (process_ended_call *const *call = process_forgotten; proc->ended_pid && *call; call++) {
        (*call)(proc);
    }
    *proc = (struct process){.born = arch_cycles()};
    vm_init(&proc->space);
    int error = arch_aspace_create(&proc->space.arch);
    if (error) {
        quota_release(&parent->quota, KYMO_LIMIT_PROCESSES, 1);
        process_free_push(proc);
        return error;
    }
    proc->pid = process_new_pid(TABLE_INDEX(processes, proc));
    proc->ppid = ppid;
    proc->ability = ability;
    process_open_account(proc, parent);
    process_init_sets(proc);
    if (family) {
        list_push_back(&family->children, &proc->link);
    }
    size_t len = strlen(name);
    memcpy(proc->name, name, len < sizeof(proc->name) ? len : sizeof(proc->name) - 1);
    trace_proc_create_name(ppid, proc->pid, proc->name);
    *out = proc;
    return 0;
}

static void process_free(struct process *proc)
{
    kernel_assert(proc->pid > 1 && proc->nthreads == 0);
    process_close_account(proc);
    kernel_assert(list_empty(&proc->children) && list_empty(&proc->zombies));
    trie_remove(&by_pid, &proc->by_pid);
    list_remove(&proc->link);
    proc->ended_pid = proc->pid;
    proc->pid = 0;
    process_free_push(proc);
}

void process_leave_parent(struct process *child)
{
    child->ppid = 0;
    list_remove(&child->link);
}

void process_disown(struct process *child)
{
    process_leave_parent(child);
    if (child->zombie) {
        process_free(child);
    } else if (child->held) {
        process_end(child, KYMO_SIGKILL);
    }
}

static void process_orphan_list(const struct list *list)
{
    while (!list_empty(list)) {
        process_disown(list_entry(list->next, struct process, link));
        arch_irq_window();
    }
}

static struct process *process_any_child(const struct process *parent)
{
    if (!list_empty(&parent->zombies)) {
        return list_entry(parent->zombies.next, struct process, link);
    }
    list_for_each (pos, &parent->children) { /* each thread loads at most one of them */
        struct process *child = list_entry(pos, struct process, link);
        if (!child->loading) {
            return child;
        }
    }
    return NULL;
}

struct process *process_child(const struct process *parent, int pid)
{
    if (pid == 0) {
        return process_any_child(parent);
    }
    struct process *child = process_any(pid);
    return child && child->ppid == parent->pid && !child->loading ? child : NULL;
}

static bool process_waits_for(const struct thread *t, const struct process *child)
{
    return t && t->state == STATE_WAITTHREAD &&
           ((int)t->args[0] == 0 || (int)t->args[0] == child->pid);
}

/* Wakes a thread of the parent that waits for this child. Returns false if there is none. */
static bool process_reap(struct process *parent, const struct process *child)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = parent->threads[i];
        if (!process_waits_for(t, child)) {
            continue;
        }
        uintptr_t out = t->args[1];
        if (out && copy_out(parent, out, &child->status, sizeof(child->status))) {
            thread_wake(t, -1, EFAULT);
            continue;
        }
        thread_wake(t, child->pid, 0);
        return true;
    }
    return false;
}

void process_wake_childless(struct process *parent)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = parent->threads[i];
        if (t && t->state == STATE_WAITTHREAD && !process_child(parent, (int)t->args[0])) {
            thread_wake(t, -1, ECHILD);
        }
    }
}

/* For assertions: returns whether the process holds no resources any more. */
static inline bool process_holds_nothing(const struct process *proc)
{
    unsigned held = proc->nthreads + proc->space.nmaps + !list_empty(&proc->sync_waiters) +
                    proc->nclosed + (proc->closing != NULL);

    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        held += proc->threads[i] != NULL;
    }
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        held += proc->channels[i] != NULL;
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        held += proc->fds[i] || proc->side[i];
    }
    for (unsigned i = 0; i < CONFIG_OBJECTS_PER_PROCESS; i++) {
        held += proc->objects[i] != 0;
    }
    return held == 0;
}

/* Frees some of the process's resources. Returns false if nothing is left. */
static bool process_end_piece(struct process *proc)
{
    process_gone_call *gone = process_gone[proc->end_step];

    if (gone) {
        proc->end_step += gone(proc) ? 0 : 1;
        return true;
    }
    proc->lib_word_kva = NULL;
    if (proc->space.nmaps == 0) {
        return false;
    }
    vm_remove(proc, vm_nth(&proc->space, proc->space.nmaps - 1));
    return true;
}

static struct list end_waiters; /* [k] threads in process_end_wait(); {0}: never used */

static void process_end_wake(void)
{
    while (end_waiters.next && !list_empty(&end_waiters)) {
        struct thread *t = list_entry(end_waiters.next, struct thread, ready);
        list_remove(&t->ready);
        thread_wake(t, 0, 0);
    }
}

/* Frees all that the process still holds; no thread is left. */
static void process_finish(struct process *proc)
{
    kernel_assert(proc != kernel_process && proc->nthreads == 0);
    proc->dying = true;
    while (process_end_piece(proc)) { /* true only if it never had a thread */
        arch_irq_window();
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            thread_free(proc->threads[i]);
        }
    }
    arch_irq_window();
    vm_process_gone(proc);
    object_process_gone(proc);
    kernel_assert(process_holds_nothing(proc));
    trace_proc_destroy(proc->ppid, proc->pid);
    proc->ended = arch_cycles();
    for (process_ended_call *const *ended = process_ended; *ended; ended++) {
        (*ended)(proc);
    }
    arch_irq_window();
    process_orphan_list(&proc->children);
    process_orphan_list(&proc->zombies);
    process_end_wake();

    struct process *parent = process_find(proc->ppid);
    if (parent && !process_reap(parent, proc)) {
        proc->zombie = true;
        list_remove(&proc->link);
        list_push_back(&parent->zombies, &proc->link);
        return;
    }
    process_free(proc);
    if (parent) {
        process_wake_childless(parent);
    }
}

void process_thread_gone(struct process *proc)
{
    kernel_assert(kernel_locked() && proc->nthreads > 0);
    if (--proc->nthreads == 0) {
        process_finish(proc);
    } else if (proc->nthreads == 1 && proc->ender && proc->ender->state == STATE_WAITCTX) {
        list_remove(&proc->ender->ready);
        thread_wake_set(proc->ender);
    }
}

/* Returns a living thread other than the ender that has not been asked to end, or NULL. Prefers one
 * that isn't running elsewhere. */
static struct thread *process_next_to_end(const struct process *proc)
{
    struct thread *found = NULL;

    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = proc->threads[i];
        if (!t || t->state == STATE_DEAD || t == proc->ender || (t->flags & THREAD_DYING)) {
            continue;
        }
        found = t;
        if (t->state != STATE_RUNNING) {
            break;
        }
    }
    return found;
}

long process_end_step(struct thread *self)
{
    struct process *proc = self->proc;
    struct thread *other = proc->nthreads > 1 ? process_next_to_end(proc) : NULL;

    kernel_assert(kernel_locked() && proc->dying && proc->ender == self);
    if (other) {
        thread_end(other, 0);
        return KER_AGAIN;
    }
    if (proc->nthreads > 1) { /* process_thread_gone() wakes it */
        list_init(&self->ready);
        thread_set_state(self, STATE_WAITCTX);
        self->flags |= THREAD_AGAIN;
        return KER_BLOCKED;
    }
    if (process_end_piece(proc)) { /* it may wait for another process */
        return self->state == STATE_WAITCTX ? KER_BLOCKED : KER_AGAIN;
    }
    thread_end_last(self);
    return KER_GONE;
}

/* Asks those of its threads to end that run on other CPUs. */
static void process_end_running(const struct process *proc)
{
    for (unsigned n = 0; CONFIG_CPUS > 1 && n < CONFIG_CPUS; n++) {
        struct thread *t = cpus[n].current;
        if (t && t->proc == proc && t != proc->ender && t != arch_cpu()->current) {
            thread_end(t, 0);
        }
    }
}

void process_end(struct process *proc, int status)
{
    struct thread *current = arch_cpu()->current;

    kernel_assert(kernel_locked() && proc != kernel_process && proc->pid && !proc->zombie);
    if (proc->dying) {
        return;
    }
    proc->dying = true;
    proc->status = status;
    if (proc->nthreads == 0) { /* it was still being loaded */
        process_finish(proc);
        return;
    }
    /* The ender, now or on the CPU that it runs on. NULL: the first thread that executes
     * process_end_step() becomes the ender. */
    struct thread *t = current && current->proc == proc ? current : process_next_to_end(proc);
    /* some may have to complete a call */
    for (; t && !proc->ender; t = process_next_to_end(proc)) {
        thread_end(t, 0);
    }
    process_end_running(proc);
}

void process_end_hurry(struct process *proc, uint8_t priority)
{
    kernel_assert(kernel_locked() && proc->dying);
    if (proc->end_priority < priority) {
        proc->end_priority = priority; /* it may have no ender yet */
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = proc->threads[i];
        if (t && t->state != STATE_DEAD && (t == proc->ender || (t->flags & THREAD_DYING))) {
            thread_raise_call(t, priority);
        }
    }
}

long process_end_wait(struct thread *self, int pid)
{
    struct process *proc = process_any(pid);

    kernel_assert(kernel_locked() && self == arch_cpu()->current);
    if (!proc || !proc->dying || proc->zombie) {
        return 0;
    }
    thread_set_state(self, STATE_WAITCTX);
    if (!end_waiters.next) {
        list_init(&end_waiters);
    }
    list_push_back(&end_waiters, &self->ready);
    self->step = 1;
    self->flags |= THREAD_AGAIN;
    process_end_hurry(proc, self->priority);
    return KER_BLOCKED;
}

void process_forget(struct process *proc)
{
    kernel_assert(proc->zombie);
    process_free(proc);
}
