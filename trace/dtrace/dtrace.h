/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's interface, to whoever controls it (on the host: the target `self`; on a board:
 * the kernel's side of the link) and to providers. The life of a consumer:
 *
 *   dtrace_consumer_create()   validates the image, matches probes, makes ECBs, allocates all it
 * will need dtrace_consumer_go()       enables the probes, fires BEGIN, then lets all others fire
 *   dtrace_consumer_status(), dtrace_buffer_snap(), dtrace_aggregation_snap()   again and again
 *   dtrace_consumer_stop()     no probe fires for it any more; fires END
 *   dtrace_buffer_snap() …     what is left
 *   dtrace_consumer_destroy()
 *
 * Control functions are called one at a time (the caller has a lock) and may block and allocate.
 * dtrace_fire() is called by providers in any context, on any CPU.
 */
#ifndef TRACE_DTRACE_D_H
#define TRACE_DTRACE_D_H

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

struct dtrace_attributes { /* stability: name, data, class of provider, module, function,
                            * name, args */
    uint8_t name[5], data[5], class[5];
};

struct dtrace_provider {
    const char *name;
    struct dtrace_attributes attributes;
    /* A description that matches no probe yet names this provider: create what it asks for. */
    void (*provide)(const char *module, const char *function, const char *name);
    /* First and last enabling of a probe. 0 or a negative errno. Control context. */
    int (*enable)(uint32_t probe, void *arg);
    void (*disable)(uint32_t probe, void *arg);
    /* A probe that is enabled has one enabling more or less: dtrace_probe_wanted() may answer
     * otherwise. 0 or a negative errno (then the new enabling fails). Control context. NULL:
     * nothing to do. */
    int (*changed)(uint32_t probe, void *arg);
    /* Makes all of what enable() and disable() have prepared true at once. NULL: nothing to do. */
    void (*settle)(void);
    /* arg5 and beyond, of the firing under way; NULL: they read 0. */
    uint64_t (*argument)(uint32_t probe, void *arg, unsigned n);
    /* The C type of args[n], for -lv and the compiler; NULL: there is none. */
    const char *(*argument_type)(uint32_t probe, void *arg, unsigned n);
};

void dtrace_provider_register(const struct dtrace_provider *);
/* The probe's id, from 1 on; an existing one if all four names agree. 0: no memory. */
uint32_t dtrace_probe_create(const struct dtrace_provider *, const char *module,
                             const char *function, const char *name, void *arg);
/* The same without a look whether it exists, and without copies: the names live as long as the
 * machine does. For providers of many probes. */
uint32_t dtrace_probe_add(const struct dtrace_provider *, const char *module, const char *function,
                          const char *name, void *arg);
/* Has the providers create probes that this description asks for, if it matches none so far.
 * Control context; dtrace_consumer_create() does it too. */
void dtrace_probe_provide(const char *provider, const char *module, const char *function,
                          const char *name);
struct dtrace_probe_names {
    uint32_t id;
    const struct dtrace_provider *provider;
    const char *module, *function, *name;
};
/* The first probe with an id above `after`; false: no more. */
bool dtrace_probe_next(uint32_t after, struct dtrace_probe_names *);
/* Whether a pattern (sh's * ? [ ] and \) matches a name. "" matches all. */
bool dtrace_glob(const char *pattern, const char *name);
/* Its steps, and how many there may be: from then on nothing matches. Control context. */
extern struct dtrace_glob_work {
    uint32_t spent, most;
} dtrace_glob_work;

/* The probe fires here and now. Any context, any CPU; masks interrupts while it works. */
void dtrace_fire(uint32_t probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                 uint64_t arg4);

/* ---- consumers --------------------------------------------------------------------- */

struct dtrace_consumer; /* trace/dtrace/consumer.h */

enum dtrace_reason {
    DTRACE_REASON_NONE,
#define DTRACE_REASON(name, error, text) DTRACE_REASON_##name,
#include "trace/dtrace/reasons.def"
};

enum { DTRACE_REFUSAL_TEXT = 120 };

/* Why an image was refused. */
struct dtrace_refusal {
    int error; /* negative errno: -EINVAL, -ENOMEM, -E2BIG (END's reserve), -ENOSPC (a size of 0
                  with records), -EPERM (destructive), -ESRCH (a description without a probe) */
    uint32_t object, offset;        /* of a bad object and instruction; ~0: of none */
    uint32_t reason;                /* enum dtrace_reason */
    char text[DTRACE_REFUSAL_TEXT]; /* for a person, if it isn't what the reason says; else "" */
};
/* For a person: reason.c. A board says them of what lies in its image. */
const char *dtrace_refusal_text(const struct dtrace_refusal *);
const char *dtrace_reason_text(enum dtrace_reason); /* NULL: none */

/* What became of the sizes asked for, under bufresize=auto. */
struct dtrace_sizes {
    uint64_t bufsize, aggsize, specsize, dynvarsize;
};

enum dtrace_create_flags {
    DTRACE_CREATE_ZERO_OK = 1, /* descriptions that match nothing are no error */
    DTRACE_CREATE_LOG = 2,     /* records go to the event log: trace/dtrace/log.h */
};

int dtrace_consumer_create(const void *image, size_t size, unsigned flags,
                           struct dtrace_consumer **, struct dtrace_refusal *);
void dtrace_consumer_sizes(const struct dtrace_consumer *, struct dtrace_sizes *);
/* ECBs made: clauses times probes. */
uint32_t dtrace_consumer_matched(const struct dtrace_consumer *);
int dtrace_consumer_go(struct dtrace_consumer *, unsigned *begin_cpu);
void dtrace_consumer_stop(struct dtrace_consumer *, unsigned *end_cpu);
void dtrace_consumer_destroy(struct dtrace_consumer *);

enum dtrace_state {
    DTRACE_STATE_INACTIVE,
    DTRACE_STATE_WARMUP, /* BEGIN fires */
    DTRACE_STATE_ACTIVE,
    DTRACE_STATE_DRAINING, /* exit() was called */
    DTRACE_STATE_COOLDOWN, /* END fires */
    DTRACE_STATE_STOPPED,
    DTRACE_STATE_KILLED, /* silent for too long: its memory is freed but for this answer */
};

/* Counters only grow; they are of all CPUs unless said otherwise. */
struct dtrace_status {
    uint32_t state;      /* enum dtrace_state */
    uint32_t exited;     /* 1: exit() was called; */
    int32_t exit_status; /* and lost its record if exit_dropped */
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

/* Whether there is nothing more to wait for: exit() was called, a fill buffer is full, it was
 * killed. Not a sign of life. */
bool dtrace_consumer_over(const struct dtrace_consumer *);
/* Also says that the consumer is alive: one silent for 10 s is ended. */
void dtrace_consumer_status(struct dtrace_consumer *, struct dtrace_status *);

struct dtrace_snap {
    uint64_t size;   /* bytes in the buffer */
    uint64_t oldest; /* ring: where the oldest record begins; the records go on behind the end */
    uint64_t drops;  /* since the last snap */
    uint64_t errors; /* since the last snap */
    uint64_t taken;  /* ns: no record that comes later is older (for temporal) */
};

/* Takes what CPU `cpu` has recorded, up to `room` bytes (bufsize is always enough), and makes that
 * room free. ring: only when stopped. 0, -EINVAL (no such CPU, a running ring), -ESHUTDOWN
 * (killed). */
int dtrace_buffer_snap(struct dtrace_consumer *, unsigned cpu, void *to, size_t room,
                       struct dtrace_snap *);
/* Takes and empties a CPU's aggregation buffer: entries one after the other, each as its
 * dtrace_agg_desc.recs say, beginning with struct dtrace_agg_entry. *read: where they are until it
 * is taken again, NULL if there are none. */
int dtrace_aggregation_take(struct dtrace_consumer *, unsigned cpu, size_t room,
                            const uint8_t **read, struct dtrace_snap *);
/* The same, as a copy. */
static inline int dtrace_aggregation_snap(struct dtrace_consumer *consumer, unsigned cpu, void *to,
                                          size_t room, struct dtrace_snap *snap)
{
    const uint8_t *read;
    int error = dtrace_aggregation_take(consumer, cpu, room, &read, snap);

    if (read) {
        __builtin_memcpy(to, read, snap->size);
    }
    return error;
}

/* 0 or -ENOENT; recs: room for *nrecs, which becomes what there are. */
int dtrace_epid_describe(const struct dtrace_consumer *, uint32_t epid, struct dtrace_epid_desc *,
                         struct dtrace_recdesc *recs, uint32_t *nrecs);
int dtrace_agg_describe(const struct dtrace_consumer *, uint32_t id, struct dtrace_agg_desc *,
                        struct dtrace_recdesc *recs, uint32_t *nrecs);

/* Call every so often (at most each 1/cleanrate): cleans speculations and dynamic variables, ends
 * consumers that are silent. Returns ns until it should be called again, DTRACE_CLEAN_IDLE if there
 * was nobody to clean for: earlier, then, when somebody begins. */
#define DTRACE_CLEAN_IDLE 1000000000u
uint64_t dtrace_machine_clean(void);

/* ---- bounds ------------------------------------------------------------------------ */

/* The most that a clause can cost, from its image alone. */
struct dtrace_cost {
    uint64_t steps;  /* DIF instructions, subroutines' steps included */
    uint32_t record; /* bytes recorded */
};
struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *, uint32_t ecb, uint32_t strsize);

/* Why this object is refused; *offset: the instruction. See validate.c for the rules. */
enum dtrace_reason dtrace_validate(const struct dif_object *, uint32_t *offset);

void dtrace_machine_init(void); /* once, before all else; registers the provider dtrace */

#endif
