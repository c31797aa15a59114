/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h. */
#include "kernel/arch/entry.h"
#include "test/kernel/world/world.h"
#include "trace/interrupt.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernel/entry/exit.h"
#include "kernel/intr/intr.h"
#include "kernel/sync/sync.h"
#include "kernel/thread/sched.h"
#include "kernel/thread/thread.h"

#define RAM_BYTES (4u << 20)

static _Alignas(4096) char ram[RAM_BYTES];
static size_t ram_left;          /* when no process is there */
static bool inside[CONFIG_CPUS]; /* in the kernel */
void (*world_where)(void);

static void online(unsigned n)
{
    cpus[n].online = true;
    cpus_online |= 1u << n;
    cpu_request(&cpus[n], WORK_RESCHED);
}

/* Never after the piece before: so each entry is its own to the address sanitizer. */
static void *table_piece(void *at, size_t bytes)
{
    bool none = at || (fake_memory_short && fake_memory_short());

    return none ? NULL : calloc(1, bytes);
}

void world_boot_one(void)
{
    table_init(sizeof(ram), NULL, table_piece);
    phys_init((paddr_t)ram, sizeof(ram));
    thread_init();
    process_init();
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
        cpus[n].others = ~cpus[n].bit;
        cpus[n].idle = thread_create_idle(kernel_process, n);
        cpus[n].idle->state = STATE_READY;
        fake_timer_at[n] = UINT64_MAX;
    }
    timer_init();
    sched_init();
    channel_init();
    sync_init();
    ram_left = phys_available();
    online(0);
    world_settle();
}

void world_other_cpus(void)
{
    for (unsigned n = 1; n < CONFIG_CPUS; n++) {
        online(n);
    }
    world_settle();
}

void world_boot(void)
{
    world_boot_one();
    world_other_cpus();
}

int world_group(void **state)
{
    (void)state;
    world_boot();
    return 0;
}

void *world_ram(size_t *bytes)
{
    *bytes = sizeof(ram);
    return ram;
}

/* Runs a way into the kernel on the current CPU until it comes out, or the CPU idles. */
static void enter(struct thread *(*way)(struct thread *, unsigned), struct thread *t, unsigned n)
{
    jmp_buf here, *outer = fake_idle;
    unsigned cpu = fake_cpu;
    if (inside[cpu] || kernel_lock_word) {
        broken("the test enters the kernel where it can't");
    }
    fake_idle = &here;
    inside[cpu] = true;
    if (setjmp(here) == 0) {
        struct thread *next = way(t, n);
        if (next != cpus[fake_cpu].current || next->state != STATE_RUNNING) {
            broken("the kernel resumes a thread that isn't running");
        }
    } else if (cpus[fake_cpu].current) {
        broken("idle, but there is a current thread");
    }
    inside[cpu] = false;
    fake_idle = outer;
    if (kernel_lock_word) {
        broken("left the kernel with its lock");
    }
}

bool world_inside(unsigned cpu)
{
    return inside[cpu];
}

static struct thread *way_exit(struct thread *t, unsigned unused)
{
    (void)unused;
    return kernel_exit(t);
}

static void (*way_what)(void *arg);
static void *way_arg;

static struct thread *way_do(struct thread *unused, unsigned n)
{
    (void)unused;
    kernel_lock();
    way_what(way_arg);
    return exit_locked(&cpus[n]);
}

bool world_in_registers;
unsigned long world_registers_sent, world_registers_replied;

/* What the entry code of such a port does. */
static struct thread *call_send(const uintptr_t *args, struct thread *t)
{
    struct kernel_sent sent = kernel_call_send(args[0], args[1], args[2], args[3], args[4], t);

    if (sent.rcvid != 0) {
        world_registers_sent++;
        arch_context_set_result(sent.next, (long)sent.rcvid, 0);
    }
    return sent.next;
}

static struct thread *call_reply(const uintptr_t *args, struct thread *t)
{
    if (!kernel_call_reply(args[0], args[1], args[2], args[3], 0, t)) {
        return kernel_call(t, KER_MSG_REPLYV);
    }
    world_registers_replied++;
    arch_context_set_result(t, 0, 0);
    return t;
}

static struct thread *way_call(struct thread *t, unsigned number)
{
    if (world_in_registers && fake_calls_direct) {
        switch (number) {
        case KER_MSG_SENDV:
            return call_send(t->args, t);
        case KER_MSG_RECEIVEV:
            return kernel_call_receive(t->args[0], t->args[1], t->args[2], t->args[3], 0, t);
        case KER_MSG_REPLYV:
            return call_reply(t->args, t);
        }
    }
    return kernel_call(t, number);
}

bool world_step(unsigned n)
{
    unsigned self = fake_cpu;
    bool any = false;
    if (inside[n]) {
        return false;
    }
    fake_cpu = n;
    if (fake_ipis >> n & 1) {
        fake_ipis &= ~(1u << n);
        intr_ipi(0, 0, false);
        any = true;
    }
    if (cpus[n].trace.exit_work | cpus[n].resched) {
        enter(way_exit, cpus[n].current, 0);
        any = true;
    }
    fake_cpu = self;
    return any;
}

void world_do(unsigned n, void (*what)(void *arg), void *arg)
{
    unsigned self = fake_cpu;
    if (cpus[n].current) {
        cpus[n].current->call = THREAD_CALL_NONE;
    }
    way_what = what;
    way_arg = arg;
    fake_cpu = n;
    enter(way_do, NULL, n);
    fake_cpu = self;
}

bool world_settled(void)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (inside[n] || (cpus[n].trace.exit_work | cpus[n].resched)) {
            return false;
        }
    }
    return true;
}

void world_settle(void)
{
    bool any;
    do {
        any = false;
        for (unsigned n = 0; n < CONFIG_CPUS; n++) {
            any |= world_step(n);
        }
    } while (any);
}

int world_cpu_of(const struct thread *t)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (cpus[n].current == t) {
            return (int)n;
        }
    }
    return -1;
}

struct birth {
    struct process *proc; /* NULL: to be made */
    int ppid, priority;
    uint32_t ability;
    size_t data;
    struct thread *t;
    int error;
};

static int map(const struct birth *b)
{
    struct mapping rw = {.len = b->data, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct mapping ro = {.len = 4096, .flags = KYMO_PROT_READ};
    int error = vm_map(b->proc, &rw);
    return error ? error : vm_map(b->proc, &ro);
}

static void birth(void *arg)
{
    struct birth *b = arg;
    struct process *new = NULL;
    const struct _thread_attr attr = {.priority = b->priority,
                                      .policy = SCHED_RR,
                                      .runmask = ~0u,
                                      .stackaddr = (void *)(uintptr_t)FAKE_VADDR,
                                      .stacksize = 64};
    if (!b->proc) {
        b->error = process_create("test", b->ppid, b->ability, &new);
        b->proc = new;
        b->error = b->error ? b->error : map(b);
    }
    if (!b->error) {
        b->error = thread_create(b->proc, cpus[0].idle, 0, 0, &attr, &b->t);
    }
    if (!b->error) {
        thread_start(b->t);
    } else if (new) {
        process_leave_parent(new);
        process_end(new, 0);
    }
}

int world_spawn(unsigned cpu, int ppid, uint32_t ability, int priority, size_t data)
{
    struct birth b = {.ppid = ppid, .ability = ability, .priority = priority, .data = data};
    world_do(cpu, birth, &b);
    return b.error;
}

static struct thread *born(struct birth b)
{
    world_do(0, birth, &b);
    world_settle();
    return b.t;
}

struct thread *world_process(uint32_t ability, int priority, size_t data)
{
    return born((struct birth){.ability = ability, .priority = priority, .data = data});
}

struct thread *world_child(const struct thread *of, uint32_t ability, int priority, size_t data)
{
    return born((struct birth){
        .ppid = of->proc->pid, .ability = ability, .priority = priority, .data = data});
}

struct thread *world_thread(struct thread *of, int priority)
{
    return born((struct birth){.proc = of->proc, .priority = priority});
}

void *world_at(const struct thread *t, uintptr_t addr)
{
    void *p = vm_user_ptr(t->proc, addr, 1, KYMO_PROT_READ);
    if (!p) {
        broken("the test uses an address that isn't mapped");
    }
    return p;
}

long world_result(struct thread *t)
{
    /* A result may be set before its time: the kernel is free to, while the thread waits. */
    if (!t->ctx.returned || (t->state != STATE_RUNNING && t->state != STATE_READY)) {
        return BLOCKED;
    }
    return t->ctx.error ? -t->ctx.error : t->ctx.value;
}

void world_enter(struct thread *t, unsigned number, const uintptr_t args[6])
{
    int cpu = world_cpu_of(t);
    unsigned self = fake_cpu;
    if (cpu < 0) {
        broken("thread %d of process %d should run, but is in state %u", t->tid, t->proc->pid,
               t->state);
    }
    fake_cpu = (unsigned)cpu;
    for (int i = 0; i < 6; i++) {
        t->args[i] = args[i];
    }
    t->ctx.returned = false;
    enter(way_call, t, number);
    fake_cpu = self;
}

long world_call(struct thread *t, unsigned number, const uintptr_t args[6])
{
    struct process *proc = t->proc;
    int pid = proc->pid, tid = t->tid;
    world_enter(t, number, args);
    world_settle();
    world_check();
    if (proc->pid != pid || proc->threads[thread_slot(tid)] != t) {
        return 0; /* it ended */
    }
    return world_result(t);
}

void world_tick(unsigned n)
{
    unsigned self = fake_cpu;
    if (fake_timer_at[n] > fake_now) {
        return;
    }
    fake_timer_at[n] = UINT64_MAX;
    fake_cpu = n;
    intr_timer(FAKE_TIMER_IRQ, 0, inside[n]);
    fake_cpu = self;
}

void world_advance(uint64_t ns)
{
    uint64_t until = fake_now + clock_ns_to_cycles(ns);
    for (;;) {
        unsigned next = 0;
        for (unsigned n = 1; n < CONFIG_CPUS; n++) {
            next = fake_timer_at[n] < fake_timer_at[next] ? n : next;
        }
        if (fake_timer_at[next] > until) {
            break;
        }
        fake_now = fake_timer_at[next] > fake_now ? fake_timer_at[next] : fake_now;
        world_tick(next);
        world_settle();
        world_check();
    }
    fake_now = until > fake_now ? until : fake_now;
}

void world_interrupt(unsigned cpu, unsigned irq)
{
    if (fake_irq_masked >> irq & 1) {
        return;
    }
    fake_cpu = cpu;
    intr_entry(irq, 0, false);
    world_settle();
    world_check();
}

/* ---- the end of the trace's hook --------------------------------------------------- */

bool fake_hook_detached;
void (*fake_hook_goes)(void);

void trace_hook_detached(void)
{
    if (fake_hook_goes) {
        fake_hook_goes();
    }
    fake_hook_detached = true;
}

void user_sites_follow(void)
{
}

/* ---- ends -------------------------------------------------------------------------- */

/* As by a thread of the highest priority, which waits: else a process may go on for long beside
 * those that have the CPUs. */
static void killing(void *arg)
{
    struct process *proc = arg;

    process_end(proc, KYMO_SIGKILL);
    if (proc->pid && proc->dying && !proc->zombie) {
        process_end_hurry(proc, PRIORITY_MAX);
    }
}

void world_kill(struct process *proc)
{
    world_do(0, killing, proc);
    world_settle();
    world_check();
}

void world_end(void)
{
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        if (process_in_slot(slot) && !process_in_slot(slot)->zombie) {
            world_kill(process_in_slot(slot));
        }
    }
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        if (process_in_slot(slot)) {
            broken("process %d of %d, %u threads, doesn't end", process_in_slot(slot)->pid,
                   process_in_slot(slot)->ppid, process_in_slot(slot)->nthreads);
        }
    }
    if (fake_pools_used() != kernel_process->nthreads) {
        broken("%u objects are left", fake_pools_used() - kernel_process->nthreads);
    }
    if (fake_maps) {
        broken("%u calls have ended without giving back their memory", fake_maps);
    }
    if (phys_available() != ram_left) {
        broken("%zu bytes of memory are left", ram_left - phys_available());
    }
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (timer_nth(n, 0) || cpus[n].current) {
            broken("CPU %u still has timers or a thread", n);
        }
    }
    for (unsigned line = 0; line < INTR_LINES; line++) {
        if (intr_lines[line]) {
            broken("interrupt %u is still attached", line);
        }
    }
}

int world_teardown(void **state)
{
    (void)state;
    world_end();
    return 0;
}

bool fake_held;

void trace_interrupt_hold(void)
{
    kernel_assert(!fake_held);
    fake_held = true;
}

void trace_interrupt_release(void)
{
    kernel_assert(fake_held);
    fake_held = false;
}

bool trace_interrupt_waits(void)
{
    return false;
}
