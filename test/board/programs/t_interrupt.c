/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() from an interrupt: the kernel of this image has test/board/interrupt/timer.c in it,
 * which starts the trace, inserts events and stops it, all in the timer's interrupt. This program
 * only gives buffers and sees what became of it. Runs alone, on one CPU: no tracelogger.
 */
#include "test/board/programs/tracing.h"

#define FIRST 4 /* START_AT, FLUSH_AT, STOP_AT of timer.c */
#define FLUSH 8
#define LAST 16

static struct {
    unsigned counts, strings, combines, comms, raws, refused, flushes, own;
} seen;

static void look_at_user(const struct trace_slot *slot)
{
    uint32_t structure = TRACE_GET_STRUCT(slot->header);

    switch (TRACE_GET_EVENT(slot->header)) {
    case 900:
        EXPECT_EQ(slot->d1, FIRST + seen.counts++);
        EXPECT_EQ(slot->d2, ~slot->d1);
        break;
    case 901:
        EXPECT_EQ(slot->d2, EPERM);
        seen.refused++;
        break;
    case 902:
        seen.combines += structure == TRACE_STRUCT_CB && slot->d1 == 1 && slot[2].d2 == 6;
        break;
    case 903:
        seen.strings += structure == TRACE_STRUCT_CB && memcmp(&slot->d1, "an inter", 8) == 0;
        break;
    case 904: /* the last one of its buffer that the interrupts have made */
        EXPECT_EQ(slot->d1, FLUSH);
        EXPECT_EQ(slot->d2, 0);
        EXPECT_EQ(seen.counts, FLUSH - FIRST + 1);
        seen.flushes++;
        break;
    default:
        seen.own++;
    }
}

static void look(const struct trace_slot *slot, uint32_t n)
{
    for (uint32_t i = 2; i < n; i++) {
        EXPECT((int32_t)(slot[i].time - slot[i - 1].time) >= 0);
        switch (TRACE_GET_CLASS(slot[i].header)) {
        case TRACE_CLASS_USER:
            look_at_user(&slot[i]);
            break;
        case TRACE_CLASS_COMM:
            seen.comms += slot[i].d2 == 0x1234;
            break;
        case TRACE_CLASS_INT:
            EXPECT_EQ(TRACE_GET_EVENT(slot[i].header), 2);
            seen.raws += slot[i].d1 == 77;
            break;
        default:
            break;
        }
    }
}

/* Waits until the interrupt has started, or stopped, the trace; inserts events of its own
 * meanwhile, between which the interrupts' come. */
static void wait_running(uint32_t running)
{
    struct kymo_trace_owner owner = {.running = !running};

    for (unsigned i = 0; i < 1000 && owner.running != running; i++) {
        sleep_ms(1);
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 5, i, ~i), 0);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    }
    EXPECT_EQ(owner.running, running);
}

static void t_interrupt(void)
{
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    struct kymo_trace_buffer b;
    uint64_t made = 0;
    uint32_t buffers = 0;

    sleep_ms(20); /* interrupts without buffers: nothing is started */
    open_buffers();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_COMM), 0);
    EXPECT_EQ(MemMap(&map), 0);
    wait_running(1);
    wait_running(0);
    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        look((const struct trace_slot *)(uintptr_t)map.vaddr + (size_t)b.index * TRACE_BUFFER_SLOTS,
             b.slots);
        EXPECT_EQ(b.sequence, ++buffers);
        EXPECT(buffers > 1 || seen.counts == FLUSH - FIRST + 1);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    EXPECT_EQ(seen.counts, LAST - FIRST);
    EXPECT_EQ(seen.combines, LAST - FIRST);
    EXPECT_EQ(seen.strings, LAST - FIRST);
    EXPECT_EQ(seen.comms, LAST - FIRST);
    EXPECT_EQ(seen.raws, LAST - FIRST); /* though the class is off */
    EXPECT_EQ(seen.refused, 5);
    EXPECT_EQ(seen.flushes, 1);
    EXPECT(TRACE_BUFFER_SLOTS == 1024 ? buffers == 2 : buffers >= 2);
    EXPECT(seen.own > 0);
    made = loss().made;
    EXPECT(made >= 5 * (LAST - FIRST) + 5 + seen.own);
    close_buffers();
}

static const struct check table[] = {{"from the timer's interrupt", t_interrupt}};

int main(void)
{
    return check_run("interrupt", table, COUNT(table));
}
