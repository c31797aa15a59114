/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of one CPU: their states, their owners, and the choice of the next one. The buffers'
 * content is opaque to the ring: the event log (trace/log.c) puts slots there.
 *
 *   FREE -> ACTIVE -> READY -> BUSY -> FREE,  and READY -> ACTIVE when it is overwritten
 *
 * One word per buffer holds its state and its sequence. So the two transitions out of READY (taken
 * by its process, reused by the writer) are compare-and-swaps that exclude each other and can't
 * mistake a later filling for an earlier one. FREE buffers are in a queue with one producer (the
 * kernel lock) and one consumer (the writer); no lock, no loop. READY buffers are found by
 * sequence: both takers take the lowest, so the READY sequences are always the latest ones, without
 * gaps.
 *
 * Contexts: "writer" is the ring's own CPU with interrupts masked; "lock" is the kernel lock, any
 * CPU.
 * Lock legend: [I] immutable while allocated  [c] own CPU, interrupts masked  [k] kernel lock
 * [a] atomic
 * Described in docs/inside/ring.md; proved by test/trace/ring_test.c, interleave_test.c,
 * random_test.c.
 */
#ifndef TRACE_RING_H
#define TRACE_RING_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/static_assert.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

KYMO_STATIC_ASSERT(sizeof(struct trace_slot) == TRACE_SLOT_BYTES, "slot layout");
/* Constraints on TRACE_BUFFER_SLOTS (trace/slot.h). */
KYMO_STATIC_ASSERT(TRACE_BUFFER_SLOTS >= TRACE_BUFFER_SLOTS_LEAST &&
                       TRACE_BUFFER_SLOTS <= TRACE_BUFFER_SLOTS_MOST,
                   "TRACE_BUFFER_SLOTS: a buffer has 64 to 1024 slots");
KYMO_STATIC_ASSERT(TRACE_HIGH_WATER >= TRACE_HIGH_WATER_LEAST &&
                       TRACE_HIGH_WATER < TRACE_BUFFER_SLOTS,
                   "the default high-water mark");
KYMO_STATIC_ASSERT(TRACE_DROPPED_MOST >= 1, "an opening reports a loss");
KYMO_STATIC_ASSERT(TRACE_EVENT_SLOTS_MOST * 8 >= KYMO_TRACE_USER_COMBINE_MAX &&
                       KYMO_TRACE_USER_COMBINE_MAX % 8 == 0,
                   "the longest user event");

enum trace_buffer_state { TRACE_FREE, TRACE_ACTIVE, TRACE_READY, TRACE_BUSY };
enum trace_policy {
    TRACE_LINEAR, /* switch: read while it runs */
    TRACE_FILL,   /* until the space is used up */
    TRACE_RING    /* keep the newest; read when stopped */
};

#define TRACE_NONE 0xffffffffu /* no buffer */

/* A buffer's descriptor; stored outside the buffer. */
struct trace_buffer {
    /* [c] event log: events in the buffer, per class; aligned to be copied in pairs */
    alignas(8) uint16_t count[TRACE_CLASS_MAX];
    volatile uint32_t word; /* [a] sequence << 2 | enum trace_buffer_state */
    uint32_t used;          /* [c] bytes used, valid when READY or BUSY */
    uint16_t dropped_slots; /* [c] event log: DROPPED slots at its beginning */
    uint16_t dropped_back;  /* [c] of these, those whose counts are pending again */
};

/* A ring's state for names of ended threads and processes (trace/ended.c), stored next to its
 * descriptors. */
struct trace_names {
    uint64_t named; /* [c] stamp of the most recent name */
    uint64_t other; /* [c] time at which a name was last wanted: stamp of the latest other event */
    bool wanted;    /* [c] the name being written is wanted on this CPU */
};

#define TRACE_WORD(sequence, state) (((uint32_t)(sequence) << 2) | (uint32_t)(state))
#define TRACE_WORD_STATE(word) ((word)&3u)
#define TRACE_WORD_SEQUENCE(word) ((word) >> 2)

struct trace_ring {
    uint8_t *base;                /* [I] buffers; NULL: not allocated */
    struct trace_buffer *buffers; /* [I] count descriptors */
    uint16_t *free_queue;         /* [k] slots written by the producer, count of them */
    uint16_t *by_sequence;        /* [c] buffer of sequence s at s % count; read by the taker */
    uint32_t count;               /* [I] */
    uint32_t buffer_bytes;        /* [I] */
    volatile uint32_t free_head;  /* [c] number of buffers taken from the queue so far */
    volatile uint32_t free_tail;  /* [k] number of buffers put in so far */
    uint32_t free_out;            /* [c] free_head % count */
    uint32_t free_in;             /* [k] free_tail % count */
    uint32_t active;              /* [c] index of the ACTIVE buffer, or TRACE_NONE */
    volatile uint32_t sequence;   /* [c] of the latest buffer that became ACTIVE */
    uint32_t oldest;              /* [c] no READY buffer has a lower sequence */
    volatile uint32_t taken;      /* [k] highest sequence taken */
    /* [c] sequence of the latest closed buffer; all up to it were closed or discarded */
    uint32_t closed_sequence;
    uint32_t overwritten; /* [c] READY buffers reused */
    uint32_t run;         /* [c] of those, the number since a FREE one was available */
    uint32_t ready_most;  /* [c] highest number of buffers READY and BUSY at once, including run */
    uint8_t policy;       /* [I] while running: enum trace_policy */
    bool overwrite;       /* [a] on overrun: reuse the oldest READY one; otherwise skip */
    bool retained;        /* [I] while allocated: closed buffers are sealed */
};

/* One CPU's losses: see trace/loss.h. */
struct trace_loss {
    uint64_t pending[KYMO_TRACE_REASONS][TRACE_CLASS_MAX]; /* [c] not in the stream yet */
    uint32_t classes[KYMO_TRACE_REASONS]; /* [c] bit per class with pending counts */
    uint32_t reasons;                     /* [c] bit per reason with pending counts */
    /* [c] counted by nested events, added to the others by the outer one */
    uint32_t recursive[TRACE_CLASS_MAX];
    uint64_t lost[TRACE_CLASS_MAX];           /* [c] in the stream as DROPPED */
    uint64_t lost_reason[KYMO_TRACE_REASONS]; /* [c] likewise, per reason */
    uint64_t recycled;                        /* [c] replaced by newer ones, ring policy */
};

/*
 * One CPU's state of the event log. Frequently used fields come first, in the order in which they
 * are loaded in pairs; trace_log2() accesses only count, cursor, limit, wrap and cpu_bits.
 */
struct trace_cpu {
    /* [c] events in the ACTIVE buffer, per class */
    alignas(8) uint16_t count[TRACE_CLASS_MAX];
    struct trace_slot *due;    /* [c] of the ACTIVE buffer: high-water mark, then the end */
    struct trace_slot *limit;  /* [c] fast path below this: due; NULL: slow path for each event */
    struct trace_slot *cursor; /* [c] next slot; &none[1] without an ACTIVE buffer */
    struct trace_slot *full;   /* [c] end; NULL if limit is NULL: see trace_log_time() */
    uint64_t wrap;             /* [c] 64-bit clocks: end of the latest TIME's high word */
    uint64_t cpu_bits;         /* [I] CPU's header bits */
    uint32_t clock_low;        /* [c] 32-bit clocks: the previous reading */
    uint32_t clock_high;       /* [c] number of wraps up to that reading */
    uint32_t time_high;        /* [c] high word of the latest stamp and of the latest TIME */
    uint32_t high_water;       /* [a] in slots; applies from the next buffer on */
    struct trace_slot *end;    /* [c] of the ACTIVE buffer; NULL: there is none */
    bool on;                   /* [c] tracing runs on this CPU */
    bool busy;                 /* [c] in the slow path: a nested event is a RECURSIVE drop */
    bool nested;               /* [c] there was a nested event */
    bool filled;               /* [c] fill policy: out of space */
    bool time_ahead; /* [c] stamps are ahead of the clock, past a wrap: use the slow path */
    bool request;    /* [c] call TRACE_PORT_REQUEST_EXIT() before the slow path ends */
    /* [a] belongs to the port, which checks it where it leaves the kernel */
    volatile uint32_t exit_work;
    uint32_t id;           /* [I] */
    uint32_t raised;       /* [k] ring.closed_sequence when the interrupt was last raised */
    uint32_t missed_slots; /* [c] slots requested while there was no buffer: the demand */
    /* [c] the next event of a class with pending losses is lost, too, if no buffer has become FREE:
     * log_lost() */
    bool losing;
    /* [c] Opening a buffer takes several steps (trace/log_buffer.h), and other events may occur in
     * between: obtained is 1 + the index of the buffer that is being reused; reporting is 1 + the
     * number of the loss that the ACTIVE buffer's next DROPPED slot reports. 0: no such step is
     * left. */
    uint32_t obtained, reporting;
    uint64_t closed; /* [c] events in all buffers that were closed, except those lost since */
    struct trace_slot none[2]; /* [c] none[0].time: latest stamp while no buffer is ACTIVE */
    struct trace_ring ring;
    struct trace_loss loss;
    /* [c] for D: the arguments of the firing probe, in its caller's frame, where stack() starts.
     * NULL: no probe fires. */
    const uint64_t *fired;
    uint64_t stamp;     /* [c] of the event whose probes fire; 0: not logged. See trace/stamp.h */
    uint64_t unstamped; /* [c] the log's latest stamp before that event */
    uint64_t stopped[TRACE_CLASS_MAX]; /* [c] stopped by the gate: trace/gate.h */
};

/* Result of trace_ring_obtain(). */
enum trace_found { TRACE_FOUND_NOTHING, TRACE_FOUND_FREE, TRACE_FOUND_READY };

/* Returns the size in bytes of the tables (descriptors, queues) for a ring of count buffers; a
 * multiple of 8. */
size_t trace_ring_table_bytes(unsigned count);
/* Initializes the ring, all buffers FREE. tables is zeroed memory. No CPU writes to the ring
 * yet. */
void trace_ring_init(struct trace_ring *ring, uint8_t *base, unsigned count, unsigned buffer_bytes,
                     void *tables);

/* Returns the number of FREE buffers: exact for the writer, though more may appear at any time; a
 * lower bound for others. */
static inline uint32_t trace_ring_free(const struct trace_ring *ring)
{
    return ring->free_tail - ring->free_head;
}

/*
 * Writer: obtains the next buffer: a FREE one, otherwise, if reuse, the oldest READY one. Its
 * descriptor still describes its old content; trace_ring_begin() then makes it ACTIVE with the next
 * sequence.
 */
enum trace_found trace_ring_obtain(struct trace_ring *ring, bool reuse, uint32_t *index);
void trace_ring_begin(struct trace_ring *ring, uint32_t index);
/* Writer: makes the ACTIVE buffer READY; the content's owner has set used and its own fields. */
void trace_ring_close(struct trace_ring *ring);
/* Writer: accounts for an overrun of `more` buffers in ready_most. */
void trace_ring_demand(struct trace_ring *ring, uint32_t more);

/* Lock: returns the READY buffer with the lowest sequence, which stays READY, or TRACE_NONE. The
 * writer may reuse it at any moment. */
uint32_t trace_ring_oldest(const struct trace_ring *ring);
/* Lock: makes the READY buffer with the lowest sequence BUSY and returns it, or TRACE_NONE. */
uint32_t trace_ring_take(struct trace_ring *ring);
/* Lock: makes a BUSY buffer FREE. Returns 0, or -EINVAL if it isn't BUSY. */
int trace_ring_give(struct trace_ring *ring, uint32_t index);
/* Lock and writer (a cross-call under the lock): makes a READY or ACTIVE buffer FREE. Must be
 * applied to all of them together, before the next begin(): otherwise the READY sequences would
 * have gaps. */
void trace_ring_discard(struct trace_ring *ring, uint32_t index);

/* Returns the index of the latest buffer with this sequence, or with a sequence that is `count`
 * lower or higher. */
static inline uint32_t trace_ring_index(const struct trace_ring *ring, uint32_t sequence)
{
    return ring->by_sequence[sequence % ring->count];
}

static inline struct trace_names *trace_ring_names(const struct trace_ring *ring)
{
    return (struct trace_names *)(void *)ring->buffers - 1;
}

static inline uint8_t *trace_ring_data(const struct trace_ring *ring, uint32_t index)
{
    return ring->base + (size_t)index * ring->buffer_bytes;
}

#endif
