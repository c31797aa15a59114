/* SPDX-License-Identifier: BSD-2-Clause */
/* See tracing.h. */
#include "test/board/programs/tracing.h"

#define PROCESS_NAME 192 /* PROCCREATE_NAME */

static const struct trace_slot *block; /* the mapped buffers */
static size_t block_len;

int command(unsigned cmd)
{
    return TraceEvent((int)cmd);
}

void open_buffers(void)
{
    uint64_t paddr = 0;
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, PER_CPU, &paddr), 0);
    EXPECT(paddr != 0);
    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    block_len = (size_t)map.len;
    EXPECT(block_len >= (size_t)cpu_end() * PER_CPU * TRACE_BUFFER_BYTES);
    EXPECT_EQ(command(_NTO_TRACE_SETLINEARMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
}

void close_buffers(void)
{
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
}

void insert(uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 5, from + i, ~(from + i)), 0);
    }
}

const struct trace_slot *slots_of(const struct kymo_trace_buffer *b)
{
    return block + (size_t)b->index * TRACE_BUFFER_SLOTS;
}

void scan(const struct kymo_trace_buffer *b, struct found *f)
{
    const struct trace_slot *slot = slots_of(b);

    EXPECT_EQ(slot[0].header & ~TRACE_CPU_MASK,
              TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER));
    EXPECT_EQ(slot[0].d1, b->sequence);
    EXPECT_EQ(slot[0].d2, b->slots);
    EXPECT_EQ(slot[1].header & ~TRACE_CPU_MASK,
              TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME));
    for (uint32_t i = 2; i < b->slots; i++) {
        f->waitctx |= (slot[i].header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK)) ==
                      TRACE_HEADER(0, 0, TRACE_CLASS_PR_TH, STATE_WAITCTX);
        f->processes += (slot[i].header & ~(TRACE_CPU_MASK | TRACE_STATE_DUMP)) ==
                        TRACE_HEADER(0, TRACE_STRUCT_CB, TRACE_CLASS_PR_TH, PROCESS_NAME);
        f->events += TRACE_GET_CLASS(slot[i].header) != TRACE_CLASS_CONTROL &&
                     (TRACE_GET_STRUCT(slot[i].header) == TRACE_STRUCT_S ||
                      TRACE_GET_STRUCT(slot[i].header) == TRACE_STRUCT_CB);
        EXPECT_EQ(TRACE_GET_CPU(slot[i].header), b->cpu);
        EXPECT((int32_t)(slot[i].time - slot[i - 1].time) >= 0);
        if (TRACE_GET_CLASS(slot[i].header) == TRACE_CLASS_USER) {
            EXPECT_EQ(slot[i].d2, ~slot[i].d1);
            f->gaps |= f->users != 0 && slot[i].d1 != f->last + 1;
            f->first = f->users++ == 0 ? slot[i].d1 : f->first;
            f->last = slot[i].d1;
        } else if (TRACE_GET_CLASS(slot[i].header) == TRACE_CLASS_CONTROL &&
                   TRACE_GET_EVENT(slot[i].header) == TRACE_CONTROL_DROPPED &&
                   (slot[i].d1 & 0xff) == TRACE_CLASS_USER) {
            f->dropped += slot[i].d2;
        }
    }
}

struct found take_all(void)
{
    struct kymo_trace_buffer b;
    struct found f = {0};

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        f.buffers++;
        scan(&b, &f);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
        EXPECT_ERR(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), EINVAL);
    }
    EXPECT_EQ(errno, EAGAIN);
    return f;
}

struct kymo_trace_loss loss(void)
{
    struct kymo_trace_loss l = {0};

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, 0, &l), 0);
    return l;
}
