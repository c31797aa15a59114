/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's interface to its controller (on the host: the target `self`; on a board: the
 * kernel's side of the link) and to providers. The life of a consumer:
 *
 *   dtrace_consumer_create()   validates the image, matches probes, creates ECBs, allocates
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

/* Properties and functions that providers may share; those of one kind share one struct. */
struct dtrace_provider_ops {
    struct dtrace_attributes attributes;
    /* The probes that a consumer may use if it may observe only its own processes: DTRACE_OWN_*. 0:
     * none. */
    uint8_t own;
    /* Called when a description that matches no probe names this provider: creates the probes
     * described. */
    void (*provide)(const char *module, const char *function, const char *name);
    /* Called at the first and last enabling of a probe. Returns 0 or a negative errno. Control
     * context. */
    int (*enable)(uint32_t probe, void *arg);
    void (*disable)(uint32_t probe, void *arg);
    /* Called when an enabled probe gains or loses an enabling: dtrace_probe_wanted() may have
     * changed. Returns 0 or a negative errno (then the new enabling fails). Control context. NULL:
     * nothing has to be done. */
    int (*changed)(uint32_t probe, void *arg);
    /* Applies all changes that enable() and disable() have prepared, at once. NULL: nothing has to
     * be done. */
    void (*settle)(void);
    /* Returns arg5 and beyond of the current probe firing. NULL: they read as 0. */
    uint64_t (*argument)(uint32_t probe, void *arg, unsigned n);
    /* Returns the C type of args[n], for -lv and the compiler, or NULL if there is no such
     * argument. */
    const char *(*argument_type)(uint32_t probe, void *arg, unsigned n);
};
struct dtrace_provider {
    const char *name;
    const struct dtrace_provider_ops *ops;
};
/* CURRENT: a probe fires while one of the consumer's own processes is current. The others: it also
 * fires if it belongs to no process: all of the provider's probes, or those whose names begin with
 * "tick". */
enum { DTRACE_OWN_CURRENT = 1, DTRACE_OWN_ANY = 2, DTRACE_OWN_TICK = 4 };

/* Adds a provider, which must live as long as the machine. */
void dtrace_provider_register(const struct dtrace_provider *);
/* Returns the probe's id, from 1 on; the id of an existing probe if all four names agree; or 0 if
 * there is no memory. */
uint32_t dtrace_probe_create(const struct dtrace_provider *, const char *module,
                             const char *function, const char *name, void *arg);
/* Like dtrace_probe_create(), without checking for an existing probe and without copies: the names
 * must live as long as the machine. For providers of many probes. */
uint32_t dtrace_probe_add(const struct dtrace_provider *, const char *module, const char *function,
                          const char *name, void *arg);
/* Returns whether the next probe can be added: for providers that allocate memory for it first. */
bool dtrace_probe_room(void);
/* Makes the providers create the probes of this description, if it matches none so far. Control
 * context; dtrace_consumer_create() does this too. */
void dtrace_probe_provide(const char *provider, const char *module, const char *function,
                          const char *name);
/* Like dtrace_probe_provide(), only for providers that a consumer may use that observes its own
 * processes. */
void dtrace_probe_provide_own(const char *provider, const char *module, const char *function,
                              const char *name);
struct dtrace_probe_names {
    uint32_t id;
    const struct dtrace_provider *provider;
    const char *module, *function, *name;
};
/* Finds the first probe with an id above `after`. Returns false if there are no more. */
bool dtrace_probe_next(uint32_t after, struct dtrace_probe_names *);
/* Returns whether a pattern (sh's * ? [ ] and \) matches a name. "" matches all. */
bool dtrace_glob(const char *pattern, const char *name);
/* Steps of glob matching, and their limit: once it is reached, nothing matches. Control context. */
extern struct dtrace_glob_work {
    uint32_t spent, most;
} dtrace_glob_work;
/* Called by a control command between two steps of a long operation, when the machine's data is
 * consistent: the system's hook lets other code run that controls nothing of the machine. NULL:
 * none. */
extern void (*dtrace_window_hook)(void);
static inline void dtrace_window(void)
{
    if (dtrace_window_hook) {
        dtrace_window_hook();
    }
}
/* Copies data that may be long, with a window after each step. Control context. */
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
    uint32_t object, offset;        /* the invalid object and instruction; ~0: none */
    uint32_t reason;                /* enum dtrace_reason */
    char text[DTRACE_REFUSAL_TEXT]; /* readable text, if it adds to the reason; otherwise "" */
};
/* Return readable text (reason.c), which the next call may overwrite. A board reports it for
 * programs in its boot image. Control context. */
const char *dtrace_refusal_text(const struct dtrace_refusal *);
const char *dtrace_reason_text(enum dtrace_reason); /* or NULL */

/* The sizes actually allocated, under bufresize=auto. */
struct dtrace_sizes {
    size_t bufsize, aggsize, specsize, dynvarsize;
};

enum dtrace_create_flags {
    DTRACE_CREATE_ZERO_OK = 1, /* descriptions that match nothing are not an error */
    DTRACE_CREATE_LOG = 2,     /* records go to the event log: trace/dtrace/log.h */
};

/* The rights of a consumer; on Kymo the abilities of its process (abi/sys/ability.h). */
enum dtrace_rights {
    DTRACE_MAY_OWN = 1,     /* observe the process `pid` and those that it started */
    DTRACE_MAY_KERNEL = 2,  /* observe everything */
    DTRACE_MAY_DESTROY = 4, /* change the data that it may observe */
    DTRACE_MAY_LOG = 8,     /* write into the event log, end its recording, use retained memory */
    DTRACE_MAY_ALL = 15,
};
struct dtrace_asker {
    uint32_t rights; /* enum dtrace_rights */
    int32_t pid;
};

/* Create a consumer for a caller with these rights, and with all rights. Return 0, or a negative
 * errno with the refusal filled in. */
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
    uint64_t filled_drops; /* records dropped after that */
    uint64_t dynamic_drops, dynamic_rinsing_drops, dynamic_dirty_drops;
    uint64_t speculative_drops, speculations_busy, speculations_unavailable;
    uint64_t stack_string_overflows;
    uint64_t errors;        /* faults */
    uint64_t double_errors; /* faults while an ERROR clause ran */
};

/* Returns whether the consumer has finished: exit() was called, a fill buffer is full, or it was
 * killed. Doesn't count as a sign of life. */
bool dtrace_consumer_over(const struct dtrace_consumer *);
/* Stores the consumer's state and counters. Counts as a sign of life: a consumer silent for 10 s is
 * ended. */
void dtrace_consumer_status(struct dtrace_consumer *, struct dtrace_status *);

struct dtrace_snap {
    uint64_t size; /* bytes in the buffer */
    /* ring: offset of the oldest record; records continue at offset 0 after the end */
    uint64_t oldest;
    uint64_t drops;  /* since the previous snap */
    uint64_t errors; /* since the previous snap */
    uint64_t taken;  /* ns: no later record is older (for temporal) */
};

/* The location of the data taken, in order, valid until the next take: a ring that has wrapped has
 * two parts. bytes[] are 0 beyond the last part. */
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

/* Take a CPU's records, or entries, and copy them to `to`, of `room` bytes, in one piece. */
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
 * room for *nrecs, which is set to the actual number. */
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

/* Returns the notes of the i-th consumer that has some, or false if there are no more. Any kernel
 * context. */
bool dtrace_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n);

/* Logs the part-th piece of all consumers' notes, for a log that starts or ends. Returns false if
 * there are no more. Any kernel context. */
bool dtrace_log_dump(unsigned part);

/* ---- bounds ------------------------------------------------------------------------ */

/* A cost or a size with an upper bound: sums and products saturate, and the largest value means no
 * bound. dtrace_max_cost has 32 bits, so 32 bits suffice on machines with 32-bit words. */
typedef size_t dtrace_amount;
#define DTRACE_AMOUNT_MOST SIZE_MAX

/* Upper bound of a clause's cost in steps, computed from its image alone. */
struct dtrace_cost {
    dtrace_amount steps; /* DIF instructions, including subroutines' steps */
    uint32_t record;     /* bytes recorded */
};
struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *, uint32_t ecb, uint32_t strsize);
/* The parameters of a bound, besides the image. */
struct dtrace_weights; /* trace/dtrace/cost.h: the cost of a step, or in a machine's instructions */
extern const struct dtrace_weights dtrace_weights_steps, dtrace_weights_m4, dtrace_weights_a64;
const char *dtrace_weights_unit(const struct dtrace_weights *); /* "steps", "instructions" */
struct dtrace_bounding {
    const struct dtrace_weights *weights; /* the unit: a machine's instructions, or steps */
    uint32_t strsize;
    bool logs; /* log=1 */
    /* cost that a fault adds: dtrace_error_bound(); 0 for the clauses of ERROR */
    dtrace_amount error;
};
/*
 * Returns an upper bound of the cost that a clause adds to a probe firing: its own cost, reserving
 * and writing its record, and, because each clause may fault, `error`. The bound of a firing is
 * dtrace_firing_bound() of the sum over its clauses. Saturates.
 */
dtrace_amount dtrace_ecb_bound(const struct dtrace_image *, uint32_t ecb,
                               const struct dtrace_bounding *);
dtrace_amount dtrace_error_bound(const struct dtrace_image *, const struct dtrace_bounding *);
dtrace_amount dtrace_firing_bound(const struct dtrace_weights *, dtrace_amount clauses);
/* [k] Most instructions (steps, where a machine's are not known) that a program's clauses may add
 * to a firing of any one probe: a program above it is refused. 0: no limit. */
extern uint32_t dtrace_max_cost;
/* Lowers the limit to this one, unless it is already lower. 0: changes nothing. Returns the limit
 * in force. */
uint32_t dtrace_max_cost_lower(uint32_t cost);

/* Returns the reason why this object is refused; *offset: the instruction. See validate.c for the
 * rules. */
enum dtrace_reason dtrace_validate(const struct dif_object *, uint32_t *offset);

/* Registers the provider dtrace. Called once, before all else. */
void dtrace_machine_init(void);

/* ---- helpers: helper.h -------------------------------------------------------------- */

enum { DTRACE_HELPERS_MOST = 16 }; /* of one action */

/* Checks a valid object against the restrictions of helpers; *offset: position of the instruction,
 * counted in instructions; UINT32_MAX: its value is not allowed. Shared by compiler and machine
 * (helper_check.c). */
enum dtrace_reason dtrace_helper_check(const struct dif_object *, uint32_t *offset);

#endif
