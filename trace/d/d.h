/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's interface, to whoever controls it (on the host: the target `self`; on a board:
 * the kernel's side of the link) and to providers. The life of a consumer:
 *
 *   d_consumer_create()   validates the image, matches probes, makes ECBs, allocates all it will
 * need d_consumer_go()       enables the probes, fires BEGIN, then lets all others fire
 *   d_consumer_status(), d_buffer_snap(), d_aggregation_snap()   again and again
 *   d_consumer_stop()     no probe fires for it any more; fires END
 *   d_buffer_snap() …     what is left
 *   d_consumer_destroy()
 *
 * Control functions are called one at a time (the caller has a lock) and may block and allocate.
 * d_fire() is called by providers in any context, on any CPU.
 */
#ifndef TRACE_D_D_H
#define TRACE_D_D_H

#include "trace/d/image.h"

/* ---- probes and providers ----------------------------------------------------------------------
 */

struct d_probe; /* trace/d/probe.h */

enum d_stability {
    D_INTERNAL,
    D_PRIVATE,
    D_OBSOLETE,
    D_EXTERNAL,
    D_UNSTABLE,
    D_EVOLVING,
    D_STABLE,
    D_STANDARD,
};
enum d_class { D_UNKNOWN, D_CPU, D_PLATFORM, D_GROUP, D_ISA, D_COMMON };

struct d_attributes { /* stability: name, data, class of provider, module, function, name, args */
    uint8_t name[5], data[5], class[5];
};

struct d_provider {
    const char *name;
    struct d_attributes attributes;
    /* A description that matches no probe yet names this provider: create what it asks for. */
    void (*provide)(const char *module, const char *function, const char *name);
    /* First and last enabling of a probe. 0 or a negative errno. Control context. */
    int (*enable)(uint32_t probe, void *arg);
    void (*disable)(uint32_t probe, void *arg);
    /* A probe that is enabled has one enabling more or less: d_probe_wanted() may answer otherwise.
     * 0 or a negative errno (then the new enabling fails). Control context. NULL: nothing to do. */
    int (*changed)(uint32_t probe, void *arg);
    /* Makes all of what enable() and disable() have prepared true at once. NULL: nothing to do. */
    void (*settle)(void);
    /* arg5 and beyond, of the firing under way; NULL: they read 0. */
    uint64_t (*argument)(uint32_t probe, void *arg, unsigned n);
    /* The C type of args[n], for -lv and the compiler; NULL: there is none. */
    const char *(*argument_type)(uint32_t probe, void *arg, unsigned n);
};

void d_provider_register(const struct d_provider *);
/* The probe's id, from 1 on; an existing one if all four names agree. 0: no memory. */
uint32_t d_probe_create(const struct d_provider *, const char *module, const char *function,
                        const char *name, void *arg);
/* The same without a look whether it exists, and without copies: the names live as long as the
 * machine does. For providers of many probes. */
uint32_t d_probe_add(const struct d_provider *, const char *module, const char *function,
                     const char *name, void *arg);
/* Has the providers create probes that this description asks for, if it matches none so far.
 * Control context; d_consumer_create() does it too. */
void d_probe_provide(const char *provider, const char *module, const char *function,
                     const char *name);
struct d_probe_names {
    uint32_t id;
    const struct d_provider *provider;
    const char *module, *function, *name;
};
/* The first probe with an id above `after`; false: no more. */
bool d_probe_next(uint32_t after, struct d_probe_names *);
/* Whether a pattern (sh's * ? [ ] and \) matches a name. "" matches all. */
bool d_glob(const char *pattern, const char *name);
/* Its steps, and how many there may be: from then on nothing matches. Control context. */
extern struct d_glob_work {
    uint32_t spent, most;
} d_glob_work;

/* The probe fires here and now. Any context, any CPU; masks interrupts while it works. */
void d_fire(uint32_t probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
            uint64_t arg4);

/* ---- consumers ---------------------------------------------------------------------------------
 */

struct d_consumer; /* trace/d/consumer.h */

enum d_reason {
    D_REASON_NONE,
#define D_REASON(name, error, text) D_REASON_##name,
#include "trace/d/reasons.def"
};

enum { D_REFUSAL_TEXT = 120 };

/* Why an image was refused. */
struct d_refusal {
    int error; /* negative errno: -EINVAL, -ENOMEM, -E2BIG (END's reserve), -ENOSPC (a size of 0
                  with records), -EPERM (destructive), -ESRCH (a description without a probe) */
    uint32_t object, offset;   /* of a bad object and instruction; ~0: of none */
    uint32_t reason;           /* enum d_reason */
    char text[D_REFUSAL_TEXT]; /* for a person, if it isn't what the reason says; else "" */
};
/* For a person: reason.c. A board says them of what lies in its image. */
const char *d_refusal_text(const struct d_refusal *);
const char *d_reason_text(enum d_reason); /* NULL: none */

/* What became of the sizes asked for, under bufresize=auto. */
struct d_sizes {
    uint64_t bufsize, aggsize, specsize, dynvarsize;
};

enum d_create_flags {
    D_CREATE_ZERO_OK = 1, /* descriptions that match nothing are no error */
    D_CREATE_LOG = 2,     /* records go to the event log: trace/d/log.h */
};

int d_consumer_create(const void *image, size_t size, unsigned flags, struct d_consumer **,
                      struct d_refusal *);
void d_consumer_sizes(const struct d_consumer *, struct d_sizes *);
/* ECBs made: clauses times probes. */
uint32_t d_consumer_matched(const struct d_consumer *);
int d_consumer_go(struct d_consumer *, unsigned *begin_cpu);
void d_consumer_stop(struct d_consumer *, unsigned *end_cpu);
void d_consumer_destroy(struct d_consumer *);

enum d_state {
    D_STATE_INACTIVE,
    D_STATE_WARMUP, /* BEGIN fires */
    D_STATE_ACTIVE,
    D_STATE_DRAINING, /* exit() was called */
    D_STATE_COOLDOWN, /* END fires */
    D_STATE_STOPPED,
    D_STATE_KILLED, /* silent for too long: its memory is freed but for this answer */
};

/* Counters only grow; they are of all CPUs unless said otherwise. */
struct d_status {
    uint32_t state;      /* enum d_state */
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
bool d_consumer_over(const struct d_consumer *);
/* Also says that the consumer is alive: one silent for 10 s is ended. */
void d_consumer_status(struct d_consumer *, struct d_status *);

struct d_snap {
    uint64_t size;   /* bytes in the buffer */
    uint64_t oldest; /* ring: where the oldest record begins; the records go on behind the end */
    uint64_t drops;  /* since the last snap */
    uint64_t errors; /* since the last snap */
    uint64_t taken;  /* ns: no record that comes later is older (for temporal) */
};

/* Takes what CPU `cpu` has recorded, up to `room` bytes (bufsize is always enough), and makes that
 * room free. ring: only when stopped. 0, -EINVAL (no such CPU, a running ring), -ESHUTDOWN
 * (killed). */
int d_buffer_snap(struct d_consumer *, unsigned cpu, void *to, size_t room, struct d_snap *);
/* Takes and empties a CPU's aggregation buffer: entries one after the other, each as its
 * d_agg_desc.recs say, beginning with struct d_agg_entry. *read: where they are until it is taken
 * again, NULL if there are none. */
int d_aggregation_take(struct d_consumer *, unsigned cpu, size_t room, const uint8_t **read,
                       struct d_snap *);
/* The same, as a copy. */
static inline int d_aggregation_snap(struct d_consumer *consumer, unsigned cpu, void *to,
                                     size_t room, struct d_snap *snap)
{
    const uint8_t *read;
    int error = d_aggregation_take(consumer, cpu, room, &read, snap);

    if (read) {
        __builtin_memcpy(to, read, snap->size);
    }
    return error;
}

/* 0 or -ENOENT; recs: room for *nrecs, which becomes what there are. */
int d_epid_describe(const struct d_consumer *, uint32_t epid, struct d_epid_desc *,
                    struct d_recdesc *recs, uint32_t *nrecs);
int d_agg_describe(const struct d_consumer *, uint32_t id, struct d_agg_desc *,
                   struct d_recdesc *recs, uint32_t *nrecs);

/* Call every so often (at most each 1/cleanrate): cleans speculations and dynamic variables, ends
 * consumers that are silent. Returns ns until it should be called again, D_CLEAN_IDLE if there was
 * nobody to clean for: earlier, then, when somebody begins. */
#define D_CLEAN_IDLE 1000000000u
uint64_t d_machine_clean(void);

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* The most that a clause can cost, from its image alone. */
struct d_cost {
    uint64_t steps;  /* DIF instructions, subroutines' steps included */
    uint32_t record; /* bytes recorded */
};
struct d_cost d_ecb_cost(const struct d_image *, uint32_t ecb, uint32_t strsize);

/* Why this object is refused; *offset: the instruction. See validate.c for the rules. */
enum d_reason d_validate(const struct dif_object *, uint32_t *offset);

void d_machine_init(void); /* once, before all else; registers the provider dtrace */

#endif
