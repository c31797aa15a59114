/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a D clause sees of the kernel and of the thread that fired the probe: the rest of the seam
 * trace/d/port.h. While a probe fires: any context, own CPU, interrupts masked, no lock; so what
 * other CPUs may change is read once and checked. Tested by test/boot's suite d.
 */
#include "trace/d/port.h"

#include "kernel/arch.h"
#include "kernel/d/d.h"
#include "kernel/process.h"
#include "kernel/retain.h"
#include "kernel/string.h"
#include "trace/d/control.h"
#include "trace/log.h"
#include "trace/trace.h"
#include "trace/trigger.h"

enum { STACK_MOST = 64 };

unsigned d_port_cpu_count(void)
{
    return arch_cpu_count();
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static const struct thread *user_thread(bool user)
{
    const struct cpu *cpu = arch_cpu();

    return user ? cpu->current : NULL;
}

bool d_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    const struct thread *t = user_thread(user);

    if (address > UINTPTR_MAX || (user && !t)) {
        return false;
    }
    return arch_peek(to, (uintptr_t)address, bytes, t);
}

/* arch_peek() refuses all that is. */
bool d_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)address;
    (void)bytes;
    (void)user;
    return false;
}

bool d_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    const struct thread *t = user_thread(true);

    return t && address <= UINTPTR_MAX && arch_poke((uintptr_t)address, from, bytes, t);
}

/* ---- the thread --------------------------------------------------------------------------------
 */

uint64_t d_port_vtimestamp(void)
{
    const struct cpu *cpu = arch_cpu();
    const struct thread *t = d_port_thread();

    return clock_cycles_to_ns(t->run_cycles + (arch_cycles() - cpu->since));
}

uint64_t d_port_walltimestamp(void)
{
    return clock_realtime_ns();
}

int32_t d_port_pid(void)
{
    return d_port_thread()->pid;
}

int32_t d_port_tid(void)
{
    return d_port_thread()->tid;
}

int32_t d_port_ppid(void)
{
    return d_port_thread()->proc->ppid;
}

/* There are no users. */
uint32_t d_port_uid(void)
{
    return 0;
}

uint32_t d_port_gid(void)
{
    return 0;
}

int32_t d_port_errno(void)
{
    return d_port_thread()->result_error;
}

uint32_t d_port_ipl(void)
{
    return 0;
}

uint64_t d_port_curthread(void)
{
    return (uintptr_t)d_port_thread();
}

bool d_port_descends(int32_t pid)
{
    int32_t ancestor = d_port_pid();

    for (unsigned i = 0; ancestor > 0 && i < CONFIG_PROCESSES; i++) {
        const struct process *proc = process_in_slot((unsigned)(ancestor - 1) % CONFIG_PROCESSES);
        if (ancestor == pid) {
            return true;
        }
        ancestor = proc && proc->pid == ancestor ? proc->ppid : 0;
    }
    return pid == 0;
}

const char *d_port_execname(void)
{
    return d_port_thread()->proc->name;
}

const char *d_port_execargs(void)
{
    return "";
}

/* ---- stacks ------------------------------------------------------------------------------------
 */

struct frames {
    uint64_t *to; /* NULL: count */
    unsigned n, max;
};

static void add_frame(struct frames *f, uintptr_t ip)
{
    if (f->to) {
        f->to[f->n] = ip;
    }
    f->n++;
}

static void found(uintptr_t ip, void *arg)
{
    struct frames *f = arg;

    if (f->n < f->max) {
        add_frame(f, ip);
    }
}

static void user_frames(struct frames *f)
{
    const struct thread *t = user_thread(true);

    if (t && f->max > 0) {
        add_frame(f, arch_context_ip(t));
        arch_backtrace(t, (int)f->max - 1, found, f);
    }
}

static void kernel_frames(struct frames *f)
{
    uintptr_t ips[STACK_MOST];
    const void *from = arch_cpu()->fired;
    unsigned n = from ? arch_kernel_stack(from, ips, STACK_MOST) : 0;

    for (unsigned i = 0; i < n && f->n < f->max; i++) {
        if (!d_fbt_made(ips[i])) {
            add_frame(f, ips[i]);
        }
    }
}

unsigned d_port_stack(bool user, uint64_t *to, unsigned max)
{
    struct frames f = {.to = to, .max = max};

    if (user) {
        user_frames(&f);
    } else {
        kernel_frames(&f);
    }
    return f.n;
}

uint64_t d_port_caller(bool user)
{
    uint64_t frames[2] = {0, 0};

    return d_port_stack(user, frames, 2) == 2 ? frames[1] : 0;
}

uint64_t d_port_register(bool user, unsigned n, bool *exists)
{
    (void)user;
    (void)n;
    *exists = false;
    return 0;
}

/* ---- the event log -----------------------------------------------------------------------------
 */

bool d_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                size_t size)
{
    return trace_log_words(TRACE_CLASS_D, number,
                           &(struct trace_words){words, nwords, bytes, (unsigned)size});
}

void d_port_notes(uint32_t id, const void *bytes, uint32_t n)
{
    retain_note(id, bytes, n);
}

bool d_port_logging(void)
{
    return trace_running();
}

bool d_port_log_room(void)
{
    return trace_dump_room();
}

int32_t d_port_next_process(int32_t after, struct kymo_d_process *out)
{
    int32_t next = 0;

    for (unsigned i = 0; i < CONFIG_PROCESSES; i++) {
        const struct process *proc = process_in_slot(i);
        if (proc && proc->pid > after && (next == 0 || proc->pid < next)) {
            next = proc->pid;
        }
    }
    return next && d_control_process(next, out) == 0 ? next : 0;
}

/* ---- across CPUs -------------------------------------------------------------------------------
 */

void d_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    cpu_run_on(1u << cpu, fn, arg);
}

/* xorshift64*, one state a CPU. */
uint64_t d_port_random(void)
{
    static uint64_t states[CONFIG_CPUS]; /* [c] */
    uint64_t *state = &states[d_port_cpu()];

    if (*state == 0) {
        *state = arch_cycles() << 8 | (d_port_cpu() + 1);
    }
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* ---- destructive -------------------------------------------------------------------------------
 */

/* There is no way to hold a process and let it go on. */
void d_port_stop_process(void)
{
}

void d_port_logstop(void)
{
    trace_trigger();
}

void d_port_panic(void)
{
    kernel_panic("panic() of a D program, pid %d", (int)d_port_pid());
}

void d_port_breakpoint(void)
{
    kernel_panic("breakpoint() of a D program, pid %d: there is no debugger", (int)d_port_pid());
}

void d_port_chill(uint64_t ns)
{
    uint64_t until = arch_cycles() + clock_ns_to_cycles(ns);

    while (arch_cycles() < until) {
        arch_spin_hint();
    }
}
