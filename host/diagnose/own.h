/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that the families of findings share; private to host/diagnose/. */
#ifndef HOST_DIAGNOSE_OWN_H
#define HOST_DIAGNOSE_OWN_H

#include "host/diagnose/diagnose.h"
#include "host/flow/flow.h"

#define DIAGNOSE_MS 1000000

enum { /* needs */
       D_THREAD = 1,
       D_CALLS = 2,
       D_COMM = 4,
       D_INT = 8,
       D_SYSTEM = 16,
};

enum { /* rests, see findings.def */
       D_PRESENT = 1,
       D_WHOLE = 2,
       D_SIGN = 4,
};

struct diagnosis {
    struct kev_capture *capture;
    struct flow *flow;
    const struct kev_item *item;
    struct flow_thread **threads; /* by serial; NULL: gone */
    uint32_t nthreads;            /* room */
    uint32_t *living;             /* serials of threads that live; flow_thread.mark: where */
    uint32_t nliving, living_room;
    struct finding found[FINDINGS][FINDING_MOST];
    unsigned nfound[FINDINGS];
    struct untold *untold;
    uint32_t only;
    int64_t now;     /* ns of the newest item */
    bool ended;      /* the capture's end: what ends now lasts */
    uint32_t losses; /* that came so far: what was noted before the newest may be out of date */
    bool lossy;      /* events that findings need were among them */
    bool partial;    /* any event may be missing: a gate, pauses, unknown filters */
    bool filtered;   /* the header says that some events were left out */
    bool late;       /* of what was before the first event the capture says nothing */
    void *self[8];   /* of the families */
};

/* A family's records of threads; at the start of its `self` if it has `each`. */
struct family_each {
    void *all; /* by serial */
    uint32_t room;
};

/* A family of findings. Functions may be NULL. */
struct family {
    size_t bytes; /* of `self`, which is zeroed; unless start() returns it */
    size_t each;  /* of a thread's record, likewise; 0: it has none */
    void *(*start)(struct diagnosis *);
    void (*thread)(struct diagnosis *, void *self, struct flow_thread *);
    void (*begin)(struct diagnosis *, void *self, struct flow_thread *, struct flow_state *);
    void (*span)(struct diagnosis *, void *self, const struct flow_thread *,
                 const struct flow_state *, int64_t to, bool ended);
    void (*gone)(struct diagnosis *, void *self, const struct flow_thread *, int64_t ns);
    void (*step)(struct diagnosis *, void *self, const struct flow_step *);
    void (*lose)(struct diagnosis *, void *self); /* `losses` has grown; takes no walk */
    /* A process has ended, and its pid may be used again; -1: any may have, by a loss. */
    void (*ended)(struct diagnosis *, void *self, int32_t pid);
    void (*end)(struct diagnosis *, void *self); /* after the flow's */
    void (*stop)(void *self);
};
extern const struct family family_blocked, family_messages, family_inversion, family_cpu,
    family_counts, family_crash;

/* ---- run.c --------------------------------------------------------------------------- */

/* Keeps a finding: one of the same kind and thread is counted, and the greater harm stays. */
void diagnosis_add(struct diagnosis *, const struct finding *);
/* A finding about a thread (NULL: nobody), with its name and the command that shows the time. */
struct finding diagnosis_finding(struct diagnosis *, enum finding_kind, const struct flow_thread *,
                                 int64_t from, int64_t to);
void diagnosis_untold(struct diagnosis *, enum finding_kind, const char *reason,
                      const char *remedy);
/* "": no event has named it. */
const char *diagnosis_process_name(const struct diagnosis *, int32_t pid);
/* "process 5 name", or "process 5" if no event has named it. */
const char *diagnosis_process(const struct diagnosis *, int32_t pid, char text[96]);
/* "name 5:1" */
const char *diagnosis_name(const struct diagnosis *, const struct flow_thread *, char text[96]);
/* An array by serials, grown with zeroes so that `serial` is in it. */
void *diagnosis_grow(void *array, uint32_t *room, uint32_t serial, size_t bytes);

#endif
