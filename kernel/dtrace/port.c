/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel and the thread in which a probe fires, as seen by a D clause: the rest of the port
 * trace/dtrace/port.h. While a probe fires: any context, own CPU, interrupts masked, no lock; so
 * data that other CPUs may change is read once and checked. Tested by test/board's suite d.
 */
#include "abi/sys/panic.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/stack.h"
#include "trace/dtrace/port.h"

#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/sample.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/observe.h"
#include "kernel/base/string.h"
#include "trace/dtrace/control.h"
#include "trace/log.h"
#include "trace/trace.h"
#include "trace/trigger.h"

enum { STACK_MOST = 64 };

unsigned dtrace_port_cpu_count(void)
{
    return arch_cpu_count();
}

/* ---- memory ------------------------------------------------------------------------ */

static const struct thread *user_thread(bool user)
{
    const struct cpu *cpu = arch_cpu();

    return user ? cpu->current : NULL;
}

/* Returns true for a sampled thread that is not the running one: its process's memory may not be
 * mapped. */
static bool out_of_reach(bool user)
{
    const struct sample *s = arch_cpu()->sampled;

    return user && (!arch_cpu()->current || (s && s->foreign));
}

bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    const struct thread *t = user_thread(user);

    if (address > UINTPTR_MAX || out_of_reach(user)) {
        return false;
    }
    return arch_peek(to, (uintptr_t)address, bytes, t);
}

/* Nothing has to be done: arch_peek() refuses all such memory. */
bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)address;
    (void)bytes;
    (void)user;
    return false;
}

bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    const struct thread *t = user_thread(true);

    return !out_of_reach(true) && address <= UINTPTR_MAX &&
           arch_poke((uintptr_t)address, from, bytes, t);
}

/* ---- the thread -------------------------------------------------------------------- */

uint64_t dtrace_port_vtimestamp(void)
{
    const struct cpu *cpu = arch_cpu();
    const struct thread *t = dtrace_port_thread();

    if (cpu->sampled && cpu->sampled->elsewhere) {
        return clock_cycles_to_ns(t->run_cycles);
    }
    return clock_cycles_to_ns(t->run_cycles + (arch_cycles() - cpu->since));
}

uint64_t dtrace_port_walltimestamp(void)
{
    return clock_realtime_ns();
}

int32_t dtrace_port_pid(void)
{
    return dtrace_port_thread()->pid;
}

int32_t dtrace_port_tid(void)
{
    return dtrace_port_thread()->tid;
}

int32_t dtrace_port_ppid(void)
{
    return dtrace_port_thread()->proc->ppid;
}

int32_t dtrace_port_errno(void)
{
    return dtrace_port_thread()->result_error;
}

uint32_t dtrace_port_ipl(void)
{
    return arch_in_interrupt();
}

uint64_t dtrace_port_curthread(void)
{
    return (uintptr_t)dtrace_port_thread();
}

/* The most generations that progenyof() looks back: it runs in probe context. */
#define ANCESTORS_MOST (CONFIG_PROCESSES < 64 ? CONFIG_PROCESSES : 64)

COLD bool dtrace_port_descends(int32_t pid)
{
    int32_t ancestor = dtrace_port_pid();

    for (unsigned i = 0; ancestor > 0 && i < ANCESTORS_MOST; i++) {
        const struct process *proc = process_in_slot((unsigned)(ancestor - 1) % CONFIG_PROCESSES);
        if (ancestor == pid) {
            return true;
        }
        ancestor = proc && proc->pid == ancestor ? proc->ppid : 0;
    }
    return pid == 0;
}

/* ---- any process and thread -----------------------------------------------------------
 *
 * Other CPUs may change both meanwhile: both are in tables that are never freed, ids are compared
 * before and, where it matters, after a word is read. */

static const struct process *process_of(int32_t pid)
{
    const struct process *proc =
        pid > 0 ? process_in_slot((unsigned)(pid - 1) % CONFIG_PROCESSES) : NULL;

    return proc && proc->pid == pid ? proc : NULL;
}

/* The name stays in the table until another process takes the slot. */
COLD const char *dtrace_port_pidname(int32_t pid)
{
    const struct process *proc = process_of(pid);

    if (proc) {
        return proc->name;
    }
    if (pid > 0 && process_ended_in_slot((unsigned)(pid - 1) % CONFIG_PROCESSES, &proc) == pid) {
        return proc->name;
    }
    return "";
}

static const struct thread *port_thread_of(const struct process *proc, int32_t tid)
{
    unsigned i = tid == 0 ? 0 : thread_slot(tid);
    const struct thread *t;

    do {
        t = proc->threads[i];
    } while (!t && tid == 0 && ++i < CONFIG_THREADS_PER_PROCESS);
    return t && t->pid == proc->pid && (tid == 0 || t->tid == tid) ? t : NULL;
}

static uint64_t life_of(const struct thread *t)
{
    enum { SLEEPS = 1, RUNS_NEXT, ENDED, STOPPED, RUNS = 6 };

    switch (t->state) {
    case STATE_DEAD:
        return ENDED;
    case STATE_RUNNING:
        return RUNS;
    case STATE_READY:
        return RUNS_NEXT;
    case STATE_STOPPED:
        return STOPPED;
    default:
        return SLEEPS;
    }
}

static uint64_t port_waits_for(const struct thread *t)
{
    switch (t->state) {
    case STATE_SEND:
    case STATE_RECEIVE:
    case STATE_REPLY:
        return (uintptr_t)t->channel;
    case STATE_MUTEX:
    case STATE_CONDVAR:
    case STATE_SEM:
        return t->sync;
    default:
        return 0;
    }
}

static uint64_t port_flags_of(const struct thread *t)
{
    uint64_t life = life_of(t);

    return (t->flags & THREAD_DETACHED ? DTRACE_LWP_DETACH : 0u) |
           (life == 1 ? DTRACE_LWP_ASLEEP : 0u) | (life == 4 ? DTRACE_LWP_STOPPED : 0u);
}

static uint64_t thread_word(const struct thread *t, uint32_t word)
{
    switch (word) {
    case DTRACE_LWPINFO_STATE:
        return t->state;
    case DTRACE_LWPINFO_LIFE:
        return life_of(t);
    case DTRACE_LWPINFO_PRIORITY:
        return t->priority;
    case DTRACE_LWPINFO_POLICY:
        return t->policy;
    case DTRACE_LWPINFO_CALL:
        return t->call == THREAD_CALL_NONE ? 0 : t->call;
    case DTRACE_LWPINFO_CPU:
        return t->cpu;
    case DTRACE_LWPINFO_WCHAN:
        return port_waits_for(t);
    case DTRACE_LWPINFO_FLAGS:
        return port_flags_of(t);
    default:
        return 0;
    }
}

COLD uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word)
{
    const struct process *proc = process_of(pid);

    if (!proc) {
        return 0;
    }
    switch (word) {
    case DTRACE_LWPINFO_PPID:
        return (uint64_t)proc->ppid;
    case DTRACE_LWPINFO_THREADS:
        return proc->nthreads;
    case DTRACE_LWPINFO_ADDRESS:
        return (uintptr_t)proc;
    default:
        break;
    }
    const struct thread *t = port_thread_of(proc, tid);
    uint64_t value = t ? thread_word(t, word) : 0;

    return t && t->pid == pid ? value : 0;
}

const char *dtrace_port_execname(void)
{
    return dtrace_port_thread()->proc->name;
}

const char *dtrace_port_execargs(void)
{
    return "";
}

/* ---- stacks ------------------------------------------------------------------------ */

struct frames {
    uint64_t *to; /* NULL: only counts */
    unsigned n, max;
};

static void add_frame(struct frames *f, uintptr_t ip)
{
    if (f->to) {
        f->to[f->n] = ip;
    }
    f->n++;
}

static void port_found(uintptr_t ip, void *arg)
{
    struct frames *f = arg;

    if (f->n < f->max) {
        add_frame(f, ip);
    }
}

static void user_frames(struct frames *f)
{
    const struct thread *t = user_thread(true);
    struct unwind_frame here;

    if (t && f->max > 0 && arch_user_frame(t, &here)) {
        add_frame(f, here.pc);
        unwind_user(t, f->max - 1, port_found, f);
    }
}

/* Returns, for a sample, the interrupted instruction of the kernel and its callers. */
static unsigned sampled_frames(const struct sample *s, uintptr_t ips[STACK_MOST], unsigned max)
{
    const struct unwind_frame from = {.pc = s->ip, .sp = s->sp, .lr = s->lr, .live = true};
    const struct unwind_copy copy = {s->stack, s->sp, s->words};

    if (!s->in_kernel || max == 0) {
        return 0;
    }
    ips[0] = s->ip;
    return 1 + unwind_kernel_copy(&from, &copy, ips + 1, max - 1);
}

static void kernel_frames(struct frames *f)
{
    uintptr_t ips[STACK_MOST];
    const struct cpu *cpu = arch_cpu();
    uintptr_t fired = (uintptr_t)cpu->trace.fired;
    unsigned most = f->max < STACK_MOST ? f->max : STACK_MOST;
    unsigned n = cpu->sampled ? sampled_frames(cpu->sampled, ips, most)
                 : fired      ? unwind_kernel(NULL, fired, ips, most)
                              : 0;

    for (unsigned i = 0; i < n; i++) {
        add_frame(f, ips[i]);
    }
}

unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max)
{
    struct frames f = {.to = to, .max = max};

    if (user) {
        user_frames(&f);
    } else {
        kernel_frames(&f);
    }
    return f.n;
}

uint64_t dtrace_port_caller(bool user)
{
    uint64_t frames[2] = {0, 0};

    return dtrace_port_stack(user, frames, 2) == 2 ? frames[1] : 0;
}

/* The kernel's registers at a probe are not kept. */
COLD bool dtrace_port_register(bool user, unsigned n, uintptr_t *value)
{
    uintptr_t registers[KYMO_PANIC_REGISTERS];
    const struct thread *t = dtrace_port_thread();
    const bool known = user && t->proc != kernel_process && n < 8 * sizeof(uintptr_t) &&
                       arch_context_registers(t, registers) >> n & 1;

    if (known) {
        *value = registers[n];
    }
    return known;
}

/* ---- the event log ----------------------------------------------------------------- */

bool dtrace_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                     size_t size)
{
    return trace_log_words(TRACE_CLASS_D, number,
                           &(struct trace_words){words, nwords, bytes, (unsigned)size});
}

void dtrace_port_notes(uint32_t id, const void *bytes, uint32_t n)
{
    retain_note(id, bytes, n);
}

bool dtrace_port_logging(void)
{
    return trace_running();
}

bool dtrace_port_log_room(void)
{
    return trace_dump_room();
}

int32_t dtrace_port_next_process(int32_t after, struct kymo_d_process *out)
{
    const struct process *proc = process_any_at_least(after + 1);

    return proc && dtrace_control_process(proc->pid, out) == 0 ? proc->pid : 0;
}

/* ---- across CPUs ------------------------------------------------------------------- */

void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    cpu_run_on(1u << cpu, fn, arg);
}

/* A xorshift64* generator, one state per CPU. */
COLD uint64_t dtrace_port_random(void)
{
    static uint64_t states[CONFIG_CPUS]; /* [c] */
    uint64_t *state = &states[dtrace_port_cpu()];

    if (*state == 0) {
        *state = arch_cycles() << 8 | (dtrace_port_cpu() + 1);
    }
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* ---- destructive ------------------------------------------------------------------- */

/* Not supported: no process can be held and continued. */
void dtrace_port_stop_process(void)
{
}

void dtrace_port_logstop(void)
{
    trace_trigger();
}

COLD void dtrace_port_panic(void)
{
    kernel_panic("panic() of a D program, pid %d", (int)dtrace_port_pid());
}

COLD void dtrace_port_breakpoint(void)
{
    kernel_panic("breakpoint() of a D program, pid %d: there is no debugger",
                 (int)dtrace_port_pid());
}

COLD void dtrace_port_chill(uint64_t ns)
{
    uint64_t until = arch_cycles() + clock_ns_to_cycles(ns);

    while (arch_cycles() < until) {
        arch_spin_hint();
    }
}
