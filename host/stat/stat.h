/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo stat's account of a capture: filled by one pass over the merged events, then shown as text
 * or JSON. Times are in cycles of the trace clock. Memory is bounded: STAT_THREADS threads and so
 * on; what does not fit any more is counted in `overflow`.
 */
#ifndef HOST_STAT_STAT_H
#define HOST_STAT_STAT_H

#include <stdio.h>

#include "host/kymo.h"
#include "kernel/abi/sys/states.h"
#include "kernel/abi/sys/trace.h"
#include "trace/slot.h"

#define STAT_THREADS 65536
#define STAT_PAIRS 1024
#define STAT_OPEN 65536
#define STAT_IRQS 1024
#define STAT_CALLS 128
#define STAT_IRQ_DEPTH 16
#define STAT_IDLE_PID 1
#define STAT_ROWS 40 /* of a table, unless all are wanted */

/* ---- map.c: u64 -> memory of a fixed size, zeroed when added
 * -------------------------------------
 */

struct map {
    size_t value_bytes;
    uint32_t most;
    uint32_t count, slots; /* slots: a power of two, 0 before the first */
    uint64_t *keys;
    void **values; /* NULL: free */
};

void *map_get(struct map *map, uint64_t key);  /* NULL: not there */
void *map_make(struct map *map, uint64_t key); /* adds it; NULL: full or out of memory */
void map_free(struct map *map);
/* All values, in an array to be freed; *n of them. */
void **map_values(const struct map *map, uint32_t *n);

/* ---- hist.c: a histogram with 64 steps an octave: percentiles within 1 % ------------------------
 */

struct hist {
    uint64_t count, sum, min, max;
    uint32_t bins[64 * 60];
};

void hist_add(struct hist *hist, uint64_t value);
uint64_t hist_percentile(const struct hist *hist, unsigned percent);

/* ---- the account --------------------------------------------------------------------------------
 */

struct thread {
    int32_t pid, tid;
    int state;                    /* -1: not known yet */
    int cpu;                      /* it is current there, -1: nowhere */
    uint64_t since;               /* when the state began */
    uint64_t time[STATE_MAX + 2]; /* by state; RUNNING: as long as it is current on a CPU */
    uint64_t runs;                /* times it became current */
    uint64_t migrations;
    int last_cpu;
    bool destroyed;
    char name[64];
};

struct process {
    int32_t pid, ppid;
    bool named, destroyed;
    char name[64];
};

struct pair { /* sender process -> receiver process */
    int32_t from, to;
    uint64_t sent, replied, errors;
    struct hist latency; /* send to reply */
    struct hist wait;    /* send to receive */
};

struct open_send { /* by sending thread */
    struct pair *pair;
    uint64_t sent;
    uint32_t rcvid;
    int32_t to;
};

struct pulses {
    int32_t to;
    uint64_t count[16]; /* by COMM event */
};

struct irq {
    uint64_t count, time, max, handlers;
};

struct call {
    uint64_t enter, exit, interrupted, errors;
};

struct cpu {
    struct thread *current;
    uint64_t since;
    uint64_t busy, idle, unknown;
    uint64_t irq_time, events, control;
    struct {
        uint32_t irq;
        uint64_t since;
    } irqs[STAT_IRQ_DEPTH];
    unsigned depth;
    bool seen;
    uint64_t lost[KYMO_TRACE_REASONS][KEV_CLASSES];
};

struct stat {
    struct kev *kev;
    bool cut; /* the file ends too early */
    uint64_t first, last;
    uint64_t events;   /* CONTROL ones not counted */
    uint64_t injected; /* events that no kernel made: in none of the counts */
    uint64_t lost;
    uint64_t by_class[KEV_CLASSES];
    uint64_t overflow;
    struct map threads, processes, pairs, sends, receives, pulses;
    struct irq irqs[STAT_IRQS];
    struct call calls[STAT_CALLS];
    struct cpu cpus[KEV_CPUS];
};

struct stat *stat_new(struct kev *kev);                            /* NULL: out of memory */
void stat_event(struct stat *stat, const struct kev_event *event); /* account.c */
void stat_finish(struct stat *stat);
void stat_free(struct stat *stat); /* what it holds, not itself */

/* threads.c */
struct thread *thread_get(struct stat *stat, int32_t pid, int32_t tid);
struct process *process_get(struct stat *stat, int32_t pid);
void thread_event(struct stat *stat, const struct kev_event *event);
void threads_finish(struct stat *stat);
const char *process_name(struct stat *stat, int32_t pid);
/* messages.c */
void message_event(struct stat *stat, const struct kev_event *event);

struct stat_style {
    bool bold;
    bool all; /* every row of every table */
};

void text_show(FILE *to, struct stat *stat, const struct stat_style *style); /* text.c */
void text_threads(FILE *to, struct stat *stat, const struct stat_style *style);
void text_messages(FILE *to, struct stat *stat, const struct stat_style *style);
void text_calls(FILE *to, struct stat *stat, const struct stat_style *style);
void text_losses(FILE *to, struct stat *stat, const struct stat_style *style);
void text_title(FILE *to, const struct stat_style *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "12.3 us": at most 8 columns. */
const char *text_time(const struct stat *stat, uint64_t cycles, char text[24]);
double stat_percent(uint64_t part, uint64_t whole);
double stat_seconds(const struct stat *stat, uint64_t cycles);
/* Why the losses counted may not be all: NULL if they are. */
const char *stat_doubt(const struct stat *stat);
/* order.c: for the tables: arrays to be freed, most important first. */
struct thread **threads_by_time(struct stat *stat, uint32_t *n);
struct pair **pairs_by_count(struct stat *stat, uint32_t *n);
struct pulses **pulses_by_pid(struct stat *stat, uint32_t *n);
unsigned calls_by_count(const struct stat *stat, unsigned order[STAT_CALLS]);

void json_show(FILE *to, struct stat *stat); /* json.c */

#endif
