/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent(). An event of two words goes to the log without the kernel lock, because it has no
 * pointer; everything else takes the lock (KER_LOCK), under which a checked pointer stays valid.
 * trace/control.c defines the commands and most errors. This file adds EFAULT for bad pointers and
 * EINVAL for user events with more than 256 bytes.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "abi/sys/trace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/retain.h"
#include "kernel/observe/scratch.h"
#include "kernel/observe/observe.h"
#include "kernel/observe/trace_dump.h"
#include "kernel/base/cpu.h"
#include "trace/control.h"
#include "trace/trace.h"

_Static_assert(KYMO_TRACE_NAME_MAX == KYMO_NAME_MAX, "QUERYOWNER's name");

long ker_trace_event(struct thread *self, const uintptr_t *args)
{
    if (self->step == 0 && (uint32_t)args[0] == _NTO_TRACE_INSERTSUSEREVENT) {
        return trace_user_simple((uint32_t)args[1], (uint32_t)args[2], (uint32_t)args[3]);
    }
    if (self->step == 0 && (uint32_t)args[0] == _NTO_TRACE_INSERTSCLASSEVENT) {
        return trace_class_simple(process_able(self->proc, ABILITY_TRACE), (uint32_t)args[1],
                                  (uint32_t)args[2], args[3], args[4]);
    }
    if (self->step == 0 && (uint32_t)args[0] == _NTO_TRACE_INSERTEVENT) {
        return trace_raw_event(process_able(self->proc, ABILITY_TRACE),
                               (const uint32_t[4]){(uint32_t)args[1], (uint32_t)args[2],
                                                   (uint32_t)args[3], (uint32_t)args[4]});
    }
    return KER_LOCK;
}

/* at: the argument that points to the words; the next one is their number. */
static long insert_combine(struct thread *self, const uintptr_t *args, unsigned at)
{
    uint32_t words[KYMO_TRACE_USER_COMBINE_MAX / sizeof(uint32_t)];
    size_t n = args[at + 1];

    if (n > sizeof(words) / sizeof(words[0])) {
        return -EINVAL;
    }
    if (n && copy_in(self->proc, words, args[at], n * sizeof(words[0]))) {
        return -EFAULT;
    }
    if (at <= 2) {
        /* Makes the next words from this mapping take the fast path, like a text. */
        vm_cache_fill(&self->words_cache, self->proc, args[at], 1, KYMO_PROT_READ);
    }
    if (at == 1) {
        return trace_user_probe(words, (unsigned)n);
    }
    if (at == 2) {
        return trace_user_combine((uint32_t)args[1], words, (unsigned)n);
    }
    return trace_class_combine(process_able(self->proc, ABILITY_TRACE), (uint32_t)args[1],
                               (uint32_t)args[2], words, (unsigned)n);
}

/* Fills the cache: the next text from this mapping takes the fast path
 * (kernel/entry/trace_quick.c). */
static long insert_string(struct thread *self, const uintptr_t *args)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];
    long len = copy_in_string(self->proc, text, args[2], sizeof(text));

    if (len < 0) {
        return len == -ENAMETOOLONG ? -EINVAL : len;
    }
    vm_cache_fill(&self->text_cache, self->proc, args[2], 1, KYMO_PROT_READ);
    return trace_user_string((uint32_t)args[1], text, (unsigned)len + 1);
}

/* Returns the size of a command's answer, and the argument that points to its destination. */
static size_t answer_of(uint32_t cmd, const uintptr_t *args, uintptr_t *where)
{
    switch (cmd) {
    case _NTO_TRACE_ALLOCBUFFER:
    case KYMO_TRACE_ALLOCRETAINED:
        *where = args[2];
        return sizeof(uint64_t);
    case KYMO_TRACE_TAKEBUFFER:
        *where = args[1];
        return sizeof(struct kymo_trace_buffer);
    case KYMO_TRACE_QUERYLOSS:
        *where = args[2];
        return sizeof(struct kymo_trace_loss);
    case KYMO_TRACE_QUERYSTOPPED:
        *where = args[2];
        return sizeof(struct kymo_trace_stopped);
    case KYMO_TRACE_QUERYOWNER:
        *where = args[1];
        return sizeof(struct kymo_trace_owner);
    default:
        *where = 0;
        return 0;
    }
}

static struct trace_caller trace_calls_caller(const struct thread *self)
{
    return (struct trace_caller){self->proc, self->proc->pid, self->tid,
                                 process_able(self->proc, ABILITY_TRACE), self->proc->name};
}

static long trace_calls_set_gate(struct thread *self, const uintptr_t *args)
{
    static const uint32_t none[4];
    struct trace_caller caller = trace_calls_caller(self);
    struct trace_gate_request request = {.why = {0}};
    char name[KYMO_NAME_MAX];
    long error =
        args[1] && caller.able ? copy_in_string(self->proc, name, args[1], sizeof(name)) : 0;

    if (error < 0) {
        return error;
    }
    if (caller.able && !vm_user_ptr(self->proc, args[2], sizeof(request.why), KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    request.name = args[1] ? name : NULL;
    error = trace_control(&caller, KYMO_TRACE_SETGATE, none, &request);
    if (caller.able) {
        copy_out(self->proc, args[2], &request.why, sizeof(request.why));
    }
    return error;
}

static long trace_calls_control(struct thread *self, uint32_t cmd, const uintptr_t *args)
{
    struct trace_caller caller = trace_calls_caller(self);
    uint32_t words[4] = {(uint32_t)args[1], (uint32_t)args[2], (uint32_t)args[3],
                         (uint32_t)args[4]};
    uintptr_t where;
    size_t size = answer_of(cmd, args, &where);

    /* A caller without the ability gets EPERM, not EFAULT. */
    if (size && caller.able && !vm_user_ptr(self->proc, where, size, KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    trace_port_pay(cmd == _NTO_TRACE_ALLOCBUFFER ? self->proc : NULL);
    long result = trace_control(&caller, cmd, words, size ? &observe_scratch->answer : NULL);
    trace_port_pay(NULL);
    if (result >= 0 && size) {
        copy_out(self->proc, where, &observe_scratch->answer, size);
    }
    trace_dump_wake(); /* the command may have ended what a dump waits for */
    return result;
}

/* The remaining checks are made by ALLOCBUFFER; the port places the block. */
static long alloc_object(struct thread *self, const uintptr_t *args)
{
    const uintptr_t words[5] = {_NTO_TRACE_ALLOCBUFFER, args[1], args[2]};
    size_t count = args[1];

    if (!process_able(self->proc, ABILITY_TRACE)) {
        return -EPERM;
    }
    if (count < 2 || count > 1024) {
        return -EINVAL;
    }
    long result = object_offer(self->proc, args[3], count * arch_cpu_count() * TRACE_BUFFER_BYTES);
    if (result == 0) {
        result = trace_calls_control(self, _NTO_TRACE_ALLOCBUFFER, words);
        object_offer_end();
    }
    return result;
}

/* Executes the commands that control the trace, as a long call. */
static long trace_command(struct thread *self, const uintptr_t *args)
{
    uint32_t cmd = (uint32_t)args[0];

    switch (cmd) {
    case KYMO_TRACE_ALLOCOBJECT:
        return alloc_object(self, args);
    case KYMO_TRACE_QUERYRETAINED:
    case KYMO_TRACE_READRETAINED:
    case KYMO_TRACE_DROPRETAINED:
        return retain_command(self, cmd, args);
    case KYMO_TRACE_SETGATE:
        return trace_calls_set_gate(self, args);
    case KYMO_TRACE_USERSITES:
        return user_sites_register(self->proc, args[1], args[2]);
    default:
        break;
    }
    long result =
        trace_dump_is_over(self) ? trace_dump_stop(self) : trace_calls_control(self, cmd, args);
    user_sites_follow(); /* before the dump sets the call's next step, because it passes windows */
    if (result == TRACE_DUMP_WANTED || result == TRACE_DUMP_THEN_STOP) {
        return trace_dump_begin(self, result == TRACE_DUMP_THEN_STOP);
    }
    return result;
}

long ker_trace_event_locked(struct thread *self, const uintptr_t *args)
{
    kernel_assert(kernel_locked());
    if (self->step == LONG_CALL_STEP) {
        return long_call(self, trace_command);
    }
    if (self->step) {
        return trace_dump_continue(self, trace_command);
    }
    switch ((uint32_t)args[0]) {
    case _NTO_TRACE_INSERTCUSEREVENT:
        return insert_combine(self, args, 2);
    case _NTO_TRACE_INSERTCCLASSEVENT:
        return insert_combine(self, args, 3);
    case KYMO_TRACE_INSERTPROBE:
        return insert_combine(self, args, 1);
    case _NTO_TRACE_INSERTUSRSTREVENT:
        return insert_string(self, args);
    case KYMO_TRACE_USERWORD:
        return trace_user_word(self->proc, args[1]);
    default:
        trace_dump_none(self);
        return long_call(self, trace_command);
    }
}

static long trace_calls_end(struct thread *self, const uintptr_t *args)
{
    (void)args;
    trace_owner_gone(self->proc);
    trace_dump_wake();
    user_sites_follow();
    return 0;
}

/* Ends the buffers' ownership in its turn, because another process's command may be changing the
 * same data. */
bool trace_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked());
    bool owner = trace_state.log.owner == proc;

    if (!owner && !long_call_begun(proc->ender)) {
        trace_owner_gone(proc);
        trace_dump_wake();
    }
    return long_call_at_end(proc->ender, trace_calls_end, owner);
}
