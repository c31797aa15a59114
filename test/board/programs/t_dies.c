/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records into retained memory, numbers what it inserts, and dies at the trace point that is this
 * boot's turn: by panic() of a D program (test/board/dies/probes.py) that is told which probe, and
 * how many probe firings before it let pass. For test/board/dies.py, which looks at the memory when
 * the machine has reset, and compares. What was inserted stands beside the trace, in memory of its
 * own.
 *
 * t_dies: by a panic. t_dies go-on: without one, until somebody from outside ends it. t_dies hang:
 * by the watchdog.
 */
#include "test/board/programs/causes.h"
#include "test/board/programs/dcalls.h"

#include <stdio.h>

#define MAGIC 0x6b796d6fu
#define BUFFERS 4 /* of each CPU */
#define EACH 10   /* probes of a D program: probes.py */
#define NAME 24
#define PASSES 30
#define WARM_UP 150       /* events that go before: what happens must not come too early, … */
#define WARM_UP_MORE 3000 /* … and the ring stands elsewhere in each boot */

struct truth {
    uint32_t magic;
    volatile uint32_t inserted; /* user events whose insertion has come back; they count from 1 */
};

static struct truth *truth;

/* The causes tell what they do: a good place for events of ours, in the middle of everything. */
void fact(const char *name, uint64_t value)
{
    uint32_t n = truth->inserted + 1;

    (void)name;
    (void)value;
    TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 7, n, ~n);
    truth->inserted = n;
}

int helper(void *(*func)(void *), void *arg)
{
    return start_thread(func, arg, own_priority() + 1);
}

static void (*const causes[])(void) = {
    cause_message, cause_child,   cause_pulse,   cause_mutex,   cause_calls_1, cause_calls_2,
    cause_calls_3, cause_calls_4, cause_calls_5, cause_refused, cause_event,   cause_disconnect,
    cause_dead,    cause_unblock, cause_fault,   cause_kill,    cause_alarm,   cause_semaphore,
    cause_condvar, cause_join,    cause_sleep,   cause_yield,   cause_timer,   cause_interrupt,
    cause_map,     cause_names,   cause_places,  cause_work,
};

static void make_truth(void)
{
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    EXPECT_EQ(MemMap(&map), 0);
    truth = (struct truth *)(uintptr_t)map.vaddr;
    truth->magic = MAGIC;
    say("truth at 0x%lx", (unsigned long)map.phys);
}

static void record(bool wide)
{
    uint64_t paddr;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_ALLOCRETAINED, BUFFERS, &paddr), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)(wide ? _NTO_TRACE_SETALLCLASSESWIDE : _NTO_TRACE_SETALLCLASSESFAST)),
              0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_START), 0);
}

static void program_name(char name[NAME], unsigned n)
{
    snprintf(name, NAME, "dies-%02u.dif", n);
}

static unsigned programs(void)
{
    unsigned n = 0;
    char name[NAME], byte;

    do {
        program_name(name, n++);
    } while (ImageRead(name, 0, &byte, 1) == 1);
    return n - 1;
}

/* Which probe's turn it is, and after how many probe firings. It may be over then: an interrupt
 * is a probe, too. */
static void aim(uint32_t turn)
{
    const uintptr_t args[6] = {MAGIC, turn % EACH + 1, turn / EACH % 3, 0, 0, 0};
    char name[NAME];

    program_name(name, turn / EACH % programs());
    uint32_t handle = d_create(name);
    d_do(handle, KYMO_D_GO);
    say("goes %s", check_failure());
    raw_call(0, args);
}

static void hang(void)
{
    EXPECT_EQ(SystemCtl(KYMO_SYSTEM_WATCHDOG, 50), 0);
    say("goes %s", check_failure());
    for (;;) {
        __asm__ volatile("");
    }
}

int main(int argc, char **argv)
{
    struct kymo_retained retained = {0};
    const char *how = argc > 1 ? argv[1] : "";
    bool goes_on = strcmp(how, "go-on") == 0;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYRETAINED, &retained), 0);
    if (retained.found) {
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_DROPRETAINED), 0);
    }
    say("boot %u", (unsigned)retained.boots);
    make_truth();
    record(retained.boots & 1);
    for (unsigned n = WARM_UP + retained.boots * 97 % WARM_UP_MORE; n > 0; n--) {
        fact("", 0);
    }
    if (strcmp(how, "hang") == 0) {
        hang();
    }
    if (goes_on) {
        say("goes %s", check_failure());
    } else {
        aim(retained.boots - 1);
    }
    for (unsigned pass = 0; goes_on || pass < PASSES; pass++) {
        for (unsigned i = 0; i < COUNT(causes); i++) {
            fact("", i);
            causes[i]();
        }
    }
    say("not reached: %s", check_failure());
    SystemCtl(KYMO_SYSTEM_PANIC, 0);
    return 1;
}
