/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that is reached by messages: the requests and answers of abi/sys/dtrace.h over a
 * wire (wire.h). Nothing that an answer says is believed before it was checked: a target that lies
 * ends the session with a message, nothing more. Internal to host/remote. Proved by
 * test/host/remote and by test/dtrace/run.py --target loop.
 */
#ifndef HOST_REMOTE_REMOTE_H
#define HOST_REMOTE_REMOTE_H

#include "host/remote/target.h"
#include "host/remote/wire.h"
#include "abi/sys/dtrace.h"

enum {
    REMOTE_CPUS_MAX = 64,
    REMOTE_PROBES_MAX = 1 << 20,
    /* Buffers are taken whole, in one answer. */
    REMOTE_BUFFER_MAX = KYMO_D_OUT_MOST - 64,
};

struct remote_probe {
    struct dt_probe_info info;
    char **types; /* of args[0] … */
    unsigned ntypes;
};

struct remote_query { /* a description that was asked for, and what it matched */
    struct remote_query *next;
    char *names; /* four texts with their NULs */
    size_t bytes;
    uint32_t *ids;
    unsigned nids;
};

struct remote_process {
    struct remote_process *next;
    int32_t pid;
    bool known;
    struct kymo_d_process process;
};

struct remote_uses {                     /* of a program */
    bool records, aggregates, addresses; /* addresses: of processes */
    uint32_t most_actions;               /* that an enabling of it has */
};

struct remote {
    struct target base;
    struct target_ops ops;
    struct wire *wire;
    struct wire *programs; /* the service that starts one; NULL: it was not asked */
    struct kymo_d_info info;
    int32_t consumer; /* the process there that has the consumer; 0: unknown */
    uint8_t *message; /* of the request, then of the answer */
    size_t room;
    char gone[120]; /* why nothing goes any more; "": it does */

    struct dt_probe_source source;
    struct remote_probe **probes; /* by id - 1; NULL: not asked yet */
    uint32_t nprobes;             /* room in probes */
    struct remote_query *queries;
    struct remote_process *processes;
    struct dt_session *session; /* that has the ELFs; NULL: none yet */
    char pid_why[120]; /* why probes of a process could not be made: the last reason; "": none */

    uint32_t handle;            /* of the consumer; 0: there is none */
    struct dtrace_image *image; /* its program, a copy: what descriptions are checked against */
    uint32_t matched;
    struct remote_uses uses;
    struct dtrace_sizes sizes;
    uint64_t principal; /* the most that a principal buffer can have to read */

    uint8_t *transcript; /* requests and answers that a later reader needs: log.c */
    size_t ntranscript, transcript_room;
    uint32_t notes_bytes;
};

static inline struct remote *remote_of(struct target *t)
{
    return (struct remote *)t;
}

/* ---- call.c ------------------------------------------------------------------------ */

/* Sends a request (in: call->in_bytes) and waits for its answer: call->out_bytes at *out, valid
 * until the next call. Returns 0 or a negative errno of this machine. -EPIPE: the target is lost;
 * -EPROTO: its answer was invalid, and the target is given up. */
int remote_call(struct remote *, struct kymo_d_call *, const void *in, const uint8_t **out);
/* Like remote_call(), for an answer of exactly `bytes`, which are copied to `to`. */
int remote_ask(struct remote *, struct kymo_d_call *, void *to, size_t bytes);
/* Waits for the next message of a wire. Returns its bytes, or a negative errno. -EAGAIN: the time
 * of --timeout has passed; -EINTR: the user interrupted the wait. */
long remote_wait_for(struct wire *, void *message, size_t room);
/* Converts the target's error, a negative number, to this machine's number. */
int remote_error(int32_t theirs);
/* Gives the target up for an invalid answer; returns -EPROTO. */
int remote_nonsense(struct remote *, const char *what);
/* Returns true for a text without control characters, with a NUL within `room`. */
bool remote_text_ok(const char *, size_t room);

/* ---- target.c ---------------------------------------------------------------------- */

/* Makes a request about the consumer whose answer has no bytes. */
int remote_simple(struct remote *, uint32_t command, struct kymo_d_call *);

/* ---- create.c: as in struct target_ops --------------------------------------------- */

int remote_create(struct target *, const void *image, size_t size, unsigned flags,
                  struct dtrace_refusal *why);
int remote_look(struct target *, void **file, size_t *size);
int remote_claim(struct target *, const void *image, size_t size);
int remote_sizes(struct target *, struct dtrace_sizes *sizes, uint32_t *matched);

/* ---- records.c: as in struct target_ops -------------------------------------------- */

int remote_buffer(struct target *, unsigned cpu, void *to, size_t room, struct dtrace_snap *);
int remote_aggregation(struct target *, unsigned cpu, void *to, size_t room, struct dtrace_snap *);
int remote_epid(struct target *, uint32_t epid, struct dtrace_epid_desc *,
                struct dtrace_recdesc *recs, uint32_t *nrecs);
int remote_agg(struct target *, uint32_t id, struct dtrace_agg_desc *, struct dtrace_recdesc *recs,
               uint32_t *nrecs);

/* ---- probes.c ---------------------------------------------------------------------- */

void remote_probes_init(struct remote *);
void remote_probes_free(struct remote *);
bool remote_probe_names(struct target *, uint32_t id, struct dt_probe_info *);

/* ---- elf_files.c: as in struct target_ops ---------------------------------------------- */

bool remote_elf_files(struct target *, struct dt_session *, const char *const *paths, unsigned n,
                      bool quiet);
bool remote_process(struct target *, int32_t pid, const char **object, uint64_t *bias);
void remote_processes_free(struct remote *);

/* ---- pid.c: for struct dt_probe_source ---------------------------------------------- */

/* Makes the probes that a description of the provider pid asks for; others it ignores. */
void remote_pid_provide(struct remote *, const char *const pattern[4]);
const char *remote_pid_module(void *remote, const char *provider, const char *module);
const char *remote_pid_why_none(void *remote, struct dt_session *, const char *const fields[4]);

/* ---- counters.c -------------------------------------------------------------------- */

/* As why_none of struct dt_probe_source, for a description of cpc. */
const char *remote_cpc_why_none(struct remote *, const char *const fields[4]);
const char *remote_lacks(struct target *, const char *variable);

/* ---- program.c: as in struct target_ops -------------------------------------------- */

int remote_program_start(struct target *, const char *line, int32_t *pid, char *why, size_t room);
int remote_program_run(struct target *);
int remote_program_ended(struct target *, int *status);
int remote_process_find(struct target *, int32_t from, const char *wanted, char name[KYMO_NAME_MAX],
                        char *why, size_t room);
void remote_program_close(struct remote *);

/* ---- log.c ------------------------------------------------------------------------- */

/* Keeps a request and its answer if they describe the target or the program. */
void remote_transcribe(struct remote *, const struct kymo_d_call *asked, const void *in,
                       const struct kymo_d_call *answer, const void *out);
int remote_log_start(struct target *, const void *saved, size_t bytes);
int remote_log_pass(struct target *, uint32_t pass, unsigned flags, struct dtrace_status *);
int remote_log_end(struct target *);
int remote_retain(struct target *, const void *saved, size_t bytes);

/* ---- describe.c -------------------------------------------------------------------- */

struct remote_uses remote_image_uses(const struct dtrace_image *);
/* Return true if a description is one that the program's image makes. */
bool remote_epid_fits(const struct dtrace_image *, const struct dtrace_epid_desc *,
                      const struct dtrace_recdesc *);
bool remote_agg_fits(const struct dtrace_image *, const struct dtrace_agg_desc *,
                     const struct dtrace_recdesc *);

#endif
