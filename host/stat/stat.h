/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo stat's account of a capture: filled by one pass over the merged events, then shown as text
 * or JSON. Times are in cycles of the trace clock. Memory is bounded: STAT_THREADS threads and so
 * on; what does not fit any more is counted in `overflow`.
 */
#ifndef HOST_STAT_STAT_H
#define HOST_STAT_STAT_H

#include <stdio.h>
#include <time.h>

#include "host/flow/flow.h"
#include "host/id_tree.h"
#include "host/kymo.h"
#include "abi/sys/states.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

#define STAT_THREADS 65536
#define STAT_PAIRS 1024
#define STAT_IRQS 1024
#define STAT_CALLS 128
#define STAT_ERRORS 512 /* larger error numbers count as 0 */
#define STAT_IRQ_DEPTH 16
#define STAT_IDLE_PID 1
#define STAT_ROWS 40 /* of a table, unless all are wanted */
#define STAT_SLOWEST 10
#define STAT_COLUMNS 150  /* a terminal with fewer has rows of two lines, where they are long */
#define STAT_INDENT 6     /* of a line's second part */
#define STAT_SERVED 16384 /* pairs of a client thread and a server process */
#define STAT_NESTED 16    /* servers that work for servers */

/* ---- map.c: u64 -> memory of a fixed size, zeroed when added; out of memory: exit() --- */

struct map {
    size_t value_bytes;
    uint32_t most, count, room;
    struct id_tree tree;
    void **values; /* as they were made */
};

void *map_get(const struct map *map, uint64_t key); /* NULL: not there */
void *map_make(struct map *map, uint64_t key);      /* adds it, which is not there; NULL: full */
void map_free(struct map *map);
/* All values, in an array to be freed; *n of them. */
void **map_values(const struct map *map, uint32_t *n);

/* ---- hist.c: a histogram with 64 steps an octave: percentiles within 1 % ----------- */

struct hist {
    uint64_t count, sum, min, max;
    uint64_t max_at;       /* when the longest began */
    uint32_t *octaves[60]; /* the bins of each, NULL: none is in use */
};

void hist_add(struct hist *hist, uint64_t value, uint64_t at);
uint64_t hist_percentile(const struct hist *hist, unsigned percent);

/* How many values are from `from` up to below `to`, which are powers of two or a quarter, half or
 * three quarters of one above them: the same in all histograms. */
struct hist_step {
    uint64_t from, to, count;
};
#define HIST_STEPS_MOST 256
/* Fills in those with values, ascending; returns how many there are. Their counts add up to all. */
unsigned hist_steps(const struct hist *hist, struct hist_step steps[HIST_STEPS_MOST]);
void hist_free(struct hist *hist);

/* ---- the account ------------------------------------------------------------------- */

/*
 * The flow (host/flow/flow.h) says what threads do and which messages go between them. Its times
 * are cycles of the trace clock here; the account adds up what it gives. A row of the tables is one
 * life of a thread.
 *
 * Two clocks. A CPU's figures are over the time that the CPU is covered: outside of it events of
 * the CPU are missing. What a thread does depends on every CPU, since any of them may wake or run
 * it: threads' figures are over the time in which all CPUs are covered, which the common clock
 * counts. It stands still while any CPU is not covered, and each time it stops or goes on a new
 * epoch begins.
 */
struct open_send {           /* a message that a thread has sent */
    struct pair *pair;       /* NULL: none is open */
    uint64_t sent, received; /* 0: not yet */
    struct thread *server;   /* NULL: not known */
};

struct process { /* one life of a process */
    int32_t pid, ppid;
    uint32_t index; /* in the order in which they were met */
    bool named, destroyed;
    char name[64];
    uint64_t met;        /* when */
    uint64_t running;    /* of all threads, from stat_finish() on */
    uint64_t pulses[16]; /* sent to it, by COMM event */
    struct process *older;
};

struct thread { /* one life of a thread */
    int32_t pid, tid;
    uint32_t index; /* in the order in which threads were met */
    uint32_t life;  /* which of those that have had these ids, from 1 */
    struct process *process;
    int state; /* STATE_* since `since`; -1: not known */
    int cpu;   /* it is current there, -1: nowhere that is known */
    uint64_t since;
    uint64_t time[STATE_MAX + 2]; /* common clock, by state; RUNNING: while current on a CPU */
    uint64_t runs;                /* times it became current */
    uint64_t migrations;          /* of them on another CPU than before */
    int last_cpu;
    uint32_t last_epoch; /* of last_cpu */
    bool idle;           /* it runs when its CPU has nothing to do */
    bool gone;
    char name[64];
    struct open_send send;
    /* Messages received and not replied to: threads that this one works for, the newest first. */
    struct thread *clients;
    struct thread *server;        /* the server thread that works for this client, or NULL */
    struct thread *newer, *older; /* there */
    uint32_t served_epoch;        /* of `server` */
    uint64_t imposed;             /* common clock: how long others ran on its behalf */
};

struct pair {                   /* sender process -> receiver process */
    const struct process *from; /* NULL: not known */
    const struct process *to;
    uint64_t sent, replied, errors;
    struct hist latency; /* send to reply */
    struct hist wait;    /* send to receive */
};

struct slow {                             /* one of the slowest messages */
    const struct thread *client, *server; /* server: NULL: not known */
    const struct process *to;
    uint64_t sent, received; /* 0: not known */
    uint64_t ended;
    bool error, aborted; /* aborted: the client went on, or died, without a reply */
};

struct served { /* what a client thread had a server process do */
    struct thread *client;
    const struct process *server;
    uint64_t time; /* common clock: the server's threads ran for the client */
};

struct irq {
    uint64_t count, timed, time, max, max_at,
        handlers;                                /* timed: of which entry and exit were seen */
    uint64_t counted[KEV_CPUS], taken[KEV_CPUS]; /* count and time on a CPU while covered */
};

struct call {
    uint64_t enter, exit, interrupted, errors;
    uint64_t by_error[STAT_ERRORS];
};

struct cpu {
    bool covered;
    struct thread *current;
    /* A message of a client that is not known was handed over here: the next thread of this
     * process that is READY on this CPU has it. 0: none. */
    int32_t handed_to;
    uint64_t since;
    uint64_t common_since; /* the same by the common clock */
    uint64_t busy, idle;
    uint64_t unknown; /* covered, but what ran is not known */
    uint64_t irq_time, events, events_covered, control;
    struct {
        uint32_t irq;
        uint64_t since;
    } irqs[STAT_IRQ_DEPTH];
    unsigned depth;
    uint64_t lost[KYMO_TRACE_REASONS][KEV_CLASSES];
};

/* The recorded filters: filter.c. */
struct stat_filter {
    bool stated;       /* the header has FILTER_1 */
    bool gate;         /* a D program stopped events */
    bool applications; /* they set the filters */
    bool pauses;       /* applications stop and start */
    bool no_threads, no_interrupts;
    bool changed; /* a command that may hide events was seen */
    uint64_t changed_at;
};

/*
 * The account's stretches, for a caller that shows it over time (host/report/usage.c): their sums
 * are the account's figures. Called as they become known, all of them from stat_event() and
 * stat_finish(). Times are of the trace clock.
 */
struct stat_watch {
    void *arg;
    /* The common clock goes on or stops: a new epoch has begun. */
    void (*epoch)(void *arg, uint64_t now, bool goes);
    /* A covered CPU ran a thread; NULL: it is not known what. */
    void (*ran)(void *arg, unsigned cpu, const struct thread *thread, uint64_t from, uint64_t to);
    /* A thread became current on `cpu`; `from`: where it was before, -1: not known. */
    void (*moved)(void *arg, const struct thread *thread, int from, unsigned cpu, uint64_t now);
    /* A thread that was not current was in a state. */
    void (*waited)(void *arg, const struct thread *thread, unsigned state, uint64_t from,
                   uint64_t to);
    /* The steps of a message: sent (client NULL: not known), received, replied to. */
    void (*sent)(void *arg, const struct thread *client, int32_t to, uint64_t now);
    void (*received)(void *arg, const struct thread *client);
    void (*replied)(void *arg, const struct thread *client, uint64_t now, bool error);
    /* A server's thread ran for a client. */
    void (*served)(void *arg, const struct thread *client, const struct thread *server,
                   uint64_t from, uint64_t to);
    /* An interrupt began; it ended, `depth` interrupts below it. */
    void (*entered)(void *arg, uint32_t line, unsigned cpu, uint64_t now);
    void (*handled)(void *arg, uint32_t line, unsigned cpu, unsigned depth, uint64_t from,
                    uint64_t to);
};

struct stat {
    struct kev *kev;
    const struct stat_watch *watch; /* NULL: nobody watches */
    struct stat_filter filter;
    bool cut; /* the file ends too early */
    struct kev_facts facts;
    struct flow_source source;
    struct flow *flow;
    struct kev_item item;             /* that the flow takes */
    int64_t next_turn;                /* before it no CPU begins or ends to be covered */
    struct kev_span *spans[KEV_CPUS]; /* over which each CPU is covered */
    long nspans[KEV_CPUS];
    bool goes;                  /* all CPUs are covered */
    uint64_t common, common_at; /* the common clock, and when it was that */
    uint32_t epoch;
    bool marked; /* events of state dumps are marked as such: one has come */
    bool
        missing; /* buffers are missing, or not those that were written (kev_next()'s last error) */
    uint64_t first, last;
    uint64_t events;   /* CONTROL ones not counted */
    uint64_t injected; /* events that no kernel made: in none of the counts */
    uint64_t lost;
    uint64_t recycled; /* between the runs of a ring: no loss */
    uint64_t by_class[KEV_CLASSES];
    /* By number; the fast and the wide form of an event count as one. */
    uint64_t by_event[KEV_CLASSES][TRACE_EVENT_MASK + 1];
    uint64_t overflow;
    struct thread **threads; /* all lives, by index */
    uint32_t nthreads, threads_room;
    uint32_t living;        /* threads that the flow follows */
    struct process *newest; /* all lives of processes, the newest first */
    uint32_t nprocesses;
    struct map lives;     /* by pid and tid: struct thread *, the latest life */
    struct map processes; /* by pid: struct process *, the latest life */
    struct map pairs, served;
    struct slow slowest[STAT_SLOWEST];
    unsigned nslowest;
    struct irq irqs[STAT_IRQS];
    struct call calls[STAT_CALLS];
    unsigned ncpus; /* of which something is known: the highest one + 1 */
    struct cpu cpus[KEV_CPUS];
};

/* realloc() for an array of `room` elements, which are doubled; ends the program if there is no
 * memory. */
void *stat_grow(void *array, uint32_t *room, size_t bytes);
struct stat *stat_new(struct kev *kev); /* NULL: out of memory */
/* filter.c. Called before stat_cover(); for each kernel call's entry: whether it may hide events
 * from then on. filter_doubt() returns why figures may be wrong, NULL if they are right. */
void filter_read(struct stat *stat);
bool filter_event(struct stat *stat, const struct kev_event *event);
const char *filter_doubt(const struct stat *stat);
/* cover.c. Finds when CPUs are covered, for the flow. Returns false if there is no memory. */
bool stat_cover(struct stat *stat);
void stat_cover_free(struct stat *stat);
/* Functions of the flow: a CPU, or all of them, are covered from here on, or no longer. */
void stat_cover_cpu(void *arg, unsigned cpu, int64_t ns, bool covered);
void stat_cover_all(void *arg, int64_t ns, bool all);
/* Cycles as the flow has them; more are of a damaged file. */
static inline int64_t stat_flow_time(uint64_t time)
{
    return time > INT64_MAX ? INT64_MAX : (int64_t)time;
}
/* A time of the flow's as the account has it: not before the first event. */
static inline uint64_t stat_now(const struct stat *stat, int64_t ns)
{
    return ns < 0 || (uint64_t)ns < stat->first ? stat->first : (uint64_t)ns;
}
static inline uint64_t stat_common(const struct stat *stat, uint64_t now)
{
    return stat->common + (stat->goes && now > stat->common_at ? now - stat->common_at : 0);
}
/* Returns true if all CPUs are covered now and were since this epoch began. */
bool stat_known_since(const struct stat *stat, uint32_t epoch);
bool stat_is_idle(const struct stat *stat, int32_t pid, int32_t tid);
/* Return how long a CPU was covered, and a thread's state known, in cycles. */
uint64_t stat_cpu_covered(const struct cpu *cpu);
uint64_t stat_thread_covered(const struct stat *stat, const struct thread *thread);
/* Returns an idle thread's time over its whole CPU's coverage, not only while all CPUs are
 * covered. */
uint64_t stat_thread_running(const struct stat *stat, const struct thread *thread);
void stat_event(struct stat *stat, const struct kev_event *event); /* account.c */
void stat_finish(struct stat *stat);
void stat_free(struct stat *stat); /* what it holds, not itself */

/* threads.c. The functions are those of the flow's that concern threads. */
extern const struct flow_ops stat_flow_ops;
/* The latest life of a thread, NULL: it is unknown; of a process, which is made if it is unknown:
 * NULL: there are too many. */
struct thread *thread_find(const struct stat *stat, int32_t pid, int32_t tid);
struct process *process_get(struct stat *stat, int32_t pid);
/* The row of a thread of the flow's, which is made if there is none. NULL: there are too many. */
struct thread *stat_thread_of(struct stat *stat, struct flow_thread *of);
void thread_event(struct stat *stat, const struct kev_event *event);
/* Takes a name, or what else an event says of a process. */
void thread_named(struct stat *stat, const struct kev_event *event);
void threads_finish(struct stat *stat);
void stat_threads_free(struct stat *stat);
/* Accounts the time until now to the current thread of a CPU. */
void cpu_account(struct stat *stat, unsigned cpu, uint64_t now);
const char *process_name(const struct process *process);
/* account.c. Gives the flow an event, as that of a thread; NULL: of none. */
void stat_flow_take(struct stat *stat, const struct kev_event *event, const struct thread *thread,
                    struct flow_step *step);
/* messages.c */
void message_event(struct stat *stat, const struct kev_event *event);
/* A message that was handed over is its server's. */
void message_handed(struct stat *stat, const struct flow_step *step, uint64_t now);
/* A function of the flow: no reply is seen any more. */
void message_abandoned(void *arg, const struct flow_thread *of, int64_t ns,
                       enum flow_ending ending);
/* serve.c */
void serve_begin(struct stat *stat, struct thread *server, struct thread *client, uint64_t now);
/* The server has received a message of an unknown client, and works for that one. */
void serve_unknown(struct stat *stat, struct thread *server, uint64_t now);
void serve_end(struct stat *stat, struct thread *client, uint64_t now);
void serve_ran(struct stat *stat, const struct thread *server, uint64_t cycles, uint64_t now);

struct stat_style {
    bool bold;
    bool all;         /* every row of every table */
    unsigned columns; /* that the terminal has; 0: any number, lines are not folded */
};
/* In a row of a table: the end of its first line on a terminal that is too narrow for all of it. */
const char *text_fold(const struct stat_style *style);

void text_show(FILE *to, struct stat *stat, const struct stat_style *style); /* text.c */
void text_threads(FILE *to, struct stat *stat, const struct stat_style *style);
void text_messages(FILE *to, struct stat *stat, const struct stat_style *style);
void text_calls(FILE *to, struct stat *stat, const struct stat_style *style);
void text_events(FILE *to, struct stat *stat, const struct stat_style *style);
void text_losses(FILE *to, struct stat *stat, const struct stat_style *style);
void text_title(FILE *to, const struct stat_style *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "12.3 us": at most 8 columns. */
const char *text_time(const struct stat *stat, uint64_t cycles, char text[24]);
double stat_percent(uint64_t part, uint64_t whole);
double stat_seconds(const struct stat *stat, uint64_t cycles);
/* An attribute that is a date; false: the board had no clock, or there is none. */
bool stat_date(const struct stat *stat, const char *key, struct tm *date);
/* Why the losses counted may not be all: NULL if they are. */
const char *stat_doubt(const struct stat *stat);
/* order.c: for the tables: arrays to be freed, most important first. */
struct thread **threads_by_time(struct stat *stat, uint32_t *n);
struct pair **pairs_by_count(struct stat *stat, uint32_t *n);
/* Returns the processes that were sent pulses. */
const struct process **pulses_by_pid(struct stat *stat, uint32_t *n);
struct served **served_by_time(struct stat *stat, uint32_t *n);
unsigned calls_by_count(const struct stat *stat, unsigned order[STAT_CALLS]);
/* For an interrupt: rate per second, and share of a CPU's time, over the covered time. */
double irq_rate(const struct stat *stat, const struct irq *irq);
double irq_percent(const struct stat *stat, const struct irq *irq);
/* Buffers that a ring overwrote before the first one that is here. */
uint64_t stat_overwritten(const struct stat *stat);

void json_show(FILE *to, struct stat *stat); /* json.c */

#endif
