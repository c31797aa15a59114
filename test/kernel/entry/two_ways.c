/* SPDX-License-Identifier: BSD-2-Clause */
/* See two_ways.h. */
#include "test/kernel/entry/two_ways.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cpu.h"
#include "kernel/thread/sched.h"
#include "test/kernel/world/world.h"

#define BLOCK 256

/* What the linker lays around data and bss. */
extern char __data_start[], _end[];

static struct region {
    char *at;
    size_t bytes;
    char *before, *after;
} regions[3];
/* Not among the memory that is brought back. */
static struct kept {
    struct fake_event events[FAKE_RECORDED]; /* the slow way's */
    unsigned n;
    unsigned called;      /* the number of the call that is compared */
    void (*others)(void); /* what they do in the window */
} * kept;

void ways_begin(void)
{
    kept = malloc(sizeof(*kept));
    assert(kept);
    size_t ram_bytes;
    char *ram = world_ram(&ram_bytes), *behind = ram + ram_bytes;

    regions[0] = (struct region){.at = __data_start, .bytes = (size_t)(ram - __data_start)};
    regions[1] = (struct region){.at = ram, .bytes = ram_bytes};
    regions[2] = (struct region){.at = behind, .bytes = (size_t)(_end - behind)};
    for (unsigned i = 0; i < 3; i++) {
        regions[i].before = malloc(regions[i].bytes);
        regions[i].after = malloc(regions[i].bytes);
        assert(regions[i].before);
        assert(regions[i].after);
    }
}

/* Of all RAM only up to the last mapping, which is rarely far after the first. */
static void regions_limit(void)
{
    uintptr_t end = 0, at = (uintptr_t)regions[1].at;

    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot++) {
        const struct process *proc = process_in_slot(slot);
        for (unsigned i = 0; proc && i < proc->space.nmaps; i++) {
            const struct mapping *m = vm_nth(&proc->space, i);
            uintptr_t last = (uintptr_t)arch_phys_to_virt(m->phys) + m->len;
            end = last > end ? last : end;
        }
    }
    regions[1].bytes = end > at ? end - at : 0;
}

/* Objects that are free are poisoned, and are copied like the others; by a loop, for memcpy() would
 * complain. */
#define RAW \
    __attribute__((no_sanitize("address", "undefined"), \
                   optimize("O3", "no-tree-loop-distribute-patterns"))) static

RAW void copy(char *restrict to, const char *restrict from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = from[i];
    }
}

RAW bool same(const char *a, const char *b, size_t bytes)
{
    char differ = 0;

    for (size_t i = 0; i < bytes; i++) {
        differ |= a[i] ^ b[i];
    }
    return !differ;
}

static bool is_member(const char *at, size_t offset, size_t bytes)
{
    size_t from = (size_t)(at - (const char *)thread_table);

    return from < sizeof(thread_table) && from % sizeof(struct thread) - offset < bytes;
}
#define IS_MEMBER(at, m) \
    is_member(at, offsetof(struct thread, m), sizeof(((struct thread *)NULL)->m))
#define IS(at, object) ((size_t)((at) - (const char *)&(object)) < sizeof(object))

/* The long way looks at the quantum of a thread that is about to wait, if who it wakes is its
 * equal: needless, if who runs then has no equals. */
static bool is_quantum(const char *at)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        const struct thread *t = cpus[n].current;
        if (IS(at, cpus[n].quantum_end) || IS(at, cpus[n].timer_at) || IS(at, fake_timer_at[n])) {
            return kept->called != KER_MSG_REPLYV && cpus[n].quantum_end == UINT64_MAX &&
                   !(t && has_equal(&cpus[n], t));
        }
    }
    return false;
}

/* A timer that a call's exit serves has aborted a wait. The event of that, which only the long way
 * has on, is made when the thread continues. */
static bool is_pending_event(const char *at, char long_way)
{
    const uint8_t pending = THREAD_ABORTED | THREAD_AGAIN;

    return IS_MEMBER(at, flags) && (uint8_t)(*at ^ long_way) == pending &&
           ((uint8_t)long_way & pending) == pending;
}

/* The fast path makes the one part that a call names a direct buffer before it knows whether the
 * call fails for another reason. When the call is over, nobody reads its arguments any more. */
static bool is_argument_of_the_past(const char *at)
{
    if (!IS_MEMBER(at, args)) {
        return false;
    }
    const struct thread *t = &thread_table[(size_t)(at - (const char *)thread_table) / sizeof(*t)];
    return !thread_waits(t) && !(t->flags & THREAD_AGAIN);
}

/* A call whose words are in registers says what its message is before it has the lock. If it fails,
 * its thread runs on, or is READY: another one came first. */
static bool is_message_of_the_past(const char *at)
{
    if (!world_in_registers ||
        !(IS_MEMBER(at, srcmsglen) || IS_MEMBER(at, dstmsglen) || IS_MEMBER(at, buffer))) {
        return false;
    }
    const struct thread *t = &thread_table[(size_t)(at - (const char *)thread_table) / sizeof(*t)];
    return t->state == STATE_RUNNING || (t->state == STATE_READY && !(t->flags & THREAD_AGAIN));
}

static bool differs_always(const char *at)
{
    return is_argument_of_the_past(at) || is_message_of_the_past(at) ||
           IS(at, world_in_registers) || IS(at, world_registers_sent) ||
           IS(at, world_registers_replied) || IS_MEMBER(at, step) || IS(at, fake_events_off) ||
           IS(at, fake_log_only) || IS(at, fake_events) || IS(at, fake_record) ||
           IS(at, fake_trace_cpu.none) || IS(at, fake_recorded) || is_quantum(at) ||
           (IS(at, arch_cpu()->handoff_front) && !arch_cpu()->handoff);
}

/* Besides, what is there only for events: the fast path had them off. */
static bool differs_without_events(const char *at, char long_way)
{
    return is_pending_event(at, long_way) || IS_MEMBER(at, call) || IS_MEMBER(at, result) ||
           IS_MEMBER(at, result_error) || IS(at, fake_trace_cpu);
}

static bool may_differ(const char *at, char long_way)
{
    return differs_always(at) || (fake_events_off && differs_without_events(at, long_way));
}

RAW void compare_bytes(const char *at, const char *after, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != after[i] && !may_differ(at + i, after[i])) {
            size_t in_threads = (size_t)(at + i - (const char *)thread_table);
            broken("%p (thread_table + %zu * %zu + %zu): long %#x, short %#x",
                   (const void *)(at + i), in_threads / sizeof(struct thread),
                   sizeof(struct thread), in_threads % sizeof(struct thread), after[i], at[i]);
        }
    }
}

static void compare(const struct region *r)
{
    for (size_t i = 0; i < r->bytes; i += BLOCK) {
        size_t n = r->bytes - i < BLOCK ? r->bytes - i : BLOCK;
        if (!same(r->at + i, r->after + i, n)) {
            compare_bytes(r->at + i, r->after + i, n);
        }
    }
}

unsigned ways_compare_events(void)
{
    size_t bytes = kept->n * sizeof(kept->events[0]);

    if (fake_recorded == kept->n && memcmp(kept->events, fake_record, bytes) == 0) {
        return kept->n;
    }
    for (unsigned i = 0; i < kept->n || i < fake_recorded; i++) {
        const struct fake_event *a = &kept->events[i], *b = &fake_record[i];
        fprintf(stderr, "slow %#x %u %u %u (%#x), fast %#x %u %u %u (%#x)\n", a->what, a->words[0],
                a->words[1], a->words[2], a->seen, b->what, b->words[0], b->words[1], b->words[2],
                b->seen);
    }
    broken("slow: %u events, fast: %u", kept->n, fake_recorded);
}

static unsigned forget(struct fake_event *events, unsigned n, bool (*which)(uint32_t what))
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++) {
        if (!which(events[i].what)) {
            events[left++] = events[i];
        }
    }
    return left;
}

void ways_forget_events(bool (*which)(uint32_t what))
{
    kept->n = forget(kept->events, kept->n, which);
    fake_recorded = forget(fake_record, fake_recorded, which);
}

void ways_forget_seen(void)
{
    for (unsigned i = 0; i < kept->n; i++) {
        kept->events[i].seen = 0;
    }
    for (unsigned i = 0; i < fake_recorded; i++) {
        fake_record[i].seen = 0;
    }
}

static void keep(size_t offset)
{
    for (unsigned i = 0; i < 3; i++) {
        char *to = *(char **)(void *)((char *)&regions[i] + offset);
        copy(to, regions[i].at, regions[i].bytes);
    }
}

void ways_keep_before(void)
{
    regions_limit();
    keep(offsetof(struct region, before));
}

void ways_keep_after(void)
{
    keep(offsetof(struct region, after));
    kept->n = fake_recorded;
    memcpy(kept->events, fake_record, kept->n * sizeof(kept->events[0]));
}

void ways_back(void)
{
    for (unsigned i = 0; i < 3; i++) {
        copy(regions[i].at, regions[i].before, regions[i].bytes);
    }
    fake_pools_poison();
}

void ways_compare(unsigned number)
{
    kept->called = number;
    for (unsigned i = 0; i < 3; i++) {
        compare(&regions[i]);
    }
}

/* ---- another CPU before the lock ---------------------------------------------------- */

/* The lock is free before and afterwards. */
static bool act_before_lock(void)
{
    kept->others();
    return true;
}

static void act_in_spin(void)
{
    uint32_t waits = kernel_lock_word;

    fake_irq_window = NULL;
    fake_lock_kept = false;
    kernel_lock_word = 0;
    kept->others();
    kernel_lock_word = waits & ~KERNEL_LOCK_HELD;
}

static bool act_while_waiting(void)
{
    fake_irq_window = act_in_spin;
    kernel_lock_word = 1;
    return false;
}

void ways_window(bool waits, void (*others)(void))
{
    kept->others = others;
    fake_before_lock = waits ? act_while_waiting : act_before_lock;
}
