/* SPDX-License-Identifier: BSD-2-Clause */
/* The consumer: takes the target's records and prints them. Internal to host/dtrace. */
#ifndef HOST_DTRACE_CONSUME_CONSUME_H
#define HOST_DTRACE_CONSUME_CONSUME_H

#include "host/dtrace/print/print.h"
#include "host/target/target.h"

/* The description of an EPID, queried once. */
struct epid_info {
    struct dtrace_epid_desc desc;
    struct dtrace_recdesc *recs;
    struct dt_probe_info probe;
};

/* A record that waits until older ones have come (temporal). */
struct pending {
    uint64_t time, order;
    unsigned cpu;
    uint8_t *data;
    uint32_t size;
};

struct consumer;

/* Takes what would be printed: of `kymo assert`. */
struct consumer_sink {
    void *arg;
    void (*record)(void *arg, struct consumer *, unsigned cpu, const uint8_t *data,
                   const struct epid_info *);
    /* At the end, each aggregation. */
    void (*aggregation)(void *arg, struct consumer *, struct aggregation *);
    /* After all. missing: the target has said that something is. */
    void (*end)(void *arg, struct consumer *, bool missing);
};

struct consumer {
    const struct consumer_sink *sink; /* NULL: records are printed */
    uint64_t drops, faults;           /* that messages were printed of */
    struct target *target;
    struct dt_session *session;
    struct printer printer;
    bool json, flowindent, temporal, heading_done, drop_tags;
    bool acts;          /* system(), freopen() and ftruncate() are executed */
    bool retains;       /* aggregations are taken at the end, as a ring's records are */
    bool objects_known; /* the session was given the objects that the target's process has mapped */
    unsigned ncpus, begin_cpu, end_cpu;
    uint64_t bufsize, aggsize;
    struct dtrace_sizes sizes; /* that the target gave */
    unsigned options_named;    /* a bit for each option that was advised: message.c */
    uint8_t *buffer;           /* memory for a principal buffer */
    uint8_t *agg_buffer;       /* memory for an aggregation buffer */
    struct epid_info **epids;
    uint32_t nepids;
    uint32_t *agg_variable; /* by aggregation id - 1: number of the @variable; 0: not asked yet */
    uint32_t nagg_ids;
    struct aggregation *aggs; /* by number - 1 */
    unsigned naggs;
    struct dtrace_status last;    /* the last one reported */
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

/* ---- for the command ---------------------------------------------------------------- */

/* Returns false if there is no memory. */
bool consumer_init(struct consumer *);
void consumer_free(struct consumer *);
/* Executes a pass: drops, aggregations, records. last: no more will come. Returns 0, or a negative
 * errno. */
int consumer_pass(struct consumer *, bool last);
/* Returns true if, as of the last pass, exit() was called or a buffer has filled up. */
bool consumer_is_over(const struct consumer *);
/* At the end: prints the aggregations that no printa() named. */
void consumer_finish(struct consumer *);

/* ---- its state (consumer.c) --------------------------------------------------------- */

/* Reads the options that may change while it runs: quiet, flowindent, aggsort… */
void consumer_options(struct consumer *);
/* Writes the output out, so that messages come after it. What can't be written is lost: the first
 * failure is kept for the exit status. */
void consumer_flush(struct consumer *);

/* ---- descriptions of ids (describe.c) ----------------------------------------------- */

/* Returns NULL if the target does not know the EPID. */
const struct epid_info *consumer_epid(struct consumer *, uint32_t epid);
struct aggregation *consumer_aggregation(struct consumer *, uint32_t number);
/* Returns the @variable that the aggregation id belongs to; NULL if there is none. The first id
 * that is asked for describes the rows. */
struct aggregation *consumer_aggregation_of(struct consumer *, uint32_t id);

/* ---- messages on standard error (message.c) ----------------------------------------- */

enum { SIZE_TEXT = 24 };
/* Writes a size as an option's value, in the largest unit of which it is a multiple: "128m",
 * "1536k", "1000". Returns true if it has a unit. */
bool message_size(char text[SIZE_TEXT], uint64_t size);
/* what: the text after the number for one; its first '|' stands for the s of more than one.
 * Nothing is printed if n is 0. cpu -1: of no CPU. */
void message_drops(struct consumer *, uint64_t n, const char *what, const char *tag, int cpu);
void message_status(struct consumer *, const struct dtrace_status *);
/* record: of the clause DTRACE_CLAUSE_FAULT. */
void message_fault(struct consumer *, const uint8_t *record, const struct epid_info *);

/* ---- actions (libact.c); values: the data that follow ------------------------------- */

/* Returns what the format prints, to be freed; NULL if there is no memory. */
char *libact_format(struct consumer *, const struct dt_format *, const struct print_value *values,
                    unsigned n, size_t *size);
/* clear(), trunc(), setopt() … */
void libact_do(struct consumer *, const struct epid_info *, const struct dt_format *,
               const struct print_value *values, unsigned nvalues);
void libact_system(struct consumer *, const struct dt_format *, const struct print_value *,
                   unsigned n);
void libact_freopen(struct consumer *, const struct epid_info *, const struct dt_format *,
                    const struct print_value *, unsigned n);

/* ---- records (record.c, record_json.c) ---------------------------------------------- */

/* next: what follows on the same CPU, for flowindent; NULL: nothing. */
void record_print(struct consumer *, unsigned cpu, const uint8_t *data, const struct epid_info *,
                  const struct epid_info *next);
void record_json(struct consumer *, unsigned cpu, const uint8_t *data, const struct epid_info *);
/* Makes values of the data that follow rec `i` and belong to the same action; returns how many. */
unsigned record_values(struct consumer *, const struct epid_info *, uint32_t i,
                       const uint8_t *record, struct print_value *values);
/* Returns the bytes that tracemem() shows: its third argument, among the values, may be less. */
uint32_t record_tracemem_bytes(const struct dtrace_recdesc *, const struct print_value *values,
                               unsigned n);
void record_exit(struct consumer *, const uint8_t *data);

#endif
