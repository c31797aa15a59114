/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The view that a clause has of a capture: the rest of the ports trace/dtrace/port.h and
 * trace/port.h. Nothing that check.c refuses is asked for here. See after.h.
 */
#include "host/after/after.h"

#include "abi/errno.h"
#include "trace/filter.h"
#include "trace/port.h"
#include "trace/ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_32BIT /* only some machines have it; others are no hosts of 32-bit targets' programs */
#define MAP_32BIT 0
#endif
#define ALLOC_MAX ((size_t)1 << 30)

static unsigned after_port_ncpus = 1;
unsigned trace_host_cpu;
unsigned trace_host_irq_depth;
uint32_t trace_host_remembered;
volatile uint8_t trace_host_sites[TRACE_EV_COUNT];

void after_port_cpus(unsigned n)
{
    after_port_ncpus = n;
}

/* ---- memory -------------------------------------------------------------------------- */

/* A program of a 32-bit target keeps addresses in 32 bits. */
void *dtrace_port_alloc(size_t bytes)
{
    void *block = bytes > ALLOC_MAX
                      ? MAP_FAILED
                      : mmap(NULL, bytes + !bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);

    return block == MAP_FAILED ? NULL : block;
}

void *dtrace_port_keep(size_t bytes)
{
    return dtrace_port_alloc(bytes);
}

void dtrace_port_free(void *block, size_t bytes)
{
    if (block) {
        munmap(block, bytes + !bytes);
    }
}

bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    if (user || !after_readable(address, bytes)) {
        return false;
    }
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)address;
    (void)bytes;
    (void)user;
    return false;
}

bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    (void)address;
    (void)from;
    (void)bytes;
    return false;
}

/* ---- the thread ---------------------------------------------------------------------- */

unsigned dtrace_port_cpu_count(void)
{
    return after_port_ncpus;
}

uint64_t dtrace_port_vtimestamp(void)
{
    return 0;
}

uint64_t dtrace_port_walltimestamp(void)
{
    return 0;
}

static const struct after_thread *port_thread(void)
{
    after_now.missed |= after_now.thread->pid == 0;
    return after_now.thread;
}

int32_t dtrace_port_pid(void)
{
    return port_thread()->pid;
}

int32_t dtrace_port_tid(void)
{
    return port_thread()->tid;
}

static int32_t after_port_parent_of(int32_t pid)
{
    const struct after_process *p = after_process_find(pid);

    return p ? p->ppid : 0;
}

int32_t dtrace_port_ppid(void)
{
    return after_port_parent_of(port_thread()->pid);
}

int32_t dtrace_port_errno(void)
{
    return after_now.error;
}

uint32_t dtrace_port_ipl(void)
{
    return 0;
}

uint64_t dtrace_port_curthread(void)
{
    return 0;
}

bool dtrace_port_descends(int32_t pid)
{
    int32_t ancestor = dtrace_port_pid();

    for (unsigned generation = 0; ancestor > 0 && generation < 64; generation++) {
        if (ancestor == pid) {
            return true;
        }
        ancestor = after_port_parent_of(ancestor);
    }
    return pid == 0;
}

const char *dtrace_port_pidname(int32_t pid)
{
    const struct after_process *p = pid > 0 ? after_process_find(pid) : NULL;

    return p ? p->name : "";
}

static uint64_t after_life_of(unsigned state)
{
    static const uint8_t lives[] = {3, 6, 2, 4}; /* DEAD, RUNNING, READY, STOPPED */

    return state < sizeof(lives) ? lives[state] : 1;
}

uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word)
{
    const struct after_thread *t = after_thread_find(pid, tid ? tid : 1);

    if (word == DTRACE_LWPINFO_PPID) {
        return (uint64_t)after_port_parent_of(pid);
    }
    if (!t) {
        return 0;
    }
    switch (word) {
    case DTRACE_LWPINFO_STATE:
        return t->state;
    case DTRACE_LWPINFO_LIFE:
        return after_life_of(t->state);
    case DTRACE_LWPINFO_PRIORITY:
        return t->priority < 0 ? 0 : (uint64_t)t->priority;
    case DTRACE_LWPINFO_POLICY:
        return t->policy < 0 ? 0 : (uint64_t)t->policy;
    case DTRACE_LWPINFO_CPU:
        return t->cpu;
    default:
        return 0;
    }
}

const char *dtrace_port_execname(void)
{
    return dtrace_port_pidname(port_thread()->pid);
}

const char *dtrace_port_execargs(void)
{
    return "";
}

uint64_t dtrace_port_caller(bool user)
{
    (void)user;
    return 0;
}

bool dtrace_port_register(bool user, unsigned n, uintptr_t *value)
{
    (void)user;
    (void)n;
    (void)value;
    return false;
}

unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max)
{
    unsigned n = user ? after_stack(after_now.thread, to, max) : 0;

    after_lost.stacks += n > 0;
    after_lost.no_stack += n == 0;
    return n;
}

/* ---- across CPUs --------------------------------------------------------------------- */

void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    unsigned before = after_now.cpu;
    struct after_thread *thread = after_now.thread;

    after_now.cpu = trace_host_cpu = cpu;
    after_now.thread = after_current(cpu);
    fn(arg);
    after_now.cpu = trace_host_cpu = before;
    after_now.thread = thread;
}

/* Random numbers are the same each time: the output of a capture is always the same. */
uint64_t dtrace_port_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

bool dtrace_port_is_kernel(const uint8_t *id, char *message)
{
    (void)id;
    (void)message;
    return true;
}

/* ---- destructive: refused before ------------------------------------------------------ */

void dtrace_port_logstop(void)
{
}

void dtrace_port_stop_process(void)
{
}

bool dtrace_port_raise(int signal)
{
    (void)signal;
    return false;
}

void dtrace_port_panic(void)
{
}

void dtrace_port_breakpoint(void)
{
}

void dtrace_port_chill(uint64_t ns)
{
    (void)ns;
}

/* ---- trace/port.h, as far as the providers on sites use it ---------------------------- */

struct trace_cpu *trace_port_cpu_at(unsigned cpu)
{
    static struct trace_cpu all[KEV_CPUS];

    return &all[cpu % KEV_CPUS];
}

void trace_site_probe(unsigned id, bool on)
{
    after_wanted[id] = on;
}

void trace_sites_settle(void)
{
}
