/* SPDX-License-Identifier: BSD-2-Clause */
/* The seam under trace/ for unit tests. See fake_port.h. */
#include "test/trace/fake_port.h"

#include <stdlib.h>
#include <string.h>

#include "trace/control.h"
#include "abi/errno.h"
#include "trace/filter.h"
#include "trace/threads.h"
#include "trace/gate.h"
#include "test/trace/yield.h"

#define PAGE 4096
#define BLOCKS_MAX 8

struct fake fake;
unsigned trace_host_cpu;
unsigned trace_host_irq_depth;
uint32_t trace_host_remembered;
static const uint32_t nobody;
const uint32_t *volatile trace_port_skips[TRACE_EV_COUNT] = {[0 ... TRACE_EV_COUNT - 1] = &nobody};
volatile uint8_t trace_host_sites[TRACE_EV_COUNT];

_Alignas(PAGE) uint8_t fake_window[FAKE_WINDOW];
uint8_t fake_ram[FAKE_WINDOW];
static struct trace_cpu *const all_cpus = (struct trace_cpu *)(void *)(fake_window + FAKE_LIVE);
static struct block {
    void *at;
    size_t bytes;
} blocks[BLOCKS_MAX];

static void free_blocks(void)
{
    for (unsigned i = 0; i < BLOCKS_MAX; i++) {
        free(blocks[i].at);
        blocks[i].at = NULL;
    }
}

void fake_boot(unsigned count)
{
    struct trace_consumer log = {.ring_of = trace_state.log.ring_of,
                                 .begun = trace_state.log.begun};

    free_blocks();
    fake = (struct fake){.cpus = count, .tick = 1, .hook = true, .contiguous = 64 << 20};
    trace_host_cpu = trace_host_irq_depth = 0;
    trace_user_wanted = false;
    trace_filter_apply(false);
    memset(&trace_filter, 0, sizeof(trace_filter));
    trace_threads_clear();
    trace_state = (struct trace_state){.log = log};
    trace_init();
    for (unsigned cpu = 0; cpu < FAKE_CPUS; cpu++) {
        trace_cpu_init(&all_cpus[cpu], cpu);
        fake.clock[cpu] = 1000 + cpu;
    }
    fake.unsynced = false;
    fake.site_changes = 0;
}

void fake_pass(unsigned cpu, uint64_t cycles)
{
    struct fake_where back = fake_on(cpu);

    if (TRACE_PORT_CLOCK_BITS == 64) {
        fake.clock[cpu] += cycles;
        cycles = 0;
    }
    while (cycles > 0) {
        uint64_t part = cycles < 0x7fffff00 ? cycles : 0x7fffff00;
        uintptr_t irq = trace_port_irq_save();

        fake.clock[cpu] += part;
        cycles -= part;
        trace_clock_wrapped(&all_cpus[cpu]);
        trace_port_irq_restore(irq);
    }
    fake_back(back);
}

struct fake_where fake_on(unsigned cpu)
{
    struct fake_where where = {trace_host_cpu, trace_host_irq_depth};

    assert_true(cpu < fake.cpus);
    trace_host_cpu = cpu;
    trace_host_irq_depth = 0;
    return where;
}

void fake_back(struct fake_where where)
{
    assert_int_equal(trace_host_irq_depth, 0);
    trace_host_cpu = where.cpu;
    trace_host_irq_depth = where.irq_depth;
}

bool fake_exit_wanted(unsigned cpu)
{
    return trace_port_cpu_at(cpu)->exit_work != 0;
}

void fake_exit(void)
{
    if (fake_exit_wanted(trace_host_cpu)) {
        trace_port_cpu()->exit_work = 0;
        trace_kernel_exit();
    }
    assert_int_equal(trace_host_irq_depth, 0);
}

void fake_yield(const char *where)
{
    if (fake.yield) {
        fake.yield(where);
    }
}

/* ---- the seam ---------------------------------------------------------------------- */

uint64_t trace_host_clock(void)
{
    uint64_t now = fake.clock[trace_host_cpu];

    assert_true(trace_host_irq_depth > 0);
    fake.clock[trace_host_cpu] += fake.tick;
    fake.clock_reads++;
    if (fake.clock_hook) {
        fake.clock_hook();
    }
    return now;
}

unsigned trace_port_cpu_count(void)
{
    return fake.cpus;
}

struct trace_cpu *trace_port_cpu_at(unsigned cpu)
{
    assert_true(cpu < fake.cpus);
    return &all_cpus[cpu];
}

uint64_t trace_port_thread(void)
{
    return fake.thread[trace_host_cpu];
}

void *trace_port_alloc(size_t bytes, uint64_t *paddr)
{
    size_t rounded = (bytes + PAGE - 1) / PAGE * PAGE;
    unsigned i = 0;

    fake.allocs++;
    if (fake.fail_at && --fake.fail_at == 0) {
        return NULL;
    }
    if (rounded > fake.contiguous) {
        return NULL;
    }
    while (blocks[i].at) {
        assert_true(++i < BLOCKS_MAX);
    }
    blocks[i] = (struct block){aligned_alloc(PAGE, rounded), bytes};
    assert_non_null(blocks[i].at);
    memset(blocks[i].at, 0, rounded);
    *paddr = (uint64_t)(uintptr_t)blocks[i].at;
    fake.blocks++;
    return blocks[i].at;
}

void trace_port_free(void *block, size_t bytes)
{
    unsigned i = 0;

    while (blocks[i].at != block) {
        assert_true(++i < BLOCKS_MAX);
    }
    assert_int_equal(blocks[i].bytes, bytes);
    free(block);
    blocks[i].at = NULL;
    fake.blocks--;
}

int trace_port_retained(uint8_t **window, size_t *from, size_t *bytes, uint64_t *paddr)
{
    *window = fake_window;
    *from = FAKE_FREE;
    *bytes = sizeof(fake_window);
    *paddr = (uint64_t)(uintptr_t)fake_window;
    return fake.retained_error;
}

void trace_port_retained_ring(const struct kymo_retain_ring *ring)
{
    fake.ring = ring ? *ring : (struct kymo_retain_ring){0};
}

bool trace_port_shape(size_t bytes, size_t *rounded, size_t *align)
{
    *rounded = (bytes + PAGE - 1) / PAGE * PAGE;
    *align = PAGE;
    return true;
}

void trace_port_clear(void *at, size_t bytes)
{
    memset(at, 0, bytes);
}

void trace_port_clean(const void *at, size_t bytes)
{
    size_t offset = (size_t)((uintptr_t)at - (uintptr_t)fake_window);

    assert_in_range(offset, 0, FAKE_WINDOW - bytes);
    memcpy(fake_ram + offset, at, bytes);
    fake.cleaned_most = bytes > fake.cleaned_most ? bytes : fake.cleaned_most;
}

void trace_port_unmap_all(void *block, size_t bytes)
{
    assert_non_null(block);
    assert_int_not_equal(bytes, 0);
    fake.unmaps++;
}

void trace_port_run_on_all(void (*fn)(void *arg), void *arg)
{
    assert_int_equal(trace_host_irq_depth, 0); /* spinning for others would deadlock */
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        struct fake_where back = fake_on(cpu);

        trace_host_irq_depth = 1;
        if (fake.cross_called) {
            fake.cross_called();
        }
        fn(arg);
        assert_int_equal(trace_host_irq_depth, 1);
        trace_host_irq_depth = 0;
        fake_back(back);
    }
}

void trace_port_ask_exit(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);

    trace_kernel_exit();
    fake_back(back);
}

bool trace_port_raise(unsigned cpu, uint32_t value)
{
    assert_true(cpu < fake.cpus);
    assert_int_equal(trace_host_irq_depth, 0);
    fake.raised[cpu]++;
    fake.raised_value[cpu] = value;
    return fake.hook;
}

bool trace_port_hooked(void)
{
    return fake.hooked;
}

void trace_port_buffer_freed(void)
{
    fake.freed_told++;
}

void trace_port_user_wanted(bool wanted)
{
    assert_true(wanted != fake.user_wanted);
    fake.user_wanted = wanted;
    fake.unsynced = true; /* other CPUs are called before the command returns */
}

/* Other events happen in a function that a clause calls. */
static void fire_inside(const uint64_t *words)
{
    struct trace_cpu *cpu = trace_port_cpu();
    void (*inside)(void) = fake.inside;
    uint64_t stamp = cpu->stamp;

    fake.inside = NULL;
    cpu->fired = words;
    inside();
    cpu->fired = NULL;
    assert_true(cpu->stamp == stamp && trace_port_irq_masked());
}

void trace_port_fire(unsigned id, const uint64_t *words)
{
    if (fake.inside) {
        fire_inside(words);
    }
    fake.fired++;
    fake.fired_site = id;
    fake.fired_stamp = trace_port_cpu()->stamp;
    assert_true(!fake.fired_stamp || trace_port_irq_masked());
    __builtin_memcpy(fake.fired_words, words, sizeof(fake.fired_words));
    if (id == TRACE_EV_user_event && words[3]) { /* as long as its kind says: words or text */
        const void *data = (const void *)(uintptr_t)words[3];
        size_t bytes = words[4] == 1 ? words[7] * sizeof(uint32_t) : strlen(data) + 1;
        assert_in_range(bytes, 0, sizeof(fake.fired_data));
        memcpy(fake.fired_data, data, bytes);
    }
}

int trace_port_gate(const char *name, struct kymo_trace_refusal *why)
{
    assert_false(trace_gate_armed);
    assert_true(!name != !fake.gate);
    if (name && name[0] == '!') {
        why->reason = KYMO_GATE_ACTION;
        why->clause = 3;
        return -EINVAL;
    }
    fake.gate = name;
    return 0;
}

bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words)
{
    assert_in_range(trace_host_irq_depth, 1, 2); /* 2: D listens, too (trace/stamp.h) */
    assert_non_null(fake.gate);
    fake.asked++;
    fake.asked_site = site;
    fake.asked_number = number;
    __builtin_memcpy(fake.asked_words, words, sizeof(fake.asked_words));
    return !fake.refuses;
}

void trace_port_site_set(unsigned id, enum trace_site_mode mode)
{
    assert_true(id < TRACE_EV_COUNT);
    assert_true(trace_host_sites[id] != mode); /* a patch for nothing stops every CPU */
    trace_host_sites[id] = (uint8_t)mode;
    fake.site_changes++;
    fake.unsynced = true;
}

void trace_port_window(void)
{
    if (fake.window) {
        fake.window();
    }
}

bool trace_port_exit_window(void)
{
    assert_int_equal(trace_host_irq_depth, 0);
    return !fake.exit_window || fake.exit_window();
}

void trace_port_sites_sync(void)
{
    assert_true(fake.unsynced);
    fake.unsynced = false;
}
