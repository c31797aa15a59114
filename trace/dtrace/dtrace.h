/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's interface to its controller (on the host: the target `self`; on a board: the
 * kernel's side of the link) and to providers. The life of a consumer:
 *
 *   dtrace_consumer_create()   validates the image, matches probes, makes ECBs, allocates
 *   dtrace_consumer_go()       enables the probes, fires BEGIN, then lets all others fire
 *   dtrace_consumer_status(), dtrace_buffer_snap(), dtrace_aggregation_snap()   repeatedly
 *   dtrace_consumer_stop()     disables all its probes; fires END
 *   dtrace_buffer_snap() …     the remaining records
 *   dtrace_consumer_destroy()
 *
 * Control functions are called one at a time (the caller holds a lock) and may block and allocate.
 * dtrace_fire() is called by providers in any context, on any CPU.
 */
#ifndef TRACE_DTRACE_DTRACE_H
#define TRACE_DTRACE_DTRACE_H

#include "trace/dtrace/image.h"

/* ---- probes and providers ---------------------------------------------------------- */

struct dtrace_probe; /* trace/dtrace/probe.h */

enum dtrace_stability {
    DTRACE_INTERNAL,
    DTRACE_PRIVATE,
    DTRACE_OBSOLETE,
    DTRACE_EXTERNAL,
    DTRACE_UNSTABLE,
    DTRACE_EVOLVING,
    DTRACE_STABLE,
    DTRACE_STANDARD,
};
enum dtrace_class {
    DTRACE_UNKNOWN,
    DTRACE_CPU,
    DTRACE_PLATFORM,
    DTRACE_GROUP,
    DTRACE_ISA,
    DTRACE_COMMON
};

struct dtrace_attributes { /* stability: name, data, dependency class of provider, module, function,
                            * name, args */
    uint8_t name[5], data[5], dependency[5];
};

/* What providers may have in common; those of one kind share it. */
struct dtrace_provider_ops {
    struct dtrace_attributes attributes;
    /* Whether a consumer that may observe only its own processes may use these probes:
     * DTRACE_OWN_*. 0: it may not. */
    uint8_t own;
    /* Called when a description that matches no probe names this provider: creates the probes it
     * asks for. */
    void (*provide)(const char *module, const char *function, const char *name);
    /* Called at the first and last enabling of a probe. Returns 0 or a negative errno. Control
     * context. */
    int (*enable)(uint32_t probe, void *arg);
    void (*disable)(uint32_t probe, void *arg);
    /* Called when an enabled probe gains or loses an enabling: dtrace_probe_wanted() may have
     * changed. Returns 0 or a negative errno (then the new enabling fails). Control context. NULL:
     * nothing to do. */
    int (*changed)(uint32_t probe, void *arg);
    /* Applies all changes that enable() and disable() have prepared, at once. NULL: nothing to
     * do. */
    void (*settle)(void);
    /* Returns arg5 and beyond of the current probe firing; NULL: they read 0. */
    uint64_t (*argument)(uint32_t probe, void *arg, unsigned n);
    /* Returns the C type of args[n], for -lv and the compiler; NULL: there is none. */
    const char *(*argument_type)(uint32_t probe, void *arg, unsigned n);
};
struct dtrace_provider {
    const char *name;
    const struct dtrace_provider_ops *ops;
};
/* Its probes fire while an own process is current; the others fire, too, if they belong to no
 * process: all of them, or those whose names begin with "tick". */
enum { DTRACE_OWN_CURRENT = 1, DTRACE_OWN_ANY = 2, DTRACE_OWN_TICK = 4 };

/* Adds a provider, which must live as long as the machine. */
void dtrace_provider_register(const struct dtrace_provider *);
/* Returns the probe's id, from 1 on; an existing probe's if all four names agree. 0: no memory. */
uint32_t dtrace_probe_create(const struct dtrace_provider *, const char *module,
                             const char *function, const char *name, void *arg);
/* Like dtrace_probe_create(), without checking for an existing probe and without copies: the names
 * must live as long as the machine. For providers of many probes. */
uint32_t dtrace_probe_add(const struct dtrace_provider *, const char *module, const char *function,
                          const char *name, void *arg);
/* Returns whether the next probe can be added: for providers that allocate what stays with it. */
bool dtrace_probe_room(void);
/* Makes the providers create the probes of this description, if it matches none so far. Control
 * context; dtrace_consumer_create() does this too. */
void dtrace_probe_provide(const char *provider, const char *module, const char *function,
                          const char *name);
/* Like dtrace_probe_provide(), only of providers that a consumer with own processes may use. */
void dtrace_probe_provide_own(const char *provider, const char *module, const char *function,
                              const char *name);
struct dtrace_probe_names {
    uint32_t id;
    const struct dtrace_provider *provider;
    const char *module, *function, *name;
};
/* Finds the first probe with an id above `after`; false: no more. */
bool dtrace_probe_next(uint32_t after, struct dtrace_probe_names *);
/* Returns whether a pattern (sh's * ? [ ] and \) matches a name. "" matches all. */
bool dtrace_glob(const char *pattern, const char *name);
/* Steps of glob matching, and their limit: once it is reached, nothing matches. Control context. */
extern struct dtrace_glob_work {
    uint32_t spent, most;
} dtrace_glob_work;
/* A control command stands between two steps of a long operation, and the machine's data are in
 * order: what the system sets lets others in who control nothing of the machine. NULL: nothing. */
extern void (*dtrace_window_hook)(void);
static inline void dtrace_window(void)
{
    if (dtrace_window_hook) {
        dtrace_window_hook();
    }
}
/* Copies what may be long, with a window behind each step. Control context. */
#define DTRACE_COPY_STEP 2048u /* bytes */
void dtrace_copy_long(void *to, const void *from, size_t bytes);

/* Fires the probe on this CPU. Any context, any CPU; masks interrupts meanwhile. */
void dtrace_fire(uint32_t probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                 uint64_t arg4);

/* ---- consumers --------------------------------------------------------------------- */

struct dtrace_consumer; /* trace/dtrace/consumer.h */

extern struct dtrace_consumer *dtrace_consumers; /* [k] list of the living ones; NULL: none */

enum dtrace_reason {
    DTRACE_REASON_NONE,
#define DTRACE_REASON(name, error, text) DTRACE_REASON_##name,
#include "trace/dtrace/reasons.def"
};

enum { DTRACE_REFUSAL_TEXT = 120 };

/* Reason why an image was refused. */
struct dtrace_refusal {
    int error; /* negative errno: -EINVAL, -ENOMEM, -E2BIG (END's reserve), -ENOSPC (a size of 0
                  with records), -EPERM (destructive), -ESRCH (a description without a probe) */
    uint32_t object, offset;        /* the bad object and instruction; ~0: none */
    uint32_t reason;                /* enum dtrace_reason */
    char text[DTRACE_REFUSAL_TEXT]; /* readable text, if it adds to the reason; else "" */
};
/* Return readable text (reason.c), which the next call may overwrite. A board reports it for
 * programs in its boot image. Control context. */
const char *dtrace_refusal_text(const struct dtrace_refusal *);
const char *dtrace_reason_text(enum dtrace_reason); /* NULL: none */

/* The sizes actually allocated, under bufresize=auto. */
struct dtrace_sizes {
    size_t bufsize, aggsize, specsize, dynvarsize;
};

enum dtrace_create_flags {
    DTRACE_CREATE_ZERO_OK = 1, /* descriptions that match nothing are not an error */
    DTRACE_CREATE_LOG = 2,     /* records go to the event log: trace/dtrace/log.h */
};

/* What a consumer may do; on Kymo the abilities of its process (abi/sys/ability.h). */
enum dtrace_rights {
    DTRACE_MAY_OWN = 1,     /* observe the process `pid` and those that it started */
    DTRACE_MAY_KERNEL = 2,  /* observe everything */
    DTRACE_MAY_DESTROY = 4, /* change what it may observe */
    DTRACE_MAY_LOG = 8,     /* write into the event log, end its recording, use retained memory */
    DTRACE_MAY_ALL = 15,
};
struct dtrace_asker {
    uint32_t rights; /* enum dtrace_rights */
    int32_t pid;
};

/* Creates a consumer for somebody with these rights; with all rights. Return 0, or a negative errno
 * with the refusal filled in. */
int dtrace_consumer_create_for(const struct dtrace_asker *, const void *image, size_t size,
                               unsigned flags, struct dtrace_consumer **, struct dtrace_refusal *);
int dtrace_consumer_create(const void *image, size_t size, unsigned flags,
                           struct dtrace_consumer **, struct dtrace_refusal *);
void dtrace_consumer_sizes(const struct dtrace_consumer *, struct dtrace_sizes *);
/* Returns the number of ECBs: clauses times probes. */
uint32_t dtrace_consumer_matched(const struct dtrace_consumer *);
/* Enables the consumer's probes and fires BEGIN; its other clauses run from then on. Returns 0 or a
 * negative errno. */
int dtrace_consumer_go(struct dtrace_consumer *, unsigned *begin_cpu);
/* Fires END and disables the probes; no effect if the consumer doesn't run. */
void dtrace_consumer_stop(struct dtrace_consumer *, unsigned *end_cpu);
void dtrace_consumer_destroy(struct dtrace_consumer *);

enum dtrace_state {
    DTRACE_STATE_INACTIVE,
    DTRACE_STATE_WARMUP, /* BEGIN fires */
    DTRACE_STATE_ACTIVE,
    DTRACE_STATE_DRAINING, /* exit() was called */
    DTRACE_STATE_COOLDOWN, /* END fires */
    DTRACE_STATE_STOPPED,
    DTRACE_STATE_KILLED, /* killed after silence: its memory is freed except for this answer */
};

/* Counters only grow; they are sums over all CPUs unless said otherwise. */
struct dtrace_status {
    uint32_t state;      /* enum dtrace_state */
    uint32_t exited;     /* 1: exit() was called; */
    int32_t exit_status; /* its record was lost if exit_dropped */
    uint32_t exit_dropped;
    uint32_t filled; /* CPUs whose fill buffer is full */
    uint32_t pad;
    uint64_t filled_drops; /* records that came after that */
    uint64_t dynamic_drops, dynamic_rinsing_drops, dynamic_dirty_drops;
    uint64_t speculative_drops, speculations_busy, speculations_unavailable;
    uint64_t stack_string_overflows;
    uint64_t errors;        /* faults */
    uint64_t double_errors; /* faults while an ERROR clause ran */
};

/* Returns whether the consumer has finished: exit() was called, a fill buffer is full, or it was
 * killed. Not a sign of life. */
bool dtrace_consumer_over(const struct dtrace_consumer *);
/* Stores the consumer's state and counters. Also a sign of life: a consumer silent for 10 s is
 * ended. */
void dtrace_consumer_status(struct dtrace_consumer *, struct dtrace_status *);

struct dtrace_snap {
    uint64_t size;   /* bytes in the buffer */
    uint64_t oldest; /* ring: offset of the oldest record; records continue at 0 behind the end */
    uint64_t drops;  /* since the last snap */
    uint64_t errors; /* since the last snap */
    uint64_t taken;  /* ns: no later record is older (for temporal) */
};

/* Where what was taken is, in order, until the next take: a ring that has begun anew has two parts.
 * bytes[] are 0 beyond what there is. */
struct dtrace_parts {
    const uint8_t *at[2];
    size_t bytes[2];
};

/* Takes the records of CPU `cpu`, up to `room` bytes (bufsize is always enough), and frees their
 * space. ring: only when stopped. Returns 0, -EINVAL (no such CPU, a running ring) or -ESHUTDOWN
 * (killed). */
int dtrace_buffer_take(struct dtrace_consumer *, unsigned cpu, size_t room, struct dtrace_parts *,
                       struct dtrace_snap *);
/* Takes and empties a CPU's aggregation buffer: consecutive entries, each laid out by its
 * dtrace_agg_desc.recs, beginning with struct dtrace_agg_entry, in one part. */
int dtrace_aggregation_take(struct dtrace_consumer *, unsigned cpu, size_t room,
                            struct dtrace_parts *, struct dtrace_snap *);

static inline void dtrace_parts_copy(void *to, const struct dtrace_parts *parts)
{
    for (unsigned i = 0; i < 2; i++) {
        if (parts->bytes[i] > 0) {
            __builtin_memcpy(to, parts->at[i], parts->bytes[i]);
            to = (char *)to + parts->bytes[i];
        }
    }
}

/* Take a CPU's records, or entries, and copy them to a place of `room` bytes in one piece. */
static inline int dtrace_buffer_snap(struct dtrace_consumer *consumer, unsigned cpu, void *to,
                                     size_t room, struct dtrace_snap *snap)
{
    struct dtrace_parts parts;
    int error = dtrace_buffer_take(consumer, cpu, room, &parts, snap);

    dtrace_parts_copy(to, &parts);
    return error;
}

static inline int dtrace_aggregation_snap(struct dtrace_consumer *consumer, unsigned cpu, void *to,
                                          size_t room, struct dtrace_snap *snap)
{
    struct dtrace_parts parts;
    int error = dtrace_aggregation_take(consumer, cpu, room, &parts, snap);

    dtrace_parts_copy(to, &parts);
    return error;
}

/* Describe the records of an EPID and the entries of an aggregation. Return 0 or -ENOENT; recs:
 * room for *nrecs, which is set to the number there are. */
int dtrace_epid_describe(const struct dtrace_consumer *, uint32_t epid, struct dtrace_epid_desc *,
                         struct dtrace_recdesc *recs, uint32_t *nrecs);
int dtrace_agg_describe(const struct dtrace_consumer *, uint32_t id, struct dtrace_agg_desc *,
                        struct dtrace_recdesc *recs, uint32_t *nrecs);

/* Cleans speculations and dynamic variables, and ends consumers that are silent. The caller calls
 * it periodically, at most every 1/cleanrate. Returns ns until the next call is due;
 * DTRACE_CLEAN_IDLE if there was no consumer, in which case a new consumer requires an earlier
 * call. */
#define DTRACE_CLEAN_IDLE 1000000000u
uint64_t dtrace_machine_clean(void);

/* ---- the event log ----------------------------------------------------------------- */

/* Returns the notes of the i-th consumer that has some; false: there are no more. Any kernel
 * context. */
bool dtrace_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n);

/* For a log that starts or ends: logs the part-th piece of all consumers' notes. Returns false if
 * there are no more. Any kernel context. */
bool dtrace_log_dump(unsigned part);

/* ---- bounds ------------------------------------------------------------------------ */

/* A cost or a size of which a bound is made: sums and products saturate, and the largest one is no
 * bound at all. dtrace_max_cost has 32 bits, so they are enough where words have no more. */
typedef size_t dtrace_amount;
#define DTRACE_AMOUNT_MOST SIZE_MAX

/* Upper bound of a clause's cost in steps, computed from its image alone. */
struct dtrace_cost {
    dtrace_amount steps; /* DIF instructions, including subroutines' steps */
    uint32_t record;     /* bytes recorded */
};
struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *, uint32_t ecb, uint32_t strsize);
/* What a bound depends on, besides the image. */
struct dtrace_weights; /* trace/dtrace/cost.h: what a step, or a machine's instructions, cost */
extern const struct dtrace_weights dtrace_weights_steps, dtrace_weights_m4, dtrace_weights_a64;
const char *dtrace_weights_unit(const struct dtrace_weights *); /* "steps", "instructions" */
struct dtrace_bounding {
    const struct dtrace_weights *weights; /* its unit: a machine's instructions, or steps */
    uint32_t strsize;
    bool logs;           /* log=1 */
    dtrace_amount error; /* what a fault adds: dtrace_error_bound(); 0 for the clauses of ERROR */
};
/*
 * Upper bound of what a clause adds to a firing of its probe: its cost, reserving and writing its
 * record, and, because each clause may fault, `error`. A firing's bound is dtrace_firing_bound() of
 * the sum over its clauses. Saturates.
 */
dtrace_amount dtrace_ecb_bound(const struct dtrace_image *, uint32_t ecb,
                               const struct dtrace_bounding *);
dtrace_amount dtrace_error_bound(const struct dtrace_image *, const struct dtrace_bounding *);
dtrace_amount dtrace_firing_bound(const struct dtrace_weights *, dtrace_amount clauses);
/* [k] Most instructions (steps, where a machine's are not known) that a program's clauses may add
 * to a firing of any one probe: a larger one is refused. 0: no limit. */
extern uint32_t dtrace_max_cost;
/* Sets a limit, unless there is a lower one. 0: changes nothing. Returns the limit in force. */
uint32_t dtrace_max_cost_lower(uint32_t cost);

/* Returns why this object is refused; *offset: the instruction. See validate.c for the rules. */
enum dtrace_reason dtrace_validate(const struct dif_object *, uint32_t *offset);

/* Registers the provider dtrace. Called once, before all else. */
void dtrace_machine_init(void);

/* ---- helpers: helper.h -------------------------------------------------------------- */

enum { DTRACE_HELPERS_MOST = 16 }; /* of one action */

/* Checks what a valid object does against what helpers may do; *offset: of the instruction, in
 * instructions; UINT32_MAX: its value is none. Compiler and machine share it. (helper_check.c) */
enum dtrace_reason dtrace_helper_check(const struct dif_object *, uint32_t *offset);

#endif
