/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the fake port, and stand-ins for the parts of the kernel that are not linked
 * (programs, names, tracing, host files). kernel/base/pool.c is replaced by one that poisons what
 * is free, so that AddressSanitizer sees any use of it.
 */
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "abi/errno.h"
#include "abi/sys/log.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/coroutine.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/kercall.h"
#include "kernel/entry/entry.h"
#include "kernel/entry/exit.h"
#include "kernel/base/pool.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/retain.h"
#include "kernel/program/spawn.h"
#include "kernel/entry/kercall_quick.h"
#include "kernel/observe/trace_dump.h"
#include "test/kernel/world/world.h"
#include "trace/stamp.h"
#include "trace/trace.h"

unsigned fake_cpu;
uint64_t fake_now = 1;
bool fake_clock_stands;
bool fake_events_off;
bool fake_calls_direct = true;
bool fake_log_only;
uint64_t fake_hz = FAKE_HZ;
uint32_t fake_ipis;
uint64_t fake_timer_at[CONFIG_CPUS];
uint32_t fake_irq_masked = ~0u;
jmp_buf *fake_idle;
void (*fake_before_cas)(volatile uint32_t *p);
void (*fake_before_unmask)(unsigned irq);
void (*fake_irq_window)(void);
void (*fake_lock_window)(void);
bool fake_lock_wanted;
bool (*fake_memory_short)(void);
bool (*fake_before_lock)(void);
bool fake_lock_kept;
static bool passed; /* fake_lock_window() has been called since the lock was let go */
unsigned fake_events[FAKE_EVENTS];
unsigned fake_errors[KERCALL_MAX][FAKE_ERRORS];
void (*fake_site)(unsigned id, const uint64_t *words);
void (*fake_enter_hook)(struct thread *t);
void (*fake_result_hook)(const struct thread *t, int error);

struct cpu *fake_this_cpu(void)
{
    return &cpus[fake_cpu];
}

void fake_lock_taken(volatile uint32_t *lock)
{
    if (*lock) {
        broken("the kernel lock is taken twice");
    }
    *lock = fake_lock_wanted ? 1 | 1u << 23 : 1; /* a CPU that is none */
    passed = false;
}

bool fake_lock_is_free(void)
{
    bool (*others)(void) = fake_before_lock;

    fake_before_lock = NULL;
    fake_lock_kept = !others();
    return !fake_lock_kept;
}

/* A CPU waits for the others: let them serve what it asked for, or, if it has let the lock go for
 * their sake, take it. */
void fake_spin(void)
{
    unsigned self = fake_cpu;
    if (kernel_lock_word == 0) {
        if (fake_lock_window && !passed) {
            passed = true;
            fake_lock_window();
        }
        return;
    }
    for (fake_cpu = 0; fake_cpu < CONFIG_CPUS; fake_cpu++) {
        if (fake_cpu != self) {
            cpu_ipi();
        }
    }
    fake_cpu = self;
}

void fake_result(const struct thread *t, int error)
{
    if (error < 0 || error >= FAKE_ERRORS || t->call >= KERCALL_MAX) {
        broken("call %u of thread %d ends with error %d", t->call, t->tid, error);
    }
    fake_errors[t->call][error]++;
    if (fake_result_hook) {
        fake_result_hook(t, error);
    }
}

/* ---- memory: granules of 256 bytes; a process's mappings follow each other without a gap ---- */

int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align)
{
    (void)flags;
    *rounded = (len + FAKE_GRANULE - 1) & ~(size_t)(FAKE_GRANULE - 1);
    *align = FAKE_GRANULE;
    return *rounded < len ? -ENOMEM : 0;
}

int arch_aspace_create(struct arch_aspace *as)
{
    as->next = FAKE_VADDR;
    return 0;
}

void arch_aspace_destroy(struct arch_aspace *as)
{
    as->next = 0;
}

int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others)
{
    (void)others;
    m->vaddr = as->next;
    as->next += m->len;
    return 0;
}

void arch_clear(void *at, size_t len)
{
    memset(at, 0, len);
}

void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m)
{
    (void)as;
    memset(arch_phys_to_virt(m->phys), 0xdb, m->len);
}

void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    (void)as;
    (void)m;
}

void arch_text_sync(const void *start, size_t len)
{
    (void)start;
    (void)len;
}

void arch_aspace_refresh(struct process *proc)
{
    (void)proc;
}

/* ---- threads, interrupts, time ----------------------------------------------------- */

int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t low,
                      uintptr_t high, uintptr_t ret, uintptr_t tls)
{
    (void)func;
    (void)arg;
    (void)ret;
    (void)tls;
    return high > low && vm_user_ptr(t->proc, low, high - low, KYMO_PROT_WRITE) ? 0 : -EFAULT;
}

void arch_context_redirect(struct thread *t, uintptr_t func)
{
    (void)t;
    (void)func;
}

uintptr_t arch_context_ip(const struct thread *t)
{
    (void)t;
    return FAKE_VADDR;
}

uintptr_t arch_context_sp(const struct thread *t)
{
    return t->stack_low;
}

void arch_context_allow_ports(struct thread *t)
{
    (void)t;
}

void arch_context_drop(struct thread *t)
{
    (void)t;
}

unsigned arch_irq_count(void)
{
    return 40;
}

void arch_irq_mask(unsigned irq)
{
    fake_irq_masked |= 1u << (irq & 31);
}

void arch_irq_unmask(unsigned irq)
{
    if (fake_before_unmask) {
        fake_before_unmask(irq);
    }
    fake_irq_masked &= ~(1u << (irq & 31));
}

bool arch_irq_reserved(unsigned irq)
{
    return irq == FAKE_TIMER_IRQ || irq >= 32;
}

void arch_timer_set(uint64_t cycles)
{
    fake_timer_at[fake_cpu] = cycles;
}

uint64_t arch_wall_clock(void)
{
    return 0;
}

uint64_t arch_clock_hz(void)
{
    return fake_hz;
}

void arch_ipi(uint32_t mask)
{
    fake_ipis |= mask;
}

void arch_irq_window(void)
{
    if (fake_irq_window) {
        fake_irq_window();
    }
}

void arch_wait_for_interrupt(struct cpu *cpu)
{
    if (kernel_lock_word) {
        broken("idle with the kernel lock");
    }
    if (!cpu->trace.exit_work) {
        longjmp(*fake_idle, 1);
    }
}

/* ---- pools that poison what is free ------------------------------------------------ */

static struct pool *pools[8];
static unsigned npools;

struct fake_pool {
    char *objects;
    bool grows; /* it has no table */
    bool ready; /* there is memory for the next object */
    bool used[256];
};
static struct fake_pool contents[8];

/* A thread's place is looked at while it is free: its process, state and rcvid. */
static size_t open_bytes(const struct pool *pool)
{
    return pool->size == sizeof(struct thread) ? offsetof(struct thread, step) : 0;
}

static void poison(const struct pool *pool, char *object)
{
    size_t open = (open_bytes(pool) + 7) & ~(size_t)7;
    memset(object + open, 0xa5, pool->size - open);
    ASAN_POISON_MEMORY_REGION(object + open, pool->size - open);
}

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count)
{
    *pool = (struct pool){.free = &contents[npools], .size = size, .count = count};
    contents[npools] = (struct fake_pool){.grows = !objects};
    contents[npools].objects = objects = objects ? objects : calloc(count, size);
    pools[npools++] = pool;
    for (unsigned i = 0; i < count; i++) {
        poison(pool, (char *)objects + i * size);
    }
}

bool pool_ready(struct pool *pool)
{
    struct fake_pool *c = pool->free;
    if (pool->used == pool->count) {
        return false;
    }
    if (c->grows && !c->ready) {
        c->ready = !fake_memory_short || !fake_memory_short();
        return c->ready;
    }
    return true;
}

void *pool_alloc(struct pool *pool)
{
    struct fake_pool *c = pool->free;
    if (!pool_ready(pool)) {
        return NULL;
    }
    c->ready = false;
    for (unsigned i = 0; i < pool->count; i++) {
        if (!c->used[i]) {
            c->used[i] = true;
            pool->used++;
            ASAN_UNPOISON_MEMORY_REGION(c->objects + i * pool->size, pool->size);
            return memset(c->objects + i * pool->size, 0, pool->size);
        }
    }
    return NULL;
}

void *pool_alloc_charged(struct pool *pool, struct quota *quota, enum kymo_limit kind)
{
    return quota_charge(quota, kind, 1) ? table_charged(pool_alloc(pool), quota, kind) : NULL;
}

void pool_free(struct pool *pool, void *object)
{
    struct fake_pool *c = pool->free;
    size_t i = (size_t)((char *)object - c->objects) / pool->size;
    if (!c->used[i]) {
        broken("freed twice");
    }
    c->used[i] = false;
    pool->used--;
    poison(pool, object);
}

void fake_pools_poison(void)
{
    for (unsigned i = 0; i < npools; i++) {
        size_t size = pools[i]->size, open = (open_bytes(pools[i]) + 7) & ~(size_t)7;
        for (unsigned n = 0; n < pools[i]->count; n++) {
            char *object = contents[i].objects + n * size;
            ASAN_UNPOISON_MEMORY_REGION(object, size);
            if (!contents[i].used[n]) {
                ASAN_POISON_MEMORY_REGION(object + open, size - open);
            }
        }
    }
}

unsigned fake_pool_used(unsigned count)
{
    unsigned n = 0;
    for (unsigned i = 0; i < npools; i++) {
        n += pools[i]->count == count ? pools[i]->used : 0;
    }
    return n;
}

unsigned fake_pools_used(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < npools; i++) {
        n += pools[i]->used;
    }
    return n;
}

/* ---- messages ---------------------------------------------------------------------- */

void broken(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fflush(stdout);
    fprintf(stderr, "FAILED: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    if (world_where) {
        world_where();
    }
    abort();
}

uintptr_t fake_masked;
unsigned fake_maps; /* fake_map.c */

void (*fake_putc)(char c);

void arch_console_putc(char c)
{
    if (fake_putc) {
        fake_putc(c);
    }
}

bool arch_console_ready(void)
{
    return true;
}

int kprintf(const char *fmt, ...)
{
    (void)fmt;
    return 0;
}

void kernel_panic(const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    broken("kernel_panic: %s", text);
    abort();
}

/* ---- parts that are not there ------------------------------------------------------ */

/* world_check() follows each call. */
void kernel_check_sometimes(void)
{
}

uint32_t kernel_stack_bytes(unsigned n)
{
    (void)n;
    return 8192;
}

/* In steps: 7192 bytes of 8192 are untouched on CPU 0, one less on each further one. */
bool kernel_stack_look(unsigned n, uint32_t most, uint32_t *unused)
{
    uint32_t untouched = 8192 - (1000 + n);

    *unused = untouched - *unused > most ? *unused + most : untouched;
    return *unused == untouched;
}

/* An event is counted, whatever it says: the generated functions log it here. */
struct trace_filter trace_filter = {
    .int_on = {[0 ... TRACE_INT_EVENTS - 1] = {[0 ... TRACE_BITS(TRACE_INTERRUPTS) - 1] = ~0u}}};

struct fake_event fake_record[FAKE_RECORDED];
unsigned fake_recorded;

static uint32_t what_d_sees(void)
{
    const struct thread *runs = cpus[fake_cpu].current;
    uint32_t sum = runs ? runs->index + 1u : 0;

    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = thread_by_index(i);
        sum = sum * 31 + (t ? t->state : STATE_MAX);
    }
    return sum;
}

static void record(uint32_t what, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4)
{
    uint32_t seen = fake_log_only ? 0 : what_d_sees();

    if (fake_recorded < FAKE_RECORDED) {
        fake_record[fake_recorded++] = (struct fake_event){what, {d1, d2, d3, d4}, seen};
    }
}

static void count_event(uint32_t code, uint32_t d1, uint32_t d2)
{
    record(code, d1, d2, 0, 0);
    switch (code) {
#define EVENT(name, CLASS, number, ...) \
    case TRACE_CLASS_##CLASS << TRACE_CLASS_SHIFT | number: \
        fake_events[TRACE_EV_##name]++; \
        break;
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
    default:
        broken("unknown event %#x", code);
    }
}

struct args {
    bool big;
    const char *text;
};
#define has_high_half(value) ((void)(value), false)
#define code_fits(value) ((void)(value), true)
#define put32(a, value) (void)(value)
#define put64(a, value) (void)(value)
#define put_pointer(a, value) (void)(value)
#define put_code(a, value) (void)(value)
#define log_args(class, event, a) ((void)(a), count_event(class << TRACE_CLASS_SHIFT | event, 0, 0))
#define log_long log_args
#include "build/gen/trace_emit.inc.h"

/* Everything is logged, nothing is probed. */
uint32_t trace_site_logged[TRACE_BITS(TRACE_EV_COUNT)] = {[0 ... TRACE_BITS(TRACE_EV_COUNT) - 1] =
                                                              ~0u};
uint32_t trace_site_probed[TRACE_BITS(TRACE_EV_COUNT)];

void trace_user_text_words(uint32_t event, uint32_t *words, unsigned n)
{
    count_event(TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, words[0], n);
}

void trace_user_combine_words(uint32_t event, uint32_t *words, unsigned n)
{
    count_event(TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, words[0], n);
}

long trace_user_combine(uint32_t event, const uint32_t *words, unsigned nwords)
{
    count_event(TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, words[0], nwords);
    return 0;
}

long trace_user_probe(const uint32_t *words, unsigned nwords)
{
    return trace_user_combine(KYMO_LOG_SYSTEM_CODE, words, nwords);
}

void trace_port_fire(unsigned id, const uint64_t *words)
{
    if (id < TRACE_EV_EVENTS) {
        broken("site %u is probed", id);
    }
    record(FAKE_SITE + id, (uint32_t)words[0], (uint32_t)words[1], (uint32_t)words[2],
           (uint32_t)words[3]);
    if (fake_site) {
        fake_site(id, words);
    }
}

/* Of kernel calls there is no common case. */
uint8_t trace_kercall_modes[3 * KERCALL_MAX];
const struct kercall_quick kercall_quick[KERCALL_MAX];

long_call_part *fake_long_call;
long (*fake_call)(struct thread *self, const uintptr_t *args);

long ker_dtrace(struct thread *self, const uintptr_t *args)
{
    return fake_call        ? fake_call(self, args)
           : fake_long_call ? long_call(self, fake_long_call)
                            : -ENOSYS;
}

long fault_continue(struct thread *self)
{
    broken("fault of thread %d", (int)self->tid);
}

/* The kernel's stack, and that of a long call. */
static ucontext_t contexts[2];
static char long_stack[256 << 10] __attribute__((aligned(16)));

void arch_long_stack(uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)long_stack;
    *high = *low + sizeof(long_stack);
}

/* A stack pointer is 1 for the kernel's stack, 2 for the long call's. */
uintptr_t arch_coroutine_begin(uintptr_t top, void (*entry)(void))
{
    (void)top;
    getcontext(&contexts[1]);
    contexts[1].uc_stack.ss_sp = long_stack;
    contexts[1].uc_stack.ss_size = sizeof(long_stack);
    makecontext(&contexts[1], entry, 0);
    return 2;
}

void arch_coroutine_switch(uintptr_t *from, uintptr_t to)
{
    unsigned here = to == 2 ? 0 : 1;

    *from = here + 1;
    swapcontext(&contexts[here], &contexts[1 - here]);
}

void dtrace_raise_now(const struct cpu *cpu)
{
    (void)cpu;
}

void dtrace_sample_now(struct cpu *cpu)
{
    (void)cpu;
}

bool dtrace_process_gone(struct process *proc)
{
    (void)proc;
    return false;
}

/* Short events are logged at their sites: with a clock that stands at 0 they all come to
 * trace_log_time(), else all but the kernel calls' to fake_put(). */
struct trace_cpu fake_trace_cpu = {.cursor = &fake_trace_cpu.none[1]};
uint64_t fake_trace_clock;

void fake_trace_common(bool wide_states)
{
    fake_trace_clock = 1;
    fake_trace_cpu.wrap = UINT64_MAX;
    fake_trace_cpu.limit = fake_trace_cpu.none + FAKE_RECORDED;
    trace_filter.state_fast = wide_states ? 0 : UINT32_MAX;
    trace_filter.state_long = wide_states ? UINT32_MAX : 0;
}

void fake_trace_uncommon(void)
{
    fake_trace_clock = 0;
    trace_filter.state_fast = trace_filter.state_long = 0;
}

static bool is_state(uint32_t code)
{
    return TRACE_GET_CLASS(code) == TRACE_CLASS_PR_TH && TRACE_GET_EVENT(code) < STATE_MAX;
}

struct trace_slot *fake_put(struct trace_slot *slot, uint32_t header, uint32_t d1, uint32_t d2)
{
    if (!is_state(header)) {
        count_event(header, d1, d2);
    } else if (TRACE_GET_STRUCT(header) == TRACE_STRUCT_S) {
        record(FAKE_STATE + TRACE_GET_EVENT(header), d1, d2, 0, 0);
    } else if (TRACE_GET_STRUCT(header) == TRACE_STRUCT_CE) {
        record(FAKE_STATE + TRACE_GET_EVENT(header), slot->d1, slot->d2, d1, d2);
    }
    slot->d1 = d1;
    slot->d2 = d2;
    return slot;
}

void trace_log_limit(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t what)
{
    (void)d1;
    (void)d2;
    (void)now;
    broken("event %#x at the limit", TRACE_PACKED_CODE(what));
}

void trace_log_time(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t what)
{
    (void)now;
    count_event(TRACE_PACKED_CODE(what), d1, d2);
}

/* What D's probes have for a time is test/trace's affair. */
uintptr_t trace_stamp_begin(void)
{
    return 0;
}

void trace_stamp_take(void)
{
}

void trace_stamp_end(uintptr_t irq)
{
    (void)irq;
}

void trace_emit_thread_state(uint32_t state, uint32_t pid, uint32_t tid, uint32_t priority,
                             uint32_t policy)
{
    if (state >= STATE_MAX || pid == 0 || tid == 0 || priority > 255) {
        broken("bad thread state event");
    }
    record(FAKE_STATE + state, pid, tid, priority, policy);
    fake_events[TRACE_EV_thread_state]++;
}

void trace_log4(uint32_t code, const uint32_t words[4])
{
    if (!is_state(code)) {
        broken("event %#x is wide", code);
    }
    record(FAKE_STATE + TRACE_GET_EVENT(code), words[0], words[1], words[2], words[3]);
    fake_trace_cpu.count[TRACE_GET_CLASS(code)]++;
}
void kercall_trace_enter(struct thread *self)
{
    record(FAKE_ENTER + self->call, (uint32_t)self->pid, (uint32_t)self->tid, 0, 0);
    if (fake_enter_hook) {
        fake_enter_hook(self);
    }
}
/* As the real one, once for each call. */
void kercall_trace_exit(struct thread *self)
{
    if (self->call != THREAD_CALL_NONE) {
        record(FAKE_EXIT + self->call, (uint32_t)self->pid, (uint32_t)self->tid,
               (uint32_t)self->result, (uint32_t)self->result_error);
        self->call = THREAD_CALL_NONE;
    }
}
void kercall_trace_int(struct thread *self)
{
    (void)self;
    fake_events[TRACE_EV_kercall_int]++;
}
void kercall_trace_aborted(struct thread *t)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_int)) {
        fake_events[TRACE_EV_kercall_int]++;
    }
    (void)t;
}
void trace_kernel_exit(void)
{
}
bool trace_process_gone(struct process *proc)
{
    (void)proc;
    return false;
}
void trace_process_forgotten(struct process *proc)
{
    (void)proc;
}
void observe_thread_ended(struct thread *t)
{
    (void)t;
}
void retain_process_ended(struct process *proc)
{
    (void)proc;
}
void retain_thread(const struct thread *t)
{
    (void)t;
}
bool host_process_gone(struct process *proc)
{
    (void)proc;
    return false;
}

ABSENT(trace_event)
ABSENT(trace_event_locked)
ABSENT(image_read)
ABSENT(host_call)
ABSENT(system_ctl)
ABSENT(syspage_read)
