/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts that a format that draws needs beside the events: which thread runs on which CPU, in
 * which state the others are, which events begin and end a slice (a kernel call, a function, an
 * interrupt), and which events are of one message. By the rules of host/timeline/timeline.h, but
 * forward and in memory that grows with threads and nesting only.
 *
 * Nothing is invented: facts that a loss, a filter, a gate or the selection may have hidden are
 * unknown, and not given. One thread. Proof: test/host/export/check.
 */
#ifndef HOST_EXPORT_FOLLOW_H
#define HOST_EXPORT_FOLLOW_H

#include "host/export/export.h"

#define FOLLOW_CPUS 64

/* A slice that is open. */
struct follow_open {
    uint32_t kind; /* enum follow_kind */
    uint64_t what; /* number of the call or interrupt, address of the function */
};
enum follow_kind { FOLLOW_CALL, FOLLOW_FUNCTION, FOLLOW_INTERRUPT, FOLLOW_HANDLER };

/* Slices that nest, of a thread or of a CPU's interrupts. */
struct follow_stack {
    struct follow_open *open;
    uint32_t depth, room;
    uint32_t over; /* functions that are open, too, but too deep to be followed */
};

struct follow_thread { /* one life of a thread */
    struct follow_thread *next;
    struct follow_stack slices;
    uint64_t message; /* that it has sent and that has not ended; 0: none */
    struct follow_thread *message_next;
    int64_t since;   /* ns at which `state` began */
    uint32_t serial; /* its number, from 1: ids are used again */
    int32_t pid, tid;
    uint32_t rcvid;     /* of `message`, as `server` has it */
    int32_t server;     /* the pid that it was sent to */
    int16_t state;      /* STATE_* (abi/sys/states.h); -1: not known */
    int16_t next_state; /* that it has taken on and that begins when it leaves its CPU; -1 */
    int16_t priority;   /* as last recorded; -1 */
    int16_t cpu;        /* it runs there; -1 */
    int16_t held;       /* its state begins with that CPU's next THRUNNING; -1 */
    bool idle;          /* the CPU's idle thread */
    bool received;      /* `message` */
    bool gone;          /* destroyed while it still ran */
    bool described;     /* the format's: it has described the thread */
};

enum follow_role { FOLLOW_POINT, FOLLOW_BEGIN, FOLLOW_END };
enum follow_message { FOLLOW_NONE, FOLLOW_SENT, FOLLOW_RECEIVED, FOLLOW_REPLIED };

/* The meaning of an event. */
struct follow_step {
    int64_t ns;                    /* the item's, but never before that of an earlier item */
    struct follow_thread *thread;  /* on whose track the event is; NULL: its CPU's */
    struct follow_thread *current; /* who runs on the CPU when it happens; NULL: not known */
    struct follow_thread *owner;   /* whose it is: an interrupt's, who ran; NULL: not known */
    enum follow_role role;         /* on that track */
    enum follow_message message;
    uint64_t message_id;
    struct follow_thread *party; /* who has sent or received it, or gets the reply */
    bool switched;               /* `running` runs from here on, instead of `previous` */
    struct follow_thread *running, *previous; /* previous: NULL if it is not known */
    int previous_state;                       /* in which state it is now; -1: not known */
    struct follow_thread *woken;              /* it was not ready and is */
};

/* NULL: not asked for. */
struct follow_ops {
    /* A thread was in a known state, on `cpu` if it ran. */
    void (*span)(struct export *, const struct follow_thread *, int state, int cpu, int64_t from,
                 int64_t to);
    /* The slice that was begun last on a thread's track, or (NULL) on that of a CPU's interrupts,
     * ends without an event of its own: its end is not in the capture. */
    void (*close)(struct export *, const struct follow_thread *, int cpu, int64_t ns);
    /* No reply to `thread->message` is seen any more. */
    void (*abandon)(struct export *, const struct follow_thread *, int64_t ns);
};

struct follow;

/* NULL: no memory, reported. */
struct follow *follow_new(struct export *export, const struct follow_ops *ops);
void follow_free(struct follow *follow);
/* An event. 0, or -1: no memory, reported. The step's pointers live until the next call. */
int follow_take(struct follow *follow, const struct kev_item *item, struct follow_step *step);
/* A loss: what it ends has ended when this returns. */
void follow_lose(struct follow *follow, const struct kev_item *item);
/* The capture's end ends all that is open. */
void follow_end(struct follow *follow);

/* Threads that are known to be ready, and those of which the state is not known. */
void follow_count(const struct follow *follow, unsigned *ready, unsigned *unknown);

#endif
