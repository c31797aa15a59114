/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() by eight processes at once, at random, while events flow: they allocate, free,
 * start, stop, filter, flush, change modes, take, map, attach, detach, gate, exit, and are killed.
 * Nothing hangs, nothing leaks. In tame rounds this process owns the buffers and reads them, as a
 * logger does: what it has read, what DROPPED told it, and what QUERYLOSS says at the end add up to
 * what was made, per CPU and class. In wild rounds anyone may own them. After each round memory,
 * objects and the kernel's text are as before, and a little capture is exact. Runs alone: no
 * tracelogger. `t_control SEED ROUNDS STEPS`: seeds SEED..; only on one CPU under icount does a run
 * repeat.
 */
#include "test/board/programs/dcalls.h"
#include "trace/slot.h"

#include <stdio.h>
#include <stdlib.h>

#define MEDDLERS 8
#define CPUS_MOST 8
#define BUFFERS 4
#define OBJECTS 4 /* that meddlers make: meddler_all.c */
#define CLASSES KYMO_TRACE_CLASSES

static unsigned steps = 60;
static uint64_t random_state;
static int pids[MEDDLERS];
static bool tame;
static unsigned born, gates; /* meddlers, and gates that were set: what a run has done */

static uint32_t pick(uint32_t n)
{
    return d_random(&random_state) % n;
}

static int command(unsigned cmd)
{
    return TraceEvent((int)cmd);
}

/* ---- what this process reads ------------------------------------------------------- */

static const struct trace_slot *block;
static struct account {
    uint64_t events[CLASSES], dropped[CLASSES], taken;
    uint32_t sequence; /* of the last buffer */
    struct {
        uint32_t pid, last;
    } users[MEDDLERS];
} accounts[CPUS_MOST];

/* Numbers of one meddler rise on each CPU: it is at one place at a time. */
static void read_user(struct account *a, const struct trace_slot *slot)
{
    unsigned i = TRACE_GET_EVENT(slot->header);

    if (i >= MEDDLERS) {
        return;
    }
    if (a->users[i].pid == slot->d2) {
        EXPECT(slot->d1 > a->users[i].last);
    }
    a->users[i].pid = slot->d2;
    a->users[i].last = slot->d1;
}

static void read_slot(struct account *a, const struct trace_slot *slot)
{
    unsigned class = TRACE_GET_CLASS(slot->header) % CLASSES;
    uint32_t structure = TRACE_GET_STRUCT(slot->header);

    if (class == TRACE_CLASS_CONTROL) {
        if (TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_DROPPED) {
            a->dropped[(slot->d1 & 0xff) % CLASSES] += slot->d2;
        }
    } else if (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) {
        a->events[class]++;
        a->taken++;
        if (class == TRACE_CLASS_USER && structure == TRACE_STRUCT_S) {
            read_user(a, slot);
        }
    }
}

static void read_buffer(const struct kymo_trace_buffer *b)
{
    const struct trace_slot *slot = block + (size_t)b->index * TRACE_BUFFER_SLOTS;
    struct account *a = &accounts[b->cpu % CPUS_MOST];

    EXPECT_EQ(slot[0].header & ~TRACE_CPU_MASK,
              TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER));
    EXPECT_EQ(slot[0].d1, b->sequence);
    EXPECT_EQ(slot[0].d2, b->slots);
    EXPECT(b->sequence > a->sequence);
    EXPECT(b->slots >= 2 && b->slots <= TRACE_BUFFER_SLOTS);
    a->sequence = b->sequence;
    for (uint32_t i = 2; i < b->slots; i++) {
        EXPECT_EQ(TRACE_GET_CPU(slot[i].header), b->cpu);
        EXPECT((int32_t)(slot[i].time - slot[i - 1].time) >= 0);
        read_slot(a, &slot[i]);
    }
}

static void read_all(void)
{
    struct kymo_trace_buffer b;

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        read_buffer(&b);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    EXPECT(errno == EAGAIN || errno == EBUSY);
}

/* Nothing runs, all is read: the two accounts of each CPU are one. */
static void balance(unsigned cpu)
{
    const struct account *a = &accounts[cpu];
    struct kymo_trace_loss loss = {0};
    uint64_t lost = 0;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &loss), 0);
    for (unsigned class = 0; class < CLASSES; class ++) {
        uint64_t pending = 0;
        for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
            pending += loss.pending[reason][class];
        }
        EXPECT_EQ(loss.lost[class], a->dropped[class] + pending);
        lost += loss.lost[class];
    }
    EXPECT_EQ(loss.made, a->taken + lost + loss.recycled);
}

static void open_log(void)
{
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    uint64_t paddr;

    memset(accounts, 0, sizeof(accounts));
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr), 0);
    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    EXPECT_EQ(command(_NTO_TRACE_SETLINEARMODE), 0);
}

/* ---- the meddlers ------------------------------------------------------------------ */

static void bear(unsigned i)
{
    uint32_t ability =
        ABILITY_TRACE | ABILITY_INTERRUPT | ABILITY_KILL | ABILITY_MEMORY | ABILITY_DTRACE_KERNEL;
    char seed[12], index[4];

    snprintf(seed, sizeof(seed), "%u", (unsigned)pick(1u << 30));
    snprintf(index, sizeof(index), "%u", i);
    pids[i] = spawn("meddler", i == 7 ? 0 : ability, 10, seed, index, tame ? "tame" : "wild");
    EXPECT(pids[i] > 0);
    born++;
}

/* Those that are gone get a successor; one that says that it failed fails this. */
static void reap(bool again)
{
    for (unsigned i = 0; i < MEDDLERS; i++) {
        int status = 0;
        int r = pids[i] > 0 ? ProcWait(pids[i], &status, again ? KYMO_WAIT_NOHANG : 0) : 0;

        if (r > 0) {
            EXPECT(status != 1 && status != 2);
            pids[i] = 0;
            if (again) {
                bear(i);
            }
        }
    }
}

/* Only what is recorded is made: the account is the same with any gate, and while it changes. */
static void set_gate(bool any)
{
    struct kymo_trace_refusal why;
    char name[16];

    if (!any) {
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETGATE, NULL, &why), 0);
        return;
    }
    snprintf(name, sizeof(name), "random-%02u.dif", (unsigned)pick(12));
    if (TraceEvent((int)KYMO_TRACE_SETGATE, name, &why) != 0) {
        EXPECT(errno == EEXIST || errno == ENOMEM);
    } else {
        gates++;
    }
}

/* What the owner does beside reading. */
static void meddle(void)
{
    static const unsigned modes[] = {_NTO_TRACE_SETRINGMODE, KYMO_TRACE_SETFILLMODE,
                                     _NTO_TRACE_SETLINEARMODE, _NTO_TRACE_SETLINEARMODE};

    switch (pick(8)) {
    case 0:
        command(_NTO_TRACE_STOP);
        command(modes[pick(4)]);
        break;
    case 1:
        EXPECT_EQ(command(pick(2) ? _NTO_TRACE_SKIPBUFFER : _NTO_TRACE_OVERWRITEBUFFER), 0);
        break;
    case 2:
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 16 + pick(1009)), 0);
        break;
    case 3:
        command(_NTO_TRACE_STARTNOSTATE);
        break;
    case 4:
    case 5:
        set_gate(pick(2));
        break;
    default:
        break;
    }
    read_all();
}

static void step(void)
{
    sleep_ms(1 + pick(4));
    if (pick(6) == 0) {
        int pid = pids[pick(MEDDLERS)];
        if (pid > 0) {
            SignalKill(0, pid, 0, 9, 0, 0);
        }
    }
    if (tame) {
        meddle();
    }
    reap(true);
}

static void end_all(void)
{
    for (unsigned i = 0; i < MEDDLERS; i++) {
        if (pids[i] > 0) {
            SignalKill(0, pids[i], 0, 9, 0, 0);
        }
    }
    reap(false);
}

/* ---- after a round ----------------------------------------------------------------- */

static void remove_objects(void)
{
    char name[16];

    for (unsigned i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof(name), "meddled%u", i);
        EXPECT(ObjectUnlink(name) == 0 || errno == ENOENT);
    }
}

static void settle(void)
{
    command(_NTO_TRACE_STOP);
    if (tame) {
        EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER), 0);
        read_all();
        for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
            balance(cpu);
        }
        EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    } else {
        int r = command(_NTO_TRACE_DEALLOCBUFFER);
        EXPECT(r == 0 || errno == EFAULT);
    }
    EXPECT_ERR(command(_NTO_TRACE_FLUSHBUFFER), EFAULT);
    EXPECT_EQ(command(KYMO_TRACE_CLRALLTHREADS), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_EQ(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
    remove_objects();
}

/* So many events are so many events. */
static void little_capture(void)
{
    const unsigned n = 100;
    uint64_t taken = 0;

    open_log();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1, i, 1), 0);
    }
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    read_all();
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        balance(cpu);
        taken += accounts[cpu].taken;
    }
    EXPECT_EQ(taken, n);
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
}

static void is_as(const struct world *before)
{
    struct world now = d_world();

    EXPECT_EQ(now.memory, before->memory);
    EXPECT_EQ(now.objects, before->objects);
    EXPECT(now.text == before->text);
}

static void play(uint32_t seed)
{
    struct world before = d_world();

    random_state = seed * 2654435761u + 1;
    tame = seed % 2 == 0;
    born = gates = 0;
    if (tame) {
        open_log();
    }
    for (unsigned i = 0; i < MEDDLERS; i++) {
        bear(i);
    }
    for (unsigned i = 0; i < steps && check_failure()[0] == '\0'; i++) {
        step();
    }
    end_all();
    settle();
    little_capture();
    is_as(&before);
    say("SEED %u %s: %u meddlers, %u gates%s%s", (unsigned)seed, tame ? "tame" : "wild", born,
        gates, check_failure()[0] ? ": " : "", check_failure());
}

static uint32_t seed = 1;
static unsigned rounds = 4;

static void t_rounds(void)
{
    d_provide_calls();
    for (unsigned i = 0; i < rounds && check_failure()[0] == '\0'; i++) {
        play(seed + i);
    }
}

static const struct check table[] = {{"eight processes at random", t_rounds}};

int main(int argc, char **argv)
{
    seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : seed;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : rounds;
    steps = argc > 3 ? (unsigned)atoi(argv[3]) : steps;
    return check_run("control", table, COUNT(table));
}
