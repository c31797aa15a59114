/* SPDX-License-Identifier: BSD-2-Clause */
/* The consumer: takes the target's records and prints them. Internal to host/dtrace. */
#ifndef HOST_DTRACE_CONSUME_H
#define HOST_DTRACE_CONSUME_H

#include "host/dtrace/print.h"
#include "host/target/target.h"

/* Description of an EPID, queried once. */
struct epid_info {
    struct dtrace_epid_desc desc;
    struct dtrace_recdesc *recs;
    struct dt_probe_info probe;
};

/* A record that waits for its turn (temporal). */
struct pending {
    uint64_t time, order;
    unsigned cpu;
    uint8_t *data;
    uint32_t size;
};

struct consumer {
    struct target *target;
    struct dt_session *session;
    struct printer printer;
    const char *output_path; /* NULL: standard output */
    bool json, flowindent, temporal, heading_done, drop_tags;
    bool acts;          /* system(), freopen() and ftruncate() are done */
    bool retains;       /* aggregations are taken at the end, as a ring's records are */
    bool objects_known; /* what the target's process has mapped: the session was given it */
    unsigned ncpus, begin_cpu, end_cpu;
    uint64_t bufsize, aggsize;
    struct dtrace_sizes sizes; /* that the target gave */
    unsigned options_named;    /* by advice that was given, a bit each: message.c */
    uint8_t *buffer;           /* room for a principal buffer */
    uint8_t *agg_buffer;       /* room for an aggregation buffer */
    struct epid_info **epids;
    uint32_t nepids;
    uint32_t *agg_variable; /* by aggregation id - 1: number of the @variable; 0: not asked yet */
    uint32_t nagg_ids;
    struct aggregation *aggs; /* by number - 1 */
    unsigned naggs;
    struct dtrace_status last;    /* what was already reported */
    uint64_t at;                  /* when this pass was due, ns */
    uint64_t agg_due, switch_due; /* when to take them next; 0: now */
    struct pending *pending;
    size_t npending, pending_room;
    uint64_t order;
    unsigned indent;     /* flowindent */
    uint32_t last_probe; /* flowindent: of the record before */
    bool last_entry;
    bool status_set;
    int status;      /* of exit() */
    int write_error; /* an errno: output was lost */
    bool failed;     /* the target or an action failed: status 1 */
};

bool consumer_init(struct consumer *);
void consumer_free(struct consumer *);
/* Reads the options that may change while it runs: quiet, flowindent, aggsort… */
void consumer_options(struct consumer *);
/* Executes a pass: drops, aggregations, records. last: no more will come. Returns 0, or a negative
 * errno. */
int consumer_pass(struct consumer *, bool last);
/* Before anything else is said or done, so that output stands in its order. */
void consumer_flush(struct consumer *);
/* exit() was called, or a buffer filled up, as of the last pass. */
bool consumer_is_over(const struct consumer *);
/* At the end: aggregations that no printa() named. */
void consumer_finish(struct consumer *);

/* ---- its parts --------------------------------------------------------------------- */

const struct epid_info *consumer_epid(struct consumer *, uint32_t epid);
struct aggregation *consumer_aggregation(struct consumer *, uint32_t number);
int consumer_aggregate(struct consumer *, unsigned cpu);
/* A record's text (record.c). next: what follows on the same CPU, for flowindent; NULL: nothing. */
void record_print(struct consumer *, unsigned cpu, const uint8_t *data, const struct epid_info *,
                  const struct epid_info *next);
/* The data that follow rec `i` and belong to it, by the same format; returns how many. */
unsigned record_values(struct consumer *, const struct epid_info *, uint32_t i,
                       const uint8_t *record, struct print_value *values);
/* Returns the bytes that tracemem() shows: its third argument, among the values, may be less. */
uint32_t record_tracemem_bytes(const struct dtrace_recdesc *, const struct print_value *values,
                               unsigned n);
void record_exit(struct consumer *, const uint8_t *data);
/* Like the text functions, as JSON (json.c, json_aggregation.c). */
void record_json(struct consumer *, unsigned cpu, const uint8_t *data, const struct epid_info *);
void aggregation_json(struct consumer *, struct aggregation *);
/* Prints a datum; also an aggregation's key. */
void datum_json(struct consumer *, const struct dtrace_recdesc *, const uint8_t *base);
/* clear(), trunc(), setopt() … (libact.c). values: the data that follow. */
void libact_do(struct consumer *, const struct epid_info *, const struct dt_format *,
               const struct print_value *values, unsigned nvalues);
void libact_system(struct consumer *, const struct dt_format *, const struct print_value *,
                   unsigned n);
void libact_freopen(struct consumer *, const struct epid_info *, const struct dt_format *,
                    const struct print_value *, unsigned n);
/* Messages on standard error (message.c). */
enum { SIZE_TEXT = 24 };
/* As an option's value, in the largest unit of which it is a multiple: "128m", "1536k", "1000".
 * True: it has a unit. */
bool message_size(char text[SIZE_TEXT], uint64_t size);
void message_drops(struct consumer *, uint64_t n, const char *what, const char *tag, int cpu);
void message_status(struct consumer *, const struct dtrace_status *);
void message_fault(struct consumer *, const uint8_t *record, const struct epid_info *);

#endif
