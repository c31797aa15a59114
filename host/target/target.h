/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface between `kymo dtrace` and a target. `self` (host/self) is this process, with the
 * machine of trace/dtrace inside it; a board is reached over a link. All calls come from one thread
 * and may block. Negative results are -errno; -ESHUTDOWN: the consumer was killed for being silent;
 * -EPIPE: the target is gone.
 */
#ifndef HOST_TARGET_TARGET_H
#define HOST_TARGET_TARGET_H

#include "abi/sys/kymo.h"
#include "host/dt/dt.h"

struct target;

struct target_ops {
    bool is_here; /* its processes are this machine's: -c, -p */
    void (*close)(struct target *);
    const struct dt_model *(*model)(struct target *);
    unsigned (*cpus)(struct target *);
    /* The process there that has the consumer, the program's $pid; 0: unknown. NULL: this one. */
    int32_t (*consumer)(struct target *);
    /* For the compiler and -l. */
    const struct dt_probe_source *(*probes)(struct target *);

    /* A single consumer per open target; see trace/dtrace/dtrace.h for each call. */
    int (*create)(struct target *, const void *image, size_t size, unsigned flags,
                  struct dtrace_refusal *);
    int (*sizes)(struct target *, struct dtrace_sizes *, uint32_t *matched);
    int (*go)(struct target *, unsigned *begin_cpu);
    int (*stop)(struct target *, unsigned *end_cpu);
    /* Sleeps at most so long, less if the consumer called exit(), filled up or was killed, or a
     * signal came. */
    void (*wait)(struct target *, uint64_t ns);
    int (*status)(struct target *, struct dtrace_status *);
    int (*buffer)(struct target *, unsigned cpu, void *to, size_t room, struct dtrace_snap *);
    int (*aggregation)(struct target *, unsigned cpu, void *to, size_t room, struct dtrace_snap *);
    int (*epid)(struct target *, uint32_t epid, struct dtrace_epid_desc *, struct dtrace_recdesc *,
                uint32_t *nrecs);
    int (*agg)(struct target *, uint32_t id, struct dtrace_agg_desc *, struct dtrace_recdesc *,
               uint32_t *nrecs);
    bool (*probe_names)(struct target *, uint32_t id, struct dt_probe_info *);
    /* Options' defaults that differ on this target; DT_OPTION_UNSET: it doesn't mind. */
    uint64_t (*option_default)(struct target *, const char *option);
    /* Why a built-in variable isn't there on this target; NULL: it is. */
    const char *(*lacks)(struct target *, const char *variable);
    /* Bytes that are free there for consumers; 0: unknown. NULL: it can't be known. */
    uint64_t (*memory)(struct target *);
    /* Destructive actions that the consumer does for a process of the target. */
    int (*resume)(struct target *, int32_t pid);
    /* -c where !is_here. start: a line as in a start script becomes a process that is held: nothing
     * of it runs before `run`. -errno: `why` is what to say. It ends with the target's closing if
     * it never ran. ended: 1 and how, 0: not yet. NULL: the target starts no programs. */
    int (*program_start)(struct target *, const char *line, int32_t *pid, char *why, size_t room);
    int (*program_run)(struct target *);
    int (*program_ended)(struct target *, int *status); /* status: as ProcWait() gives it */
    /* Finds the first process, of that name if it is not "", whose pid is not below `from`: its pid
     * and name, or -ESRCH. Other errors: `why` is what to say. NULL: the target can't say what
     * runs. */
    int (*process_find)(struct target *, int32_t from, const char *wanted, char name[KYMO_NAME_MAX],
                        char *why, size_t room);
    /* Returns the program of the boot's consumer: *file as --compile wrote it (malloc'ed). -ENOENT:
     * there is none, or it is claimed. NULL: not supported by the target. */
    int (*look)(struct target *, void **file, size_t *size);
    /* Takes that consumer over, once it is known that this is its program. */
    int (*claim)(struct target *, const void *image, size_t size);
    /* -x log=1. NULL: the target has no event log. -ECANCELED: none runs now. -E2BIG: saved, or the
     * account of the probes, is too much. saved: what the program was compiled from. */
    int (*log_start)(struct target *, const void *saved, size_t bytes); /* before go */
    /* 1; 0: some of it found no room; -EAGAIN: nothing did, and nothing was taken. */
    int (*log_pass)(struct target *, uint32_t pass, unsigned flags, struct dtrace_status *);
    int (*log_end)(struct target *); /* before stop: what describes the records, again */
    /* -x retain, before go: what describes the records lies beside them. NULL: the target has no
     * retained memory. -E2BIG as above; -ENOSPC: it has no room for this. */
    int (*retain)(struct target *, const void *saved, size_t bytes);
    /* For -lv: what the target is. NULL: nothing to say. */
    void (*describe)(struct target *, FILE *);
    bool only_compiles; /* it isn't there: see host/target/offline.c */
    /* Why the target is gone; NULL: it isn't. NULL itself: it can't go. */
    const char *(*gone)(struct target *);
    /* Gives the session the ELFs of what the target runs; paths: where the user says they are.
     * False after a message: one of those is of something else. NULL: the target has none. */
    bool (*elf_files)(struct target *, struct dt_session *, const char *const *paths, unsigned n,
                      bool quiet);
    /* Which of these ELFs a process runs, and its load bias; false: unknown. NULL: there is but one
     * process. */
    bool (*process)(struct target *, int32_t pid, const char **object, uint64_t *bias);
    /* For a capture (host/after), NULL for others. left_out: prints which of the probes that were
     * asked for are not there, and why; returns how many. allows: false after messages, the capture
     * doesn't have what the image's clauses read. feed: fires what the next events fire, until the
     * buffers want to be taken or the consumer is over; false: there are no more. report: says on
     * stderr what may be missing; true: something. */
    unsigned (*left_out)(struct target *);
    bool (*allows)(struct target *, const void *image);
    bool (*feed)(struct target *);
    bool (*report)(struct target *);
    /* Likewise, for `kymo assert`. watch: `ran` knows the threads from here on. ran: the thread
     * that ran on the CPU at a time since the last `feed`; before: of a switch at this very time,
     * the one that left; false: unknown. name: of a process, "": unknown. now: the last event's
     * time. */
    void (*watch)(struct target *);
    bool (*ran)(struct target *, unsigned cpu, uint64_t ns, bool before, int32_t *pid,
                int32_t *tid);
    const char *(*name)(struct target *, int32_t pid);
    uint64_t (*now)(struct target *);
    /* Gives the session what is mapped in the one process that there is, when the first address is
     * to be named that no ELF of the session has. NULL: it has all. */
    void (*objects)(struct target *, struct dt_session *);
};

struct target {
    const struct target_ops *ops;
};

/* Opens a target. Returns NULL with the reason in *why, valid until the next call. spec: "boot",
 * "boot:BOARD[,icount][,image=IMAGE]": a board that is booted for the session and ended with it;
 * "self"; unix:PATH, tcp:HOST:PORT, /dev/tty…[@BAUD] (host/link/session.h); "loop": self behind the
 * messages of the link, for tests; elf:PATH: no target, but programs can be compiled for it. */
struct target *target_open(const char *spec, const char **why);

#endif
