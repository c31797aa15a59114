/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts that the files of host/flow/ share.
 */
#ifndef HOST_FLOW_OWN_H
#define HOST_FLOW_OWN_H

#include <limits.h>

#include "host/flow/flow.h"

#define FLOW_INTERRUPTS 1024 /* numbers of which more than the number is noted */

#define FLOW_NO_TURN UINT_MAX

/* Numbers of kernel calls: CALL_SYNC_MUTEX_LOCK. */
#define KERCALL(number, name, ...) CALL_##name = (number),
enum {
#include "abi/kercalls.def"
};
#undef KERCALL

struct flow_turn { /* a CPU is covered from here on, or no longer */
    int64_t ns;
    uint8_t cpu;
    bool covered;
};

struct flow_process { /* a pid that threads which live have */
    struct id_node node;
    struct flow_thread *threads;
    int32_t pid;
};

struct flow_cpu {
    bool covered;
    bool interrupted; /* an interrupt came since a thread entered the kernel: `interrupt` */
    bool aborting; /* the current thread's kernel call was given up, and it is in the kernel yet */
    bool several;  /* interrupts of several numbers did */
    uint32_t interrupt;
    int32_t answered_pid, answered_tid; /* whom the previous event gave a reply; KEV_NOBODY */
    struct flow_thread *current;        /* NULL: not known */
    struct flow_thread *told;           /* current once it is covered, as an injected event says */
    struct flow_thread *handed;         /* client: the server's next thread that is READY has it */
    struct flow_thread *held;           /* threads whose states begin with its next THRUNNING */
    struct flow_stack interrupts;
};

struct flow {
    struct kev_capture *capture; /* NULL: `source` */
    const struct flow_source *source;
    const struct kev_facts *facts;
    const struct flow_ops *ops;
    void *arg;
    const char *doubt;
    struct flow_filters filters;
    struct id_tree threads;     /* by pid and tid */
    struct id_tree processes;   /* by pid */
    struct id_tree messages;    /* by rcvid and the server's pid */
    struct flow_thread *newest; /* of those of which something is known */
    struct flow_thread *corpse; /* freed with the next event */
    struct flow_turn *turns;
    unsigned nturns, turn;
    unsigned uncovered;  /* CPUs that are not covered now */
    bool states, slices; /* they can be known at all */
    bool failed, begun;
    bool marked;                   /* events of state dumps are marked as such: one has come */
    unsigned live, ready, unknown; /* threads */
    unsigned live_most;            /* FLOW_THREADS_MOST; of a test: less */
    uint32_t serial;
    uint64_t message;
    uint64_t steps; /* through lists, for test/host/flow/capacity_test.c */
    int64_t now;
    /* The interrupt wakes nobody, but by the handlers that run for it. */
    bool handled[FLOW_INTERRUPTS];
    struct flow_cpu cpus[FLOW_CPUS];
};

/* A message that was handed over on the CPU is its server's, or will never be known to be. */
static inline void flow_handed_end(struct flow_cpu *cpu)
{
    if (cpu->handed != NULL) {
        cpu->handed->handed = false;
        cpu->handed = NULL;
    }
}

/* thread.c. A thread that lives; NULL: it is not known whose the event is, or there is no
 * memory. */
struct flow_thread *flow_thread_of(struct flow *flow, int32_t pid, int32_t tid);
/* A thread of this id is made: another one that had it is gone. */
void flow_thread_begin(struct flow *flow, int32_t pid, int32_t tid, int64_t ns);
/* ended: the end of its last state is known. */
void flow_thread_end(struct flow *flow, struct flow_thread *thread, int64_t ns, bool ended);
/* A process of this id is made: the threads of another one that had it are gone. */
void flow_process_begin(struct flow *flow, int32_t pid, int64_t ns);
/* Something is known of the thread. */
void flow_thread_noted(struct flow *flow, struct flow_thread *thread);
/* Calls fn for all threads of which something is known and that don't run; fn may end that one. */
void flow_threads_do(struct flow *flow, int64_t ns,
                     void (*fn)(struct flow *, struct flow_thread *, int64_t));
/* Frees the threads that ended with the last event. */
void flow_corpses_bury(struct flow *flow);
void flow_threads_free(struct flow *flow);

/* A thread's `then` begins with the CPU's next THRUNNING; or no longer does. */
void flow_thread_hold(struct flow *flow, struct flow_thread *thread, unsigned cpu);
void flow_thread_unhold(struct flow_thread *thread);

/* state.c */
extern const struct flow_state flow_state_unknown;
/* An event of class PR_TH of a thread. */
void flow_state_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                      const uint32_t *words, unsigned nwords);
/* Nothing is known of a thread that doesn't run; over: `ended` says whether its state has ended. */
void flow_thread_over(struct flow *flow, struct flow_thread *thread, int64_t ns, bool ended);
void flow_thread_lose(struct flow *flow, struct flow_thread *thread, int64_t ns);
/* The CPU's thread leaves it. `known`: its state from now on is the one last recorded. */
void flow_cpu_leave(struct flow *flow, unsigned cpu, int64_t ns, bool known);
/* The CPU is covered: the thread that it is told to run runs. */
void flow_cpu_told(struct flow *flow, unsigned cpu, int64_t ns);

/* message.c */
void flow_message_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                        const uint32_t *words);
void flow_message_step(struct flow_step *step, enum flow_message what, struct flow_thread *client,
                       struct flow_thread *party);
/* ops->abandon is called unless the message was replied to. */
void flow_message_forget(struct flow *flow, struct flow_thread *client, int64_t ns, bool replied,
                         enum flow_ending ending);

/* slice.c */
void flow_call_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                     const uint32_t *words, unsigned nwords);
void flow_interrupt_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                          const uint32_t *words, unsigned nwords);
void flow_function_event(struct flow *flow, const struct kev_item *item, struct flow_step *step);
/* Ends those above `depth`: their ends are not in the capture. */
void flow_slices_close(struct flow *flow, struct flow_stack *stack,
                       const struct flow_thread *thread, int cpu, uint32_t depth, int64_t ns,
                       enum flow_ending ending);
/* The innermost handler that runs on the CPU; NULL: none does. */
const struct flow_open *flow_handler_of(const struct flow_cpu *cpu);
/* The kernel call that the thread is in; NULL: none that is known. */
const struct flow_open *flow_call_of(const struct flow_thread *thread);

/* cause.c. Returns the cause of what happens on this CPU now; woken: to this thread, or NULL. */
enum flow_cause flow_doer(const struct flow *flow, unsigned cpu, const struct flow_thread *woken,
                          uint32_t *by);
/* After each event of the CPU; when a thread of it enters the kernel. */
void flow_cause_event(struct flow *flow, const struct kev_item *item, const uint32_t *words,
                      unsigned nwords);
void flow_cause_calls(struct flow_cpu *cpu);
/* Fills in `cause` and `by` of a state that a thread takes on by an event on this CPU. */
void flow_cause(const struct flow *flow, unsigned cpu, const struct flow_thread *thread,
                struct flow_state *state);

/* cover.c. False: no memory. */
bool flow_cover_find(struct flow *flow);
/* Coverage changes until `ns`; afterwards it doesn't: a program has changed the filters. */
void flow_cover_until(struct flow *flow, int64_t ns);
void flow_cover_stop(struct flow *flow, int64_t ns);

#endif
