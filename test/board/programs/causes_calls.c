/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of causes.h: interrupts of a device that the kernel leaves alone (as in t_intr.c), memory,
 * names, and every kernel call once, as such, with words that it refuses or that do no harm.
 */
#include "test/board/programs/causes.h"
#include "test/board/programs/every_call.h"

#include <errno.h>
#include <stdio.h>

#include "abi/sys/log.h"
#include "lib/include/kymo.h"
#include "lib/include/sys/trace.h"
#include TEST_DEVICE_H

static volatile uint32_t *regs;

static void device_map(void)
{
    struct kymo_map map = {
        .phys = DEVICE, .len = 4096, .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (regs == NULL && MemMap(&map) == 0) {
        regs = (volatile uint32_t *)(uintptr_t)map.vaddr;
    }
}

/* Of a lower priority: when its creator waits. */
static void *fires(void *unused)
{
    device_map();
    device_fire_now(regs);
    return unused;
}

void cause_interrupt(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;

    SIGEV_PULSE_INIT(&event, to.coid, 20, 7, 77);
    int id = InterruptAttachEvent(DEVICE_IRQ, &event, 0);
    fact("line", DEVICE_IRQ);
    fact("coid", (uint64_t)to.coid);
    device_map();
    device_fire_now(regs);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    device_quiet(regs);
    InterruptDetach(id);
    SIGEV_INTR_INIT(&event);
    id = InterruptAttachEvent(DEVICE_IRQ, &event, 0);
    int tid = start_thread(fires, NULL, own_priority() - 1);
    EXPECT_EQ(InterruptWait(0, NULL), 0);
    device_quiet(regs);
    join(tid);
    InterruptDetach(id);
    drop_link(&to);
}

void cause_map(void)
{
    struct kymo_map map = {.len = 8192, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    EXPECT_EQ(MemMap(&map), 0);
    fact("vaddr", map.vaddr);
    fact("len", map.len);
    fact("phys", map.phys);
    fact("flags", map.flags);
    MemUnmap((void *)(uintptr_t)map.vaddr, map.len);
}

/* More memory than there is, and a program that isn't there. */
void cause_scarce(void)
{
    struct kymo_map map = {.len = 1u << 30, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    char *argv[] = {"nowhere", NULL};
    struct kymo_spawn_attr attr = {.priority = own_priority()};

    EXPECT_EQ(MemMap(&map), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(kymo_spawn("nowhere", argv, &attr), -1);
    fact("spawn_error", (uint64_t)errno);
}

void cause_names(void)
{
    struct kymo_name name;

    kymo_thread_name("caused");
    NameLookup("nowhere/to/be/found", &name);
}

/* What a program tells of itself. */
void cause_places(void)
{
    trace_here();
    trace_func_enter((void *)0x1230, (void *)0x4560);
    trace_func_exit((void *)0x1240, (void *)0x4570);
}

/* Events of its own: two words, some, a text; and two of a static probe of the library. A program
 * inserts them as long as D listens. The second one from the same memory takes the fast path
 * (kernel/entry/trace_quick.c), if it has 3 to 16 words. */
void cause_user(void)
{
    static const uint32_t words[17] = {10, 20, 30}, probe[3] = {KYMO_LOG_BASE, 1, 2};
    static const unsigned counts[] = {4, 3, 16, 17, 1, 0};

    trace_logi(5, 6, 7);
    trace_logb(6, words, 3 * sizeof(*words));
    for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 6, words, counts[i]);
    }
    trace_logs(7, "words of a user");
    TraceEvent((int)KYMO_TRACE_INSERTPROBE, probe, 3);
    TraceEvent((int)KYMO_TRACE_INSERTPROBE, probe, 3);
}

#define PARTS 5

/* A call, its six words, and what came of it, as one text. */
static void tell_call(unsigned number, const uintptr_t args[6], struct raw_result result)
{
    char text[120];

    snprintf(text, sizeof(text), "call %u %lu %lu %lu %lu %lu %lu %ld %ld", number,
             (unsigned long)args[0], (unsigned long)args[1], (unsigned long)args[2],
             (unsigned long)args[3], (unsigned long)args[4], (unsigned long)args[5], result.value,
             result.error);
    fact(text, 0);
}

/* Where a part begins: not at a call that belongs to the one before it. */
static unsigned part_begin(unsigned part)
{
    unsigned at = every_calls * part / PARTS;

    while (at < every_calls && (every_call[at].args[0] == EVERY_CALL_LAST ||
                                every_call[at].number == CALL_INTERRUPT_WAIT)) {
        at++;
    }
    return at;
}

/* One of PARTS, for D's buffer is small. What is told comes after the next call, which a timeout
 * may be for. */
static void call_part(unsigned part)
{
    struct raw_result before = {0, 0};
    uintptr_t words[2][6] = {{0}};
    unsigned from = part_begin(part), to = part_begin(part + 1);

    for (unsigned i = from; i < to; i++) {
        uintptr_t *args = words[i % 2];
        memcpy(args, every_call[i].args, sizeof(words[0]));
        args[0] = args[0] == EVERY_CALL_LAST ? (uintptr_t)before.value : args[0];
        struct raw_result result = raw_call(every_call[i].number, args);
        if (i > from) {
            tell_call(every_call[i - 1].number, words[(i - 1) % 2], before);
        }
        before = result;
    }
    tell_call(every_call[to - 1].number, words[(to - 1) % 2], before);
}

void cause_calls_1(void)
{
    call_part(0);
}

void cause_calls_2(void)
{
    call_part(1);
}

void cause_calls_3(void)
{
    call_part(2);
}

void cause_calls_4(void)
{
    call_part(3);
}

void cause_calls_5(void)
{
    call_part(4);
}
