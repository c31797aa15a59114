/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one reader of what happened: from the events of a capture to spans and causes. Which thread
 * was in which state when and why, what each CPU ran, kernel calls, functions, interrupts and
 * messages from their begins to their ends. docs/inside/flow.md has the rules.
 *
 * It reads forward, and its memory grows with the threads that live and with nesting only; of more
 * than FLOW_THREADS_MOST threads at once nothing is known, as flow_doubt() says. The work of an
 * event is bounded, whatever the capture holds. Nothing is invented: what a loss, a filter, a gate
 * or a selection may have hidden is unknown, and not given. A thread is one life of it: a pid and a
 * tid that are used again are another thread. Not for several threads. Proof:
 * test/host/timeline/oracle_test.c and timeline_test.c, test/host/flow/capacity_test.c,
 * test/host/export/check.
 */
#ifndef HOST_FLOW_FLOW_H
#define HOST_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/sys/states.h"
#include "host/id_tree.h"
#include "host/kev/kev.h"

#define FLOW_CPUS 64
#define FLOW_UNMARKED UINT32_MAX
#define FLOW_THREADS_MOST 1000000 /* that live at once */

/* The cause of an event, or of a thread's state. */
enum flow_cause {
    FLOW_CAUSE_UNKNOWN = 0,
    FLOW_CAUSE_SELF = 1,      /* the thread itself: it blocked, or gave up the CPU */
    FLOW_CAUSE_THREAD = 2,    /* `by` is the thread's serial, which ran on the CPU of the event */
    FLOW_CAUSE_INTERRUPT = 3, /* `by` is the number of the interrupt */
    FLOW_CAUSE_PREEMPTED = 4, /* READY: the thread lost its CPU */
};

/* A thread in one state. */
struct flow_state {
    uint32_t mark;    /* the consumer's; FLOW_UNMARKED */
    int64_t since;    /* ns; it is known to have begun then: `begun` */
    uint64_t object;  /* MUTEX, CONDVAR, SEM: address of the object; 0: not known */
    uint32_t owner;   /* MUTEX: serial of the thread that owned it; 0: not known */
    uint32_t message; /* SEND, REPLY: the mark of the thread's message; FLOW_UNMARKED */
    uint32_t by;      /* see `cause` */
    int16_t state;    /* STATE_* (abi/sys/states.h); -1: not known */
    int16_t cpu;      /* RUNNING: on which; -1 */
    int16_t priority; /* of the event that began it; -1: not recorded */
    int16_t on;       /* CPU of that event; -1: no event did */
    uint8_t cause;    /* enum flow_cause */
    bool begun;
};

/* A slice that is open. */
struct flow_open {
    uint32_t kind;   /* enum flow_kind */
    uint32_t mark;   /* the consumer's; FLOW_UNMARKED */
    uint64_t what;   /* number of the call or interrupt, address of the function */
    uint64_t object; /* Sync* calls: address of the object; 0 */
    uint64_t mutex;  /* SyncCondvarWait(): address of its mutex; 0 */
    uint32_t owner;  /* SyncMutexLock(): serial of the thread that owns it; 0: not known */
    /* Private to host/flow/slice.c, which finds a slice by its kind and `what`. */
    uint32_t branch[4]; /* indexes + 1 of slices with others; 0: none */
    uint32_t latest;    /* of the first one with these: index of the newest */
    uint32_t before;    /* index + 1 of the one before with these */
    uint32_t handler;   /* index + 1 of the innermost handler, up to this one */
};
enum flow_kind { FLOW_CALL, FLOW_FUNCTION, FLOW_INTERRUPT, FLOW_HANDLER };

/* Slices that nest, of a thread or of a CPU's interrupts. */
struct flow_stack {
    struct flow_open *open;
    uint32_t depth, room;
    uint32_t root; /* index + 1 of the first slice; 0: none */
    uint32_t over; /* functions that are open, too, but too deep to be followed */
};

struct flow_process;

struct flow_thread {                           /* one life of a thread */
    struct id_node node;                       /* among the threads that live */
    struct id_node rcvid_node;                 /* among messages: of the newest with its rcvid */
    struct flow_thread *next;                  /* of those that have ended */
    struct flow_thread *sibling, **sibling_at; /* in its process's list */
    struct flow_thread *newer, **newer_at;     /* of those of which something is known */
    struct flow_process *process;
    struct flow_stack slices;
    struct flow_state now;
    struct flow_state then; /* that it has taken on and that begins when it leaves its CPU */
    unsigned then_turn;     /* of the coverage in which it did: another one may have ended it */
    uint64_t message;       /* that it has sent and that has not ended; 0: none */
    struct flow_thread *message_older, *message_newer; /* with that rcvid */
    struct flow_thread *held_next, **held_at;          /* in its CPU's list; see `held` */
    uint32_t message_mark;                             /* the consumer's; FLOW_UNMARKED */
    uint32_t serial;                                   /* its number, from 1 */
    uint32_t mark;                                     /* the consumer's; FLOW_UNMARKED */
    int32_t pid, tid;
    uint32_t rcvid;   /* of `message`, as `server` has it */
    int32_t server;   /* the pid that it was sent to */
    int16_t priority; /* as last recorded; -1 */
    int16_t cpu;      /* it runs there; -1 */
    int16_t held;     /* `then` begins with that CPU's next THRUNNING; -1 */
    bool idle;        /* the CPU's idle thread */
    bool received;    /* `message` */
    bool handed;      /* likewise: it was handed over */
    bool gone;        /* destroyed while it still ran */
    bool described;   /* the consumer's: cleared when the thread may have another name */
};

enum flow_role { FLOW_POINT, FLOW_BEGIN, FLOW_END };
/* HANDED: it is received, but by which thread is not known yet, if ever. */
enum flow_message { FLOW_NONE, FLOW_SENT, FLOW_RECEIVED, FLOW_REPLIED, FLOW_HANDED };

/* The meaning of an event. */
struct flow_step {
    int64_t ns;                  /* the item's, but never before that of an earlier item */
    struct flow_thread *thread;  /* on whose track the event is; NULL: its CPU's */
    struct flow_thread *current; /* who runs on the CPU when it happens; NULL: not known */
    struct flow_thread *owner;   /* whose it is: an interrupt's, who ran; NULL: not known */
    enum flow_role role;         /* on that track */
    struct flow_open
        *slice; /* BEGIN: to be marked; END: what ended, until the next call; else NULL */
    enum flow_message message;
    uint64_t message_id;
    struct flow_thread *client; /* of the message; SENT: message_mark is there to be set */
    uint32_t message_mark;      /* otherwise: as it was set */
    struct flow_thread *party;  /* who has sent or received it, or gets the reply; NULL: none */
    bool switched;              /* `running` runs from here on, instead of `previous` */
    struct flow_thread *running, *previous; /* previous: NULL if it is not known */
    int previous_state;                     /* in which state it is now; -1: not known */
    struct flow_thread *woken;              /* it was not ready and is */
    uint32_t by;                            /* see `cause` */
    enum flow_cause cause;                  /* who does it: a thread or an interrupt */
};

enum flow_ending {
    FLOW_LOST,    /* no more is known of it: events are lost, or it is the capture's end */
    FLOW_ABORTED, /* a message: the client goes on without a reply; both: the thread is gone */
    FLOW_UNSEEN,  /* a slice: another event shows that it is over; since when is not known */
};

/* Functions of the consumer, called while a step is made; NULL: none. `arg` is flow_new()'s. */
struct flow_ops {
    /* A thread is met for the first time. */
    void (*thread)(void *arg, struct flow_thread *, int64_t ns);
    /* A thread has ended, or another one has its id; the pointer is good until the next step. */
    void (*gone)(void *arg, const struct flow_thread *, int64_t ns);
    /* A thread is in a known state from now on. It may mark the state. */
    void (*begin)(void *arg, struct flow_thread *, struct flow_state *);
    /* A thread was in a known state, until `to`; `ended`: it is known to have ended then. */
    void (*span)(void *arg, const struct flow_thread *, const struct flow_state *, int64_t to,
                 bool ended);
    /* The slice that was begun last on a thread's track, or (NULL) on that of a CPU's interrupts,
     * ends without an event of its own: its end is not in the capture. */
    void (*close)(void *arg, const struct flow_thread *, int cpu, const struct flow_open *,
                  int64_t ns, enum flow_ending);
    /* No reply to `thread->message` is seen any more. */
    void (*abandon)(void *arg, const struct flow_thread *, int64_t ns, enum flow_ending);
    /* A CPU is covered from here on, or no longer: what it ran has been given. */
    void (*cpu)(void *arg, unsigned cpu, int64_t ns, bool covered);
    /* All CPUs are covered from here on, or no longer. */
    void (*covered)(void *arg, int64_t ns, bool all);
};

/* The scope of the recording by the header (docs/reference/format.md, "What was recorded"). */
struct flow_filters {
    bool no_threads, no_interrupts, no_messages, no_calls;
    bool gate;   /* a D program decided: any event may be missing */
    bool set;    /* applications set the filters */
    bool stated; /* the header says something */
};
void flow_filters(const struct kev_capture *capture, struct flow_filters *filters);
/* Returns true if a TraceEvent() with these words, in the wide form or not, hides THREAD, COMM or
 * INT events from then on. */
bool flow_hides(const uint32_t *words, unsigned nwords, bool wide);
/* Likewise KERCALL events. */
bool flow_hides_calls(const uint32_t *words, unsigned nwords, bool wide);

struct flow;

/* partial: the selection takes single events, CPUs or threads, so what is between isn't known.
 * Returns NULL if there is no memory. */
struct flow *flow_new(struct kev_capture *capture, bool partial, const struct flow_ops *ops,
                      void *arg);
/* For a caller that reads a capture without libkev, what the flow needs to know of it. */
struct flow_source {
    const struct kev_facts *facts;
    uint64_t cpus; /* a bit for each CPU that records */
    /* Stretch `index` over which a CPU is covered; returns 0 after the last one. */
    int (*covered)(void *arg, unsigned cpu, unsigned index, int64_t *from, int64_t *to);
};
/* A flow of the states of threads and of messages alone: no slices, no causes. It takes the events
 * of classes PR_TH and COMM and those of TraceEvent(), and flow_pass() the times of all others;
 * times may be in any unit. `arg` is also the source's. */
struct flow *flow_new_of_states(const struct flow_source *source, const struct flow_ops *ops,
                                void *arg);
void flow_free(struct flow *flow);
/* An event. Returns 0, or -1 if there is no memory. The step's pointers live until the next
 * call. */
int flow_take(struct flow *flow, const struct kev_item *item, struct flow_step *step);
/* Likewise, with the event's words. */
int flow_take_words(struct flow *flow, const struct kev_item *item, const uint32_t *words,
                    unsigned nwords, struct flow_step *step);
/* The time of an event that is not taken. Returns up to which time there is nothing to be done for
 * later ones, that is, before which they need not be passed. */
int64_t flow_pass(struct flow *flow, int64_t ns);
/* A loss: what it ends has ended when this returns. */
void flow_lose(struct flow *flow, const struct kev_item *item);
/* The capture's end ends all that is open. */
void flow_end(struct flow *flow);
/* Returns whether kernel calls are or may be missing: by the header, or by a program's command. */
bool flow_without_calls(const struct flow *flow);
/* Returns why all of it may be wrong or unknown; NULL: it is right. A constant. */
const char *flow_doubt(const struct flow *flow);

/* Returns whether a thread is one that runs when a CPU has nothing to do. */
bool flow_is_idle(const struct kev_facts *facts, int32_t pid, int32_t tid);
/* Threads that are known to be ready, and those of which the state is not known. */
void flow_count(const struct flow *flow, unsigned *ready, unsigned *unknown);

/* Returns the thread that has these numbers now; NULL: none of which an event was met. */
struct flow_thread *flow_find(struct flow *flow, int32_t pid, int32_t tid);
/* Returns the process's thread if it is the only one; NULL: it has none, or several. */
struct flow_thread *flow_only(const struct flow *flow, int32_t pid);

/* "REPLY"; "unknown". */
const char *flow_state_name(unsigned state);

#endif
