/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture over time: what each thread did when, what each CPU ran, interrupts, kernel calls,
 * functions, messages, pulses and user events, in compact arrays. What happened is found out by
 * host/flow/; for `kymo why`, `kymo report`, `kymo diff` and others. docs/guide/why.md explains it.
 *
 * Nothing is invented. A stretch of which the capture doesn't show what a thread did is a span of
 * its own, with the state TIMELINE_UNKNOWN; a CPU's is a hole between its runs. A thread's RUNNING
 * is known while the CPU that runs it is covered (kev_capture_covered()), every other state only
 * while all CPUs are, since any of them may end it. After a loss a state is unknown until the next
 * event that tells it; so is one that a filter or a D gate of the recording may have hidden.
 *
 * Memory: at most 52 bytes for an event, below 4 G entries of an array. Arrays of more than a few
 * MB are in files without a name in $TMPDIR (store.c), so captures may be larger than memory. One
 * thread. Proof: test/host/timeline/timeline_test.c, which compares it with a simulated system.
 */
#ifndef HOST_TIMELINE_TIMELINE_H
#define HOST_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/flow/flow.h"

#define TIMELINE_NONE UINT32_MAX /* an index: none, or not known */
#define TIMELINE_UNKNOWN 255     /* a state */
#define TIMELINE_CPUS FLOW_CPUS

enum timeline_flag {
    TIMELINE_FROM = 1,    /* that it began at `from` is known: an event says so */
    TIMELINE_TO = 2,      /* that it ended at `to` is known */
    TIMELINE_ERROR = 4,   /* a message: MsgError() ended it */
    TIMELINE_ABORTED = 8, /* a message: the client went on without a reply */
};

/* The cause of a span. */
enum timeline_cause {
    TIMELINE_CAUSE_UNKNOWN = FLOW_CAUSE_UNKNOWN,
    TIMELINE_CAUSE_SELF = FLOW_CAUSE_SELF,           /* the thread blocked, or gave up the CPU */
    TIMELINE_CAUSE_THREAD = FLOW_CAUSE_THREAD,       /* `by` is the thread that did it */
    TIMELINE_CAUSE_INTERRUPT = FLOW_CAUSE_INTERRUPT, /* `by` is the number of the interrupt */
    TIMELINE_CAUSE_PREEMPTED = FLOW_CAUSE_PREEMPTED, /* READY: the thread lost its CPU */
};

struct timeline_span { /* a thread in one state */
    int64_t from, to;  /* ns; to: of the last one the capture's end */
    uint64_t object;   /* MUTEX, CONDVAR, SEM: address of the object; 0: not known */
    uint32_t thread;
    uint32_t by;      /* see `cause` */
    uint32_t other;   /* MUTEX: the thread that owned it; SEND, REPLY: the message; TIMELINE_NONE */
    int16_t cpu;      /* RUNNING: on which; -1 */
    int16_t priority; /* of the event that began it; -1: not recorded (the fast form has none) */
    int16_t on;       /* CPU of the event that began it; -1: no event did */
    uint8_t state;    /* STATE_* (abi/sys/states.h) or TIMELINE_UNKNOWN */
    uint8_t cause;    /* enum timeline_cause */
    uint8_t flags;    /* TIMELINE_FROM, TIMELINE_TO */
};

struct timeline_thread { /* one life of a thread: an id that is used again is another thread */
    const char *name;    /* the thread's or NULL; bytes of the capture, not trusted */
    const char *process; /* its process's or NULL */
    int64_t from, to;    /* ns: first event and end; KEV_NEVER: it lives at the capture's end */
    int32_t pid, tid;
    uint32_t life;         /* which thread of this pid and tid it is, from 1 */
    uint32_t first, count; /* in by_thread */
    bool idle;
};

struct timeline_message {
    int64_t sent, received, replied; /* ns; KEV_NEVER: not seen */
    uint32_t client, server;         /* threads; TIMELINE_NONE: not known */
    uint32_t rcvid;
    int32_t server_pid;
    uint32_t flags;
};

struct timeline_pulse {
    int64_t sent;
    uint32_t by; /* thread or interrupt number, see `cause` */
    int32_t to_pid;
    uint32_t scoid;
    uint8_t code; /* the event's number: 1 a program's, 4 a sigevent's, 5 ... of the kernel */
    uint8_t cause;
};

struct timeline_interrupt {
    int64_t from, to;
    uint32_t number;
    int16_t cpu;
    uint8_t depth; /* 0: it interrupted no other one, or its handler is the outermost */
    uint8_t flags;
};

struct timeline_call { /* a kernel call */
    int64_t from, to;
    uint64_t object; /* Sync*: the address; else 0 */
    uint32_t thread;
    uint8_t number;
    uint8_t class_id;
    uint8_t depth; /* functions of the thread that were open */
    uint8_t flags;
};

struct timeline_function { /* FUNC_ENTER to FUNC_EXIT */
    int64_t from, to;
    uint64_t address;
    uint32_t thread;
    uint32_t outer; /* the function that it was entered from; TIMELINE_NONE */
    uint8_t depth;  /* 255: that deep or deeper */
    uint8_t flags;
};

struct timeline_user { /* a user event */
    int64_t ns;
    uint64_t offset; /* of the event in the file, for its values */
    uint32_t thread;
    uint16_t number;
    int16_t cpu;
};

struct timeline_stretch {
    int64_t from, to;
};

struct timeline {
    struct kev_capture *capture;
    unsigned cpus;
    int64_t from, to; /* ns of the first and the last event */
    struct timeline_thread *threads;
    struct timeline_span *spans; /* in the order in which they became known; see by_thread */
    uint32_t *by_thread;         /* indexes of spans: all of a thread, by time, without holes */
    uint32_t *by_cpu;            /* indexes of RUNNING spans: all of a CPU, by time */
    uint32_t cpu_first[TIMELINE_CPUS + 1]; /* CPU n's are from cpu_first[n] to cpu_first[n + 1] */
    struct timeline_message *messages;     /* by `sent` */
    struct timeline_pulse *pulses;         /* by time, as below */
    struct timeline_interrupt *interrupts;
    struct timeline_interrupt *handlers; /* runs of a handler, inside of their interrupts */
    struct timeline_call *calls;
    struct timeline_function *functions;
    struct timeline_user *users;
    struct timeline_stretch *covered; /* when all CPUs are covered, by time */
    uint32_t nthreads, nspans, nmessages, npulses, ninterrupts, nhandlers, ncalls, nfunctions,
        nusers, ncovered;
    struct timeline_store *stores; /* private: store.c */
    int outcome;       /* KEV_COMPLETE; KEV_LOSSY: events are missing; KEV_FAILED: see fault */
    const char *doubt; /* why all of it may be wrong or unknown, NULL: it is right */
    char fault[512];   /* what failed: file, place, remedy; or what is missing */
};

/* Told how far reading is; may be NULL. */
typedef void timeline_progress(void *arg, uint64_t done, uint64_t total);
/* Given each item of the capture as it is read. False: it failed, and reading ends. */
typedef bool timeline_item(void *arg, const struct kev_item *item);

/* Reads an open capture, of which no item was taken, to its end. NULL: no memory for anything. With
 * the outcome KEV_FAILED the events read until then are there. The capture must live as long. */
struct timeline *timeline_new(struct kev_capture *capture, timeline_progress *progress, void *arg);
/* Likewise after kev_capture_learn(), for one who needs the items, too: they are read once. */
struct timeline *timeline_new_with(struct kev_capture *capture, timeline_progress *progress,
                                   void *arg, timeline_item *item, void *item_arg);
/* Gives memory of the arrays back to the system, which reads them from their files when they are
 * used again. For one who goes through arrays that are larger than memory. */
void timeline_rest(const struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* The span of a thread at a time (from <= ns < to); NULL: it did not live then, or nothing is known
 * of it. */
const struct timeline_span *timeline_span_at(const struct timeline *timeline, uint32_t thread,
                                             int64_t ns);
/* Position in by_thread, counted from the thread's first, of the first span that ends after
 * `ns`; the thread's count if none does. */
uint32_t timeline_span_find(const struct timeline *timeline, uint32_t thread, int64_t ns);
/* Position in by_cpu of a CPU's first run that ends after `ns`; cpu_first[cpu + 1]: none does. */
uint32_t timeline_run_find(const struct timeline *timeline, unsigned cpu, int64_t ns);
/* Span `index` of a thread, from 0. */
const struct timeline_span *timeline_span(const struct timeline *timeline, uint32_t thread,
                                          uint32_t index);
#endif
