/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <kymo_probe.h>: static probes while they are off and on, switched amid other CPUs, and what a
 * process may say of its sites. t_log has what readers of a capture print of them. Alone, with the
 * ability to trace.
 */
#include <kymo_probe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/trace.h"
#include "lib/startup.h"
#include "test/board/programs/check.h"

extern const struct kymo_probe_site __kymo_probes_start[], __kymo_probes_end[];
extern const struct kymo_probe_site __kymo_system_probes_start[], __kymo_system_probes_end[];
extern const uint8_t _start[], __text_end[];

#if defined(__aarch64__)
#define NOP "\x1f\x20\x03\xd5"
#elif defined(__arm__)
#define NOP "\xaf\xf3\x00\x80"
#else
#define NOP "\x0f\x1f\x44\x00\x00"
#endif
#define NOP_BYTES (sizeof(NOP) - 1)
#define PASSES 50

static unsigned evaluated;

static unsigned evaluate(void)
{
    return ++evaluated;
}

static const uint8_t *site_of(const struct kymo_probe_site *entry)
{
    return (const uint8_t *)entry->site;
}

static unsigned sites(void)
{
    return (unsigned)(__kymo_probes_end - __kymo_probes_start);
}

/* The library's: pthread_mutex_lock() has one. */
static unsigned system_sites(void)
{
    return (unsigned)(__kymo_system_probes_end - __kymo_system_probes_start);
}

/* How many sites of a table are no NOP. */
static unsigned no_nops(const struct kymo_probe_site *entries, unsigned n)
{
    unsigned on = 0;

    for (unsigned i = 0; i < n; i++) {
        on += memcmp(site_of(&entries[i]), NOP, NOP_BYTES) != 0;
    }
    return on;
}

static unsigned sites_on(void)
{
    return no_nops(__kymo_probes_start, sites());
}

static unsigned system_sites_on(void)
{
    return no_nops(__kymo_system_probes_start, system_sites());
}

/* Of the whole text, as the CPU reads it. */
static uint32_t text_sum(void)
{
    uint32_t sum = 0;

    for (const uint8_t *at = _start; at < __text_end; at++) {
        sum = sum * 31 + *at;
    }
    return sum;
}

static uint32_t text_off; /* the sum while all are off */

/* Every site once; the bits of what was on. */
static __attribute__((noinline, noclone)) unsigned pass(int i, unsigned long l)
{
    KYMO_PROBE(t_probe, none);
    KYMO_PROBE(t_probe, one__arg, evaluate());
    KYMO_PROBE(t_probe, six, i, -2, l, (unsigned char)7, &evaluated, 'x');
    return KYMO_PROBE_ENABLED() ? 1 : 0;
}

/* ---- on and off ---------------------------------------------------------------------- */

static void trace_begin(void)
{
    uint64_t paddr;

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 8, &paddr), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
}

static void trace_end(void)
{
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void t_off(void)
{
    text_off = text_sum();
    EXPECT(sites() >= 4); /* the compiler may copy one */
    for (unsigned i = 0; i < PASSES; i++) {
        EXPECT_EQ(pass(1, 2), 0);
    }
    EXPECT_EQ(evaluated, 0);
    EXPECT_EQ(sites_on(), 0);
}

/* Takes all buffers; returns how many events of class USER with the log's code there were. */
static unsigned taken(void)
{
    struct kymo_trace_buffer b;
    unsigned n = 0;

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_FLUSHBUFFER), 0);
    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        n += b.slots;
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    return n;
}

static void t_on(void)
{
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(sites_on(), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(sites_on(), sites());
    EXPECT_EQ(system_sites_on(), 0); /* who asks for his events gets no others */
    for (unsigned i = 1; i <= PASSES; i++) {
        errno = (int)i;
        EXPECT_EQ(pass((int)i, ~0ul), 1);
        EXPECT_EQ(errno, (int)i);
        EXPECT_EQ(evaluated, i);
    }
    EXPECT(taken() >= 3 * PASSES);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(sites_on(), 0);
    EXPECT_EQ(pass(1, 2), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(sites_on(), sites());
    trace_end();
    EXPECT_EQ(sites_on(), 0);
    EXPECT_EQ(text_sum(), text_off);
    EXPECT_EQ(evaluated, PASSES);
}

/* Switched apart from the program's own: by their class alone, until it is off or all are. */
static void t_system(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    EXPECT(system_sites() >= 2);
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(system_sites_on(), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    EXPECT_EQ(system_sites_on(), system_sites());
    EXPECT_EQ(sites_on(), 0);
    taken();
    for (unsigned i = 1; i <= PASSES; i++) {
        errno = (int)i;
        EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
        EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
        EXPECT_EQ(errno, (int)i);
    }
    /* An event has 4 or 5 words, in 2 or 3 slots. */
    EXPECT(taken() >= 2 * 2 * PASSES);
    EXPECT_EQ(pass(1, 2), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(system_sites_on(), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    EXPECT_EQ(system_sites_on(), system_sites());
    trace_end();
    EXPECT_EQ(system_sites_on(), 0);
    EXPECT_EQ(text_sum(), text_off);
}

/* ---- tables -------------------------------------------------------------------------- */

static long register_table(const void *table, size_t count)
{
    return TraceEvent((int)KYMO_TRACE_USERSITES, table, count);
}

static void register_own(void)
{
    EXPECT_EQ(register_table(__kymo_probes_start, sites()), 0);
}

static struct kymo_probe_site entry_for(const void *site, const void *on)
{
    return (struct kymo_probe_site){(uintptr_t)site, (uintptr_t)on};
}

static void t_tables(void)
{
    static struct kymo_probe_site table[2];
    static uint8_t data[16] __attribute__((aligned(8))) = NOP;
    const uint8_t *site = site_of(&__kymo_probes_start[0]);

    EXPECT_ERR(register_table((const char *)table + 1, 1), EINVAL);
    EXPECT_ERR(register_table(table, KYMO_TRACE_SITES_MOST + 1), E2BIG);
    EXPECT_ERR(register_table((const void *)16, 1), EFAULT);
    EXPECT_ERR(register_table((const void *)(UINTPTR_MAX - 7), 2), EINVAL);
    table[0] = entry_for(data, site); /* no text */
    EXPECT_ERR(register_table(table, 1), EFAULT);
    table[0] = entry_for(site, data);
    EXPECT_ERR(register_table(table, 1), EFAULT);
    table[0] = entry_for(_start, site); /* no NOP */
    EXPECT_ERR(register_table(table, 1), EINVAL);
    table[0] = entry_for(site, site + 64);
    table[1] = entry_for(site + 1, site + 64);
    EXPECT_ERR(register_table(table, 2), EINVAL);
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(sites_on(), 0); /* what was refused is no table */
    register_own();
    EXPECT_EQ(sites_on(), sites());
    EXPECT_EQ(register_table(__kymo_probes_start, 2), 0);
    EXPECT_EQ(sites_on(), 2);
    EXPECT_EQ(register_table(NULL, 0), 0);
    EXPECT_EQ(sites_on(), 0);
    register_own();
    /* The library's table is another one, whose sites no user event switches. */
    EXPECT_ERR(register_table(table, KYMO_TRACE_SITES_SYSTEM | 1), E2BIG);
    EXPECT_EQ(register_table(NULL, KYMO_TRACE_SITES_SYSTEM), 0);
    EXPECT_EQ(sites_on(), sites());
    EXPECT_EQ(system_sites_on(), 0);
    trace_end();
    EXPECT_EQ(text_sum(), text_off);
}

/* What the startup block may say of the library's sites is the program's own: whatever it says,
 * the kernel changes no-ops to the branches that the table has, and nothing else. */
static void t_block(void)
{
    static struct kymo_probe_site lies[2];
    const struct kymo_startup was = *kymo_startup;
    const struct kymo_probe_site *const own = __kymo_system_probes_start;
    const struct {
        uintptr_t sites;
        uint32_t n;
    } rows[] = {{0, 4},
                {1, 4},
                {(uintptr_t)own + 1, 4},
                {(uintptr_t)own, UINT32_MAX},
                {(uintptr_t)own, KYMO_TRACE_SITES_MOST + 1},
                {UINTPTR_MAX - 7, 4},
                {(uintptr_t)0xffffff8040a00000, KYMO_TRACE_SITES_MOST},
                {(uintptr_t)lies, COUNT(lies)}};

    lies[0] = (struct kymo_probe_site){(uintptr_t)_start, own->on}; /* no no-op is there */
    lies[1] =
        (struct kymo_probe_site){own->site, (uintptr_t)lies}; /* data: no branch leads there */
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned i = 0; i < COUNT(rows); i++) {
        kymo_startup->sites = (const struct kymo_probe_site *)rows[i].sites;
        kymo_startup->nsites = rows[i].n;
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
        EXPECT_EQ(register_table(NULL, KYMO_TRACE_SITES_SYSTEM), 0);
        EXPECT_EQ(text_sum(), text_off);
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
    }
    kymo_startup->sites = was.sites;
    kymo_startup->nsites = was.nsites;
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    EXPECT_EQ(system_sites_on(), system_sites());
    trace_end();
    EXPECT_EQ(text_sum(), text_off);
}

/* Any table, while it is on and off: a process harms at most itself, and here not even that. */
static void t_random(void)
{
    static struct kymo_probe_site table[8];
    uint32_t seed = 1;

    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < COUNT(table); i++) {
            const struct kymo_probe_site *own;

            seed = seed * 1664525 + 1013904223;
            own = &__kymo_probes_start[(seed >> 16) % sites()];
            table[i] = entry_for(site_of(own) + (seed >> 8 & 7 ? 0 : seed >> 12 & 15),
                                 (const uint8_t *)own->on + (seed >> 20 & 2));
        }
        register_table(table, 1 + (seed >> 10) % COUNT(table));
        register_table(NULL, 0);
    }
    EXPECT_EQ(text_sum(), text_off);
    register_own();
}

/* ---- amid other threads ---------------------------------------------------------------- */

#define FLIPS 30

static atomic_uint passed;
static atomic_bool enough;

static void *passes(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough)) {
        pass(3, 4);
        atomic_fetch_add(&passed, 1);
    }
    return NULL;
}

static void t_storm(void)
{
    int threads[4];
    unsigned n = cpu_count() < COUNT(threads) ? cpu_count() : COUNT(threads);

    atomic_store(&enough, false);
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned i = 0; i < n; i++) {
        threads[i] = start_thread(passes, NULL, own_priority() - 1);
    }
    for (unsigned i = 0; i < FLIPS; i++) {
        unsigned before = atomic_load(&passed);

        EXPECT_EQ(
            TraceEvent((int)(i & 1 ? _NTO_TRACE_ADDCLASS : _NTO_TRACE_DELCLASS), _NTO_TRACE_USER),
            0);
        EXPECT_EQ(sites_on(), i & 1 ? sites() : 0);
        while (atomic_load(&passed) - before < 2 * n) {
            sleep_ms(1);
        }
    }
    atomic_store(&enough, true);
    for (unsigned i = 0; i < n; i++) {
        join(threads[i]);
    }
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
    EXPECT_EQ(text_sum(), text_off);
}

/* Children pass their sites, and are killed, while the trace goes on and off. */
static void t_children(void)
{
    trace_begin();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    for (unsigned round = 0; round < 4; round++) {
        int pids[3], status;

        for (unsigned i = 0; i < COUNT(pids); i++) {
            pids[i] = spawn("t_probe", 0, own_priority() - 1, "passes", NULL, NULL);
            EXPECT(pids[i] > 0);
        }
        for (unsigned i = 0; i < COUNT(pids); i++) {
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
            sleep_ms(round);
            EXPECT_EQ(SignalKill(0, pids[i], 0, KYMO_SIGKILL, 0, 0), 0);
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
            EXPECT_EQ(ProcWait(pids[i], &status, 0), pids[i]);
            EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGKILL);
        }
    }
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
}

static const struct check table[] = {
    {"off", t_off},
    {"on", t_on},
    {"the library's", t_system},
    {"the startup block lies", t_block},
    {"tables", t_tables},
    {"any table", t_random},
    {"switched amid other threads", t_storm},
    {"children that are killed", t_children},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "passes") == 0) {
        for (;;) {
            pass(5, 6);
        }
    }
    return check_run("probe", table, COUNT(table));
}
