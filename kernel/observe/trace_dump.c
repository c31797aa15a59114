/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state dump at the start of tracing (ring captures: also at their end): existing objects, in
 * the events that would have recorded their creation. Kernel lock held.
 *
 * The dump proceeds as KER_AGAIN parts of the TRACE_EVENT call, a few threads of one process per
 * part, so it can be preempted between two parts; objects created or ended meanwhile record their
 * own events. At a ring's end it includes the processes that ended while the ring ran, as far as
 * the kernel still has their names, because their events may be overwritten. Before each part it
 * waits (WAITCTX) until a buffer is FREE. It ends early, with success, when tracing has been
 * stopped. After the processes come the notes of D's consumers that log (trace/dtrace/log.h). step:
 * the slot of the next process, plus 1, and above STEP_BITS its next part; from CONFIG_PROCESSES +
 * 2 on a piece of the notes.
 *
 * Each CPU records its running thread itself at the end, in a cross-call, because a RUNNING event
 * belongs to the CPU on which it was recorded.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/observe/trace_dump.h"

#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/base/kercall.h"
#include "trace/control.h"
#include "trace/threads.h"

#define SLOTS_MOST 64 /* slots of a table that are visited in one piece */
/* Indices in args[] of a TRACE_EVENT that the command itself doesn't use any more, or never
 * uses. */
#define RECORDING 3  /* trace_starts(): the recording to which the dump belongs */
#define DUMPED_PID 4 /* pid of the process that has been dumped in part; negative: it had ended */
#define THEN_STOP 5  /* the dump belongs to a ring's STOP, and has begun */
#define STEP_BITS 16
#define THREADS_A_STEP 4

/* The next part of a process that has been dumped in part: a thread of its table, or an ended
 * one. */
#define NEXT_THREADS 1
#define NEXT_ENDED 0x8000

_Static_assert(CONFIG_PROCESSES + 2 < 1 << STEP_BITS, "a slot fits into its part of step");
_Static_assert(CONFIG_THREADS < 0x8000 && CONFIG_THREADS_PER_PROCESS < NEXT_ENDED - NEXT_THREADS,
               "a thread fits into its part of step");

static struct list waiting; /* [k] threads in WAITCTX; {0}: never used */
static uint64_t started;    /* [k] trace clock at the most recent START */

static void dump_state(uint32_t state, const struct thread *t)
{
    uint32_t pid = (uint32_t)t->proc->pid, tid = (uint32_t)t->tid;

    if (trace_bit(trace_site_logged, TRACE_EV_thread_state) &&
        trace_threads_state(state, pid, tid)) {
        trace_dump_thread_state(state, pid, tid, t->priority, t->policy);
    }
}

static void dump_thread(const struct thread *t)
{
    uint32_t pid = (uint32_t)t->proc->pid, tid = (uint32_t)t->tid;

    if (trace_threads_entry(_NTO_TRACE_THREAD, TRACE_EV_thread_create, pid, tid)) {
        TRACE_DUMP(thread_create, pid, tid);
    }
    if (t->state != STATE_RUNNING) {
        dump_state(t->state, t);
    }
    if (t->name[0]) {
        TRACE_DUMP(thread_name, pid, tid, t->name);
    }
}

static void dump_process_name(const struct process *proc, uint32_t pid)
{
    TRACE_DUMP(proc_create_name, (uint32_t)proc->ppid, pid, proc->name);
    if (proc->program.text_len &&
        trace_threads_entry(_NTO_TRACE_SYSTEM, TRACE_EV_mapname, pid, 0)) {
        TRACE_DUMP(mapname, pid, proc->program.text, proc->program.text_len, proc->name);
    }
}

/* Records the names of the process's ended threads, from a slot on. Returns the next slot, or 0 if
 * there are no more. */
static unsigned dump_ended_threads(uint32_t pid, unsigned from)
{
    unsigned dumped = 0;

    for (unsigned i = from; i < thread_slots(); i++) {
        const struct thread *t = thread_ended_by_index(i);

        if (i - from == SLOTS_MOST || dumped == THREADS_A_STEP) {
            return i;
        }
        if (t && (uint32_t)t->pid == pid && t->name[0]) {
            TRACE_DUMP(thread_name, pid, (uint32_t)t->tid, t->name);
            dumped++;
        }
    }
    return 0;
}

/* Dumps threads from number `next` on. Returns the next one's number, or 0 if there are no more. */
static unsigned dump_threads(const struct process *proc, unsigned next)
{
    unsigned dumped = 0;

    for (; next < CONFIG_THREADS_PER_PROCESS; next++) {
        if (!proc->threads[next]) {
            continue;
        }
        if (dumped++ == THREADS_A_STEP) {
            return next;
        }
        dump_thread(proc->threads[next]);
    }
    return 0;
}

/* Dumps the next part of a process, living or ended, from `next` on, as the step stores it: first
 * the process itself; at a ring's end the names of its ended threads; then its threads, or its end.
 * Returns the next part, or 0 at the end. */
static unsigned dump_process(const struct process *proc, uint32_t pid, bool lives, unsigned next,
                             bool at_end)
{
    if (next == 0) {
        dump_process_name(proc, pid);
        next = at_end ? NEXT_ENDED : NEXT_THREADS;
    }
    if (next >= NEXT_ENDED) {
        unsigned slot = dump_ended_threads(pid, next - NEXT_ENDED);
        return slot > 0 ? NEXT_ENDED + slot : NEXT_THREADS;
    }
    if (!lives) {
        TRACE_DUMP(proc_destroy, (uint32_t)proc->ppid, pid);
        return 0;
    }
    unsigned thread = dump_threads(proc, next - NEXT_THREADS);
    return thread > 0 ? NEXT_THREADS + thread : 0;
}

static void dump_running(void *arg)
{
    const struct cpu *cpu = arch_cpu();
    const struct thread *t = cpu->current ? cpu->current : cpu->idle;

    (void)arg;
    dump_state(STATE_RUNNING, t);
}

/* The stop executes the command once more, as a long call in its turn, because another command may
 * be changing the same data. Until then nothing records that there was a dump: if the thread is
 * ended in the middle of it, the next STOP dumps the state again. */
static long dump_end(struct thread *self, long_call_part *command)
{
    cpu_run_on_all(dump_running, NULL);
    return self->args[THEN_STOP] ? long_call(self, command) : 0;
}

static long dump_wait(struct thread *self)
{
    kernel_assert(self == arch_cpu()->current);
    long result = thread_block(self, STATE_WAITCTX);

    if (result == KER_BLOCKED) {
        if (!waiting.next) {
            list_init(&waiting);
        }
        list_push_back(&waiting, &self->ready);
        self->flags |= THREAD_AGAIN; /* checks again when it is woken */
    }
    return result;
}

void trace_dump_none(struct thread *self)
{
    self->args[THEN_STOP] = 0;
}

bool trace_dump_is_over(const struct thread *self)
{
    return self->args[THEN_STOP] != 0;
}

/* Returns whether the recording for which the thread dumps, or has dumped, still runs. */
static bool dump_is_wanted(const struct thread *self)
{
    return trace_running() && trace_starts() == (uint32_t)self->args[RECORDING];
}

long trace_dump_stop(const struct thread *self)
{
    kernel_assert(kernel_locked());
    return dump_is_wanted(self) ? trace_state_stop() : 0;
}

long trace_dump_begin(struct thread *self, bool then_stop)
{
    kernel_assert(kernel_locked());
    self->args[THEN_STOP] = then_stop;
    self->args[RECORDING] = trace_starts();
    self->step = 1;
    if (!then_stop) {
        started = arch_cycles();
    }
    return KER_AGAIN;
}

/* Dumps the next part of the process in this slot. Returns whether there was anything to record,
 * and then sets the call's step. */
static bool dump_slot(struct thread *self, unsigned slot, unsigned next)
{
    const struct process *proc = process_in_slot(slot);
    const bool at_end = self->args[THEN_STOP] != 0, lives = proc && !proc->zombie;

    self->step = slot + 2;
    int32_t pid = lives ? proc->pid : at_end ? process_ended_in_slot(slot, &proc) : 0;
    if (pid == 0 || (!lives && proc->ended < started)) {
        return false;
    }
    uintptr_t dumped = (uintptr_t)(lives ? pid : -pid);
    if (next > 0 && dumped != self->args[DUMPED_PID]) {
        return false; /* it has ended meanwhile; a new process records its own events */
    }
    next = dump_process(proc, (uint32_t)pid, lives, next, at_end);
    self->args[DUMPED_PID] = dumped;
    self->step = next > 0 ? (slot + 1) | next << STEP_BITS : slot + 2;
    return true;
}

long trace_dump_continue(struct thread *self, long_call_part *command)
{
    kernel_assert(kernel_locked());
    if (!dump_is_wanted(self)) {
        return 0;
    }
    if (!trace_dump_room()) {
        return dump_wait(self);
    }
    unsigned at = self->step & ((1u << STEP_BITS) - 1), next = self->step >> STEP_BITS;
    for (unsigned slot = at - 1; slot < process_slots(); slot++) {
        if (dump_slot(self, slot, next)) {
            return KER_AGAIN;
        }
        if (slot + 2 - at == SLOTS_MOST) {
            self->step = slot + 2;
            return KER_AGAIN;
        }
        next = 0;
    }
    unsigned part = at > CONFIG_PROCESSES + 1 ? at - CONFIG_PROCESSES - 2 : 0;
    if (dtrace_log_dump(part)) {
        self->step = CONFIG_PROCESSES + 3 + part;
        return KER_AGAIN;
    }
    return dump_end(self, command);
}

void trace_process_forgotten(struct process *proc)
{
    kernel_assert(kernel_locked() && !proc->pid && proc->ended_pid);
    trace_ended(&(struct trace_ended){.ppid = (uint32_t)proc->ppid,
                                      .pid = (uint32_t)proc->ended_pid,
                                      .name = proc->name,
                                      .text = proc->program.text,
                                      .text_len = proc->program.text_len,
                                      .born = proc->born,
                                      .ended = proc->ended});
}

void observe_thread_ended(struct thread *t)
{
    kernel_assert(kernel_locked() && t->state == STATE_DEAD);
    if (t->name[0]) {
        retain_thread(t);
        trace_ended(&(struct trace_ended){.pid = (uint32_t)t->pid,
                                          .tid = (uint32_t)t->tid,
                                          .name = t->name,
                                          .born = t->born,
                                          .ended = arch_cycles()});
    }
}

void trace_dump_wake(void)
{
    kernel_assert(kernel_locked());
    while (waiting.next && !list_empty(&waiting)) {
        struct thread *t = list_entry(waiting.next, struct thread, ready);
        list_remove(&t->ready);
        thread_wake(t, 0, 0);
    }
}
