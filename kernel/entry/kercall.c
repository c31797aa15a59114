/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry of a kernel call: dispatch by the table abi/kercalls.def. Called by the ports' entry code;
 * takes the kernel lock (except for NOLOCK calls) and releases it before it returns.
 *
 * A number without a call is ENOSYS. The common case (an immediate result, no pending work on this
 * CPU) is kept short: see docs/inside/design.md for its budget, and test/bench.
 */
#include "abi/compiler.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"

#include "abi/errno.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/entry.h"
#include "kernel/entry/kercall_quick.h"
#include "kernel/entry/msg_direct.h"
#include "kernel/thread/sched.h"

#define UNKNOWN (KERCALL_MAX - 1)
#define NOLOCK 1

typedef long (*kercall_handler)(struct thread *self, const uintptr_t *args);

static long ker_unknown(struct thread *self, const uintptr_t *args)
{
    (void)self;
    (void)args;
    return -ENOSYS;
}

/* Designated twice on purpose: the range is the default, the table's entries override it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const kercall_handler handlers[KERCALL_MAX] = {
    [0 ... UNKNOWN] = ker_unknown,
#define KERCALL(number, NAME, handler, ...) [number] = ker_##handler,
#include "abi/kercalls.def"
#undef KERCALL
};

#define KERCALL(number, NAME, handler, flags, ...) \
    _Static_assert((number) < UNKNOWN && (flags) <= NOLOCK, "kernel call " #NAME);
#include "abi/kercalls.def"
#undef KERCALL

#pragma GCC diagnostic pop

long ker_nop(struct thread *self, const uintptr_t *args)
{
    (void)self;
    (void)args;
    return 0;
}

/* Executes the next part of a call that returned KER_AGAIN: the lock is already held. */
long kercall_invoke(struct thread *self)
{
    kernel_assert(kernel_locked());
    kernel_assert(self == arch_cpu()->current && self->state == STATE_RUNNING);
    long result = handlers[self->call](self, self->args);

    return result == KER_LOCK ? ker_trace_event_locked(self, self->args) : result;
}

/* Handles special results. All are rare except KER_BLOCKED. */
void kercall_special(struct thread *self, long result)
{
    struct cpu *cpu = arch_cpu();

    if (result == KER_LOCK) {
        result = ker_trace_event_locked(self, self->args);
        if (result > KER_BLOCKED) {
            kercall_finish(self, result);
            return;
        }
    }
    if (result == KER_AGAIN) {
        self->flags |= THREAD_AGAIN;
    }
    if (result != KER_STATUS) {
        cpu->resched = 1; /* blocked, ended, or yields */
    }
}

/* Resumes self if no other work is pending. Lock held. */
static inline struct thread *kercall_leave(struct thread *self)
{
    struct cpu *cpu = arch_cpu();

    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        kercall_trace_exit(self);
    }
    if (unlikely(cpu->trace.exit_work | cpu->resched)) {
        return exit_locked(cpu);
    }
    kernel_assert(self->state == STATE_RUNNING);
    kernel_unlock();
    return self;
}

/* Ends the call of next, which runs: its exit event may set pending work. */
static __attribute__((noinline)) struct thread *kercall_next_traced(struct cpu *cpu,
                                                                    struct thread *next)
{
    kercall_trace_exit(next);
    if (unlikely(cpu->trace.exit_work | cpu->resched)) {
        return exit_locked(cpu);
    }
    kernel_assert(next->state == STATE_RUNNING);
    kernel_unlock();
    return next;
}

/* Run pending work first: it may terminate self. */
__attribute__((noinline)) struct thread *kercall_blocked(struct thread *self)
{
    struct cpu *cpu = arch_cpu();

    if (unlikely(cpu->trace.exit_work)) {
        cpu->resched = 1;
        return exit_locked(cpu);
    }
    struct thread *next = sched_switch(cpu, self);
    if (!next && !cpu->resched) {
        return exit_idle_first(cpu);
    }
    if (!next || (next->flags & THREAD_AGAIN) || cpu->trace.exit_work) {
        return exit_locked(cpu);
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        return kercall_next_traced(cpu, next);
    }
    kernel_assert(next->state == STATE_RUNNING);
    kernel_unlock();
    return next;
}

struct thread *kercall_done(struct thread *self, long result)
{
    kercall_finish(self, result);
    return kercall_leave(self);
}

static inline struct thread *kercall_result(struct thread *self, long result)
{
    if (likely(result > KER_BLOCKED)) {
        kercall_finish(self, result);
        return kercall_leave(self);
    }
    if (result == KER_BLOCKED) {
        return kercall_blocked(self);
    }
    kercall_special(self, result);
    return exit_locked(arch_cpu());
}

__attribute__((noinline)) struct thread *kercall_leave_working(void)
{
    kernel_lock();
    return exit_locked(arch_cpu());
}

__attribute__((noinline)) struct thread *kercall_leave_traced(struct thread *self)
{
    kercall_trace_exit(self);
    return unlikely(trace_port_cpu()->exit_work) ? kercall_leave_working() : self;
}

/* Executes a call that needs no lock: takes the lock only if the call asks for it, or if the exit
 * has work. */
static struct thread *kercall_unlocked(struct thread *self, unsigned number)
{
    self->step = 0;
    long result = handlers[number](self, self->args);

    if (result <= KER_BLOCKED) {
        kernel_lock();
        return kercall_result(self, result);
    }
    kercall_finish(self, result);
    return kercall_leave_unlocked(self);
}

struct thread *kercall_general(struct thread *self, unsigned number)
{
    return CONFIG_CPUS == 1 ? kercall_held(self, number) : kercall_unlocked(self, number);
}

struct thread *kercall_held(struct thread *self, unsigned number)
{
    kernel_assert(kernel_locked());
    self->step = 0;
    return kercall_result(self, handlers[number](self, self->args));
}

struct thread *kercall_locked(struct thread *self, unsigned number)
{
    self->step = 0;
    kernel_lock();
    return kercall_result(self, handlers[number](self, self->args));
}

struct thread *kercall_held_reading(struct thread *self, unsigned number)
{
    struct cpu *cpu = arch_cpu();

    if (CONFIG_CPUS == 1 || likely(!cpu->kept)) {
        return kercall_held(self, number);
    }
    kernel_assert(kernel_locked());
    self->step = 0;
    cpu->kept_for = self->proc;
    long result = handlers[number](self, self->args);
    cpu->kept_for = NULL;
    cpu->kept = 0;
    return kercall_result(self, result);
}

static struct thread *kercall_locked_reading(struct thread *self, unsigned number)
{
    kernel_lock();
    return kercall_held_reading(self, number);
}

/* The entry path of a call, by number. */
typedef struct thread *(*kercall_way)(struct thread *self, unsigned number);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static kercall_way ways[KERCALL_MAX] = {
    /* [k] written by kercall_use_direct() */
    [0 ... UNKNOWN] = kercall_locked,
#include "kernel/entry/kercall_reads.h"
#define NONE 0
#define KERCALL(number, NAME, handler, flags, reads, ...) \
    [number] = CONFIG_CPUS == 1    ? kercall_held \
               : (flags) == NOLOCK ? kercall_unlocked \
               : (reads)           ? kercall_locked_reading \
                                   : kercall_locked,
#include "abi/kercalls.def"
#undef KERCALL
#undef NONE
    [KER_MSG_SENDV] = msg_direct_send,   [KER_MSG_RECEIVEV] = msg_direct_receive,
    [KER_MSG_REPLYV] = msg_direct_reply, [KER_TIMER_TIMEOUT] = msg_direct_timeout,
    [KER_TRACE_EVENT] = trace_quick,
};
#pragma GCC diagnostic pop

void kercall_use_direct(bool on)
{
    static const struct {
        unsigned number;
        kercall_way direct, general;
    } calls[] = {{KER_MSG_SENDV, msg_direct_send, kercall_locked},
                 {KER_MSG_RECEIVEV, msg_direct_receive, kercall_locked},
                 {KER_MSG_REPLYV, msg_direct_reply, kercall_locked},
                 {KER_TIMER_TIMEOUT, msg_direct_timeout, kercall_locked_reading},
                 {KER_TRACE_EVENT, trace_quick, kercall_unlocked}};

    for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        kercall_way general = CONFIG_CPUS == 1 ? kercall_held : calls[i].general;

        __atomic_store_n(&ways[calls[i].number], on ? calls[i].direct : general, __ATOMIC_RELAXED);
    }
    arch_calls_direct(on);
}

/* The slow path of the entry's event, for uncommon words or an uncommon state of the log. A
 * separate function because it makes calls. */
static __attribute__((noinline)) struct thread *kernel_call_traced_any(struct thread *self,
                                                                       unsigned number)
{
    kercall_trace_enter(self);
    return ways[number](self, number);
}

static __attribute__((noinline)) struct thread *
kernel_call_traced_unusual(struct thread *self, uint32_t code, uint32_t d1, uint32_t d2)
{
    trace_log2_code(code, d1, d2);
    return ways[self->call](self, self->call);
}

static __attribute__((noinline)) struct thread *kernel_call_traced(struct thread *self,
                                                                   unsigned number)
{
    const struct kercall_quick *q = &kercall_quick[number];
    uint32_t d1, d2;

    if (unlikely(!kercall_quick_enter(self, q, number, &d1, &d2))) {
        return kernel_call_traced_any(self, number);
    }
    if (unlikely(!trace_log2_usual(q->code >> TRACE_CLASS_SHIFT, q->code, d1, d2))) {
        return kernel_call_traced_unusual(self, q->code, d1, d2);
    }
    return ways[number](self, number);
}

/* A separate function so that the common case contains only a branch. */
static __attribute__((noinline)) struct thread *kernel_call_unknown(struct thread *self)
{
    return kernel_call(self, UNKNOWN);
}

struct thread *kernel_call(struct thread *self, unsigned number)
{
    kernel_assert(self == arch_cpu()->current && self->state == STATE_RUNNING);
    if (unlikely(number > UNKNOWN)) {
        return kernel_call_unknown(self);
    }
    self->call = (uint8_t)number;
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter)) {
        return exit_to(kernel_call_traced(self, number));
    }
    return exit_to(ways[number](self, number));
}
