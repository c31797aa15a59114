/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h. */
#include "test/unit_ipc/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/abi/errno.h"
#include "kernel/exit.h"
#include "kernel/intr.h"
#include "kernel/sched.h"
#include "kernel/thread_end.h"

#define RAM_BYTES (4u << 20)

static _Alignas(4096) char ram[RAM_BYTES];
const char *world_doing = "";

void world_boot(void)
{
    phys_init((paddr_t)ram, sizeof(ram));
    thread_init();
    process_init();
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].idle = thread_create_idle(kernel_process, n);
        cpus[n].idle->state = STATE_READY;
    }
    timer_init();
    sched_init();
    channel_init();
    sync_init();
    intr_init();
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].online = true;
        cpus_online |= 1u << n;
        cpu_request(&cpus[n], WORK_RESCHED);
    }
    world_settle();
}

/* Runs a way into the kernel on the current CPU until it comes out, or the CPU idles. */
static void enter(struct thread *(*way)(struct thread *, unsigned), struct thread *t, unsigned n)
{
    if (setjmp(fake_idle) == 0) {
        struct thread *next = way(t, n);
        if (next != cpus[fake_cpu].current || next->state != STATE_RUNNING) {
            fail("the kernel resumes a thread that isn't running");
        }
    } else if (cpus[fake_cpu].current) {
        fail("idle, but there is a current thread");
    }
    if (kernel_lock_word) {
        fail("left the kernel with its lock");
    }
}

static struct thread *way_exit(struct thread *t, unsigned unused)
{
    (void)unused;
    return kernel_exit(t);
}

static struct thread *way_call(struct thread *t, unsigned number)
{
    return kernel_call(t, number);
}

void world_settle(void)
{
    bool any;
    unsigned self = fake_cpu;
    do {
        any = false;
        for (fake_cpu = 0; fake_cpu < CONFIG_CPUS; fake_cpu++) {
            fake_ipis &= ~(1u << fake_cpu);
            cpu_ipi();
            struct cpu *cpu = &cpus[fake_cpu];
            if (cpu->work | cpu->resched) {
                enter(way_exit, cpu->current, 0);
                any = true;
            }
        }
    } while (any || fake_ipis);
    fake_cpu = self;
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

static struct thread *start(struct process *proc, int priority, uintptr_t stack)
{
    struct thread *t;
    const struct _thread_attr attr = {.priority = priority,
                                      .policy = SCHED_RR,
                                      .runmask = ~0u,
                                      .stackaddr = (void *)stack,
                                      .stacksize = 64};
    fake_cpu = 0;
    kernel_lock();
    int error = thread_create(proc, cpus[0].idle, 0, 0, &attr, &t);
    if (!error) {
        thread_start(t);
        cpus[0].resched = 1;
    }
    kernel_unlock();
    world_settle();
    return error ? NULL : t;
}

struct thread *world_process(uint32_t ability, int priority, size_t data)
{
    struct process *proc;
    struct mapping rw = {.len = data, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct mapping ro = {.len = 4096, .flags = KYMO_PROT_READ};
    if (process_create("test", 0, ability, &proc) != 0) {
        return NULL;
    }
    if (vm_map(proc, &rw) != 0 || vm_map(proc, &ro) != 0) {
        fail("no memory for a process");
    }
    struct thread *t = start(proc, priority, FAKE_VADDR);
    if (!t) {
        process_end(proc, 0);
    }
    return t;
}

struct thread *world_thread(struct thread *of, int priority)
{
    return start(of->proc, priority, FAKE_VADDR);
}

void *world_at(const struct thread *t, uintptr_t addr)
{
    void *p = vm_user_ptr(t->proc, addr, 1, KYMO_PROT_READ);
    if (!p) {
        fail("the test uses an address that isn't mapped");
    }
    return p;
}

long world_result(struct thread *t)
{
    if (!t->ctx.returned) {
        return BLOCKED;
    }
    return t->ctx.error ? -t->ctx.error : t->ctx.value;
}

long world_call(struct thread *t, unsigned number, const uintptr_t args[6])
{
    int cpu = world_cpu_of(t);
    struct process *proc = t->proc;
    int pid = proc->pid, tid = t->tid;
    if (cpu < 0) {
        fail("thread %d of process %d should run, but is in state %u", tid, pid, t->state);
    }
    fake_cpu = (unsigned)cpu;
    for (int i = 0; i < 6; i++) {
        t->args[i] = args[i];
    }
    t->ctx.returned = false;
    enter(way_call, t, number);
    world_settle();
    world_check();
    if (proc->pid != pid || proc->threads[tid - 1] != t) {
        return 0; /* it ended */
    }
    return world_result(t);
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
        fake_timer_at[next] = UINT64_MAX;
        fake_cpu = next;
        intr_timer(FAKE_TIMER_IRQ, 0, false);
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

void world_kill(struct process *proc)
{
    fake_cpu = 0;
    kernel_lock();
    process_end(proc, KYMO_SIGKILL);
    kernel_unlock();
    world_settle();
    world_check();
}

void world_where(void)
{
    fprintf(stderr, "while: %s\n", world_doing);
}
