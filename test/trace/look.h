/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What unit tests of the event log share: commands as the owner, buffers' states from their
 * descriptors, and a reader of a buffer's slots of its own, written from docs/reference/format.md:
 * every slot is looked at, whatever the counts say.
 */
#ifndef TEST_TRACE_LOOK_H
#define TEST_TRACE_LOOK_H

#include "test/trace/fake_port.h"
#include "abi/errno.h"

#define OWNER ((void *)0x1000)
#define WORDS_MAX 2048

/* TraceEvent() as a process that may; `who`: opaque, as trace_caller.owner. */
long command_as(void *who, uint32_t cmd, uint32_t a0, uint32_t a1, void *data);
long command_words(void *who, uint32_t cmd, const uint32_t args[4]); /* with all four arguments */
static inline long command(uint32_t cmd)
{
    return command_as(OWNER, cmd, 0, 0, NULL);
}
static inline long command1(uint32_t cmd, uint32_t a0)
{
    return command_as(OWNER, cmd, a0, 0, NULL);
}
/* ALLOCBUFFER, the policy (_NTO_TRACE_SETLINEARMODE ...), every class on, STARTNOSTATE. */
void start_tracing(unsigned per_cpu, uint32_t mode);
/* The same on one CPU, booted, with two buffers, linear. */
void start_one(void);
/* The buffers go; fails if memory is left. */
void end_tracing(void);
/* So many user events, of number 7 and with their number. */
void insert_events(unsigned n);
/* ALLOCBUFFER of n per CPU, TAKEBUFFER: the result; what it gave is in look_paddr, look_taken. */
long alloc_as(void *who, uint32_t n);
long take_as(void *who);
extern uint64_t look_paddr;
extern struct kymo_trace_buffer look_taken;
struct kymo_trace_loss loss_of(unsigned cpu);

/* Buffers as their descriptors say. */
struct trace_ring *ring_of(unsigned cpu);
unsigned look_state(unsigned cpu, unsigned i);
uint32_t look_sequence(unsigned cpu, unsigned i);
unsigned look_count(unsigned cpu, unsigned state); /* how many are in that state */
const struct trace_slot *look_slots(unsigned cpu, unsigned i);
/* Slots in a CPU's ACTIVE buffer, as QUERYEVENTS says; 0: none is. */
unsigned look_active_slots(unsigned cpu);

/* One event of a buffer. words: payload, padding included. */
struct seen {
    uint32_t header; /* of its first slot, without the structure bits */
    unsigned class, number, cpu;
    uint32_t words[WORDS_MAX];
    unsigned nwords, slots;
    uint64_t time;
};
/* A buffer that is being read; fails the test at the first thing that is wrong. */
struct scan {
    const struct trace_slot *slot, *end;
    unsigned cpu;
    uint32_t high;      /* of the last TIME */
    uint64_t last_time; /* 0: none before */
    struct seen seen;
};
/* Slots of a buffer of `cpu`: checks BUFFER and TIME. count: as BUFFER says; 0: ACTIVE, unknown. */
void scan_begin(struct scan *scan, unsigned cpu, const struct trace_slot *slots, unsigned nslots,
                uint32_t sequence, uint32_t count);
/* The next event, CONTROL ones too. False: the end. */
bool scan_next(struct scan *scan);

/* The one event, CONTROL's apart, that CPU 0 has recorded since the last call. */
const struct seen *the_event(void);

static inline bool is_control(const struct seen *e, unsigned number)
{
    return e->class == TRACE_CLASS_CONTROL && e->number == number;
}

/* What a buffer holds: events per class, DROPPED ones apart. */
struct tally {
    uint64_t events[TRACE_CLASS_MAX];
    uint64_t dropped[KYMO_TRACE_REASONS][TRACE_CLASS_MAX];
    unsigned times;       /* TIME slots */
    uint64_t first, last; /* times */
};
void tally_add(struct tally *tally, unsigned cpu, const struct trace_slot *slots, unsigned nslots,
               uint32_t sequence, bool active);
/* Takes and gives back all that is READY; adds it up. Returns how many buffers. */
unsigned take_all(struct tally *tally);

#endif
