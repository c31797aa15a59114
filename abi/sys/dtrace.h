/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control of dynamic tracing: one kernel call, DtraceControl(). Its commands are also the messages
 * of the link's service "dtrace" (docs/reference/link.md): struct kymo_d_call and `in_bytes` bytes
 * go to the target, the same struct and `out_bytes` bytes come back. So a link's agent passes them
 * on without examining them, and only the kernel checks what a host sends. All structures are the
 * same on 32 and 64 bits, little-endian; those named d_ are of trace/dtrace/dtrace.h and
 * trace/dtrace/image.h.
 *
 *   int DtraceControl(struct kymo_d_call *call, const void *in, void *out);
 *
 * in and out are aligned to 8. A consumer belongs to the process that created it and ends with it.
 * Needs the ability dtrace_kernel, or dtrace_user: then CREATE creates consumers that observe the
 * caller and the processes that it started, by the providers dtrace, profile, syscall and pid; they
 * can't read kernel memory. Also needed: dtrace_destructive for programs that change the target;
 * trace for log=1, retain and logstop(); dtrace_kernel for CLAIM, LOOK, RESUME, LIMIT. Returns 0,
 * or -1 and errno, which call->result holds as a negative number:
 *
 *   EPERM      without the ability (CREATE's refusal names it); a destructive program without the
 *              option destructive
 *   EINVAL     an unknown command; see each command
 *   EBADF      no such consumer of this process
 *   EMSGSIZE   in_bytes or out_bytes out of range, or no room for the answer
 *   EFAULT     in or out is not the caller's memory
 *   EAGAIN     too many consumers; ENOMEM: no memory for this one
 *   E2BIG      (CREATE) END may need more than a fill buffer, or a probe firing costs more than
 *              LIMIT allows; ENOSPC: it has no room at all
 *   ENOSPC, ENOTSUP   (GO) no slot for one more function probe; this function can't be probed
 *   EBUSY      (GO) a probe of cpc, and all counters are in use
 *   ESHUTDOWN  the consumer was silent for 10 s and is killed
 */
#ifndef _SYS_DTRACE_H
#define _SYS_DTRACE_H

#include <stdint.h>

#include "abi/static_assert.h"

#define KYMO_D_VERSION 1
#define KYMO_D_ESHUTDOWN 110              /* ESHUTDOWN: not defined by all C libraries */
#define KYMO_D_IN_MOST (256 * 1024)       /* most bytes of a program */
#define KYMO_D_OUT_MOST (4 * 1024 * 1024) /* most bytes of an answer */

enum kymo_d_command {
    KYMO_D_INFO =
        1, /* out: struct kymo_d_info. Answers id: the caller's pid, the consumer's $pid */
    /*
     * Lists probes from the first one with an id above call->id, as many as room and time allow:
     * out: consecutive struct kymo_d_probe, possibly none. Returns id: the one to continue with.
     * in: nothing, or a description as for PROVIDE, which the probes match. ENOENT: no more;
     * EMSGSIZE: no room for one.
     */
    KYMO_D_PROBES,
    KYMO_D_PROVIDE, /* in: provider, module, function, name, each with its NUL: globs, see d.h */
    /* in: a struct dtrace_image; flags: enum dtrace_create_flags. out: struct kymo_d_created, or on
     * any error except EBADF, EMSGSIZE, EFAULT struct dtrace_refusal. Returns call->handle. */
    KYMO_D_CREATE,
    KYMO_D_GO,     /* returns cpu: the one on which BEGIN fired */
    KYMO_D_STOP,   /* returns cpu: the one on which END fired */
    KYMO_D_OVER,   /* returns id: 1 if dtrace_consumer_over(), otherwise 0. Not a sign of life */
    KYMO_D_STATUS, /* out: struct dtrace_status. A sign of life */
    /* Takes the records of `cpu`: out: struct dtrace_snap, then its bytes. EFAULT: the data taken
     * is lost, because another thread has unmapped its memory meanwhile. */
    KYMO_D_BUFFER,
    KYMO_D_AGGREGATION, /* likewise */
    /* Describes `id`: out: struct dtrace_epid_desc or struct dtrace_agg_desc, 4 bytes, its struct
     * dtrace_recdesc. ENOENT */
    KYMO_D_EPID,
    KYMO_D_AGG,
    KYMO_D_RESUME, /* id: a process that stop() stopped. ESRCH */
    KYMO_D_DESTROY,
    /* Claims for the caller the consumer that the boot made from BOOT_D. Returns handle and id: the
     * number of matching probes. ENOENT: there is none, or it is already claimed. */
    KYMO_D_CLAIM,
    KYMO_D_SIZES, /* out: struct kymo_d_created, as returned by CREATE */
    /* id: a pid. out: struct kymo_d_process, for ustack(): also for the most recently ended
     * processes, if they ended while there were consumers. ESRCH */
    KYMO_D_PROCESS,
    /* Reads the program of the consumer that CLAIM would claim, without claiming it. out: the
     * program, as `kymo dtrace --compile` wrote it. ENOENT as for CLAIM. */
    KYMO_D_LOOK,
    /*
     * For a consumer that logs (DTRACE_CREATE_LOG): in, unless empty: notes that go into the event
     * log with its records, at most DTRACE_LOG_NOTES_MAX bytes, kept until replaced. They are
     * logged from offset call->id on, as far as there is room. Returns id: the offset to continue
     * at. ECANCELED: no log runs.
     */
    KYMO_D_NOTES,
    /* For such a consumer: logs the data that a reader would take now. id: the pass, flags: enum
     * dtrace_log_pass_flags. out: struct dtrace_status. Returns id: 1, or 0 if some of it found no
     * room. A sign of life. ECANCELED as for NOTES; EAGAIN: no room now, and nothing was taken. */
    KYMO_D_PASS,
    /* Limits the cost of programs that are made from now on: id: the most instructions that their
     * clauses may add to a firing of one probe (steps: docs/inside/machine.md). It can only be
     * lowered; 0 changes nothing. Returns id: the limit in force, 0: none. */
    KYMO_D_LIMIT,
    /*
     * Creates probes pidPID:PROGRAM:… of a process, if the kernel has the provider pid. in: struct
     * kymo_d_user, then `count` struct kymo_d_user_place. out: struct kymo_d_user_made. ESRCH: no
     * such process; EPERM: it is not the caller's; EINVAL: there is no such provider. Reasons to
     * refuse a place: EFAULT: it is not in the process's text; ENOTSUP: text shared with other
     * processes, or an instruction that can't be displaced; EINVAL: the text has another
     * instruction; ENOSPC: no room.
     */
    KYMO_D_USER,
};

struct kymo_d_call {
    uint32_t command;        /* enum kymo_d_command */
    uint32_t handle;         /* consumer's handle, not 0 */
    uint32_t cpu, id, flags; /* as the command requires, otherwise 0 */
    int32_t result;          /* answer: 0 or a negative errno of abi/errno.h */
    uint32_t in_bytes;       /* bytes that follow the request */
    uint32_t out_bytes;      /* request: room for the answer; answer: its bytes */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_call) == 32, "layout on the link");

#define KYMO_D_FEATURE_SAMPLES_KERNEL 1u /* profile's samples are also taken in the kernel */
/* The D variables cycles and instructions, whose counters this machine has; the provider cpc. */
#define KYMO_D_FEATURE_COUNTS_CYCLES 2u
#define KYMO_D_FEATURE_COUNTS_INSTRUCTIONS 4u
#define KYMO_D_FEATURE_COUNTS_PROBES 8u
/* cpc:::EVENT-MODE-COUNT: the least COUNT, as in Solaris' dcpc; and MODE-COUNT of the one probe of
 * each event that is listed before any was requested. */
#define KYMO_D_COUNT_LEAST 5000u
#define KYMO_D_COUNT_USUAL 1000000u
#define KYMO_D_COUNT_LISTED "-all-1000000"
#define KYMO_D_FEATURE_HELPERS 16u /* actions may have helpers: trace/dtrace/helper.h */

struct kymo_d_info {
    uint32_t version;       /* KYMO_D_VERSION */
    uint32_t cpus;          /* CPU numbers are below this */
    uint32_t pointer_bytes; /* 4 or 8 */
    uint16_t machine;       /* ELF e_machine */
    uint16_t features;      /* KYMO_D_FEATURE_* */
    uint8_t build_id[20];   /* of the kernel's ELF */
    uint32_t held;          /* bytes of the system's memory that D uses: probes, all consumers */
    char board[32];
    /* Defaults and limits of this board, bytes. */
    uint64_t bufsize, aggsize, specsize, dynvarsize, strsize;
    /* bytes that consumers may still allocate: they hold at most as much as stays free */
    uint64_t memory;
    uint64_t clock_hz; /* of the trace clock */
};

/* One probe of KYMO_D_PROBES. The next one follows after `size` bytes, a multiple of 8. */
struct kymo_d_probe {
    uint16_t size;
    uint8_t arguments; /* number of C types that follow the names: args[0] … */
    uint8_t pad;
    uint32_t id;
    uint8_t name[5], data[5], dependency[5]; /* struct dtrace_attributes, its class last */
    uint8_t pad1;
    /* provider, module, function, name, then the arguments' types, each with its NUL. */
    char strings[];
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_probe) == 24, "layout on the link");

struct kymo_d_created {
    uint64_t bufsize, aggsize, specsize, dynvarsize; /* struct dtrace_sizes */
    uint32_t matched;                                /* number of enablings created */
    uint32_t pad;
};

struct kymo_d_process {
    char name[48];            /* name of its file in the boot image */
    uint64_t text, text_link; /* address of its code, and the address it was linked at */
};

enum { /* bytes of texts, their NULs included */
       KYMO_D_USER_FUNCTION = 64,
       KYMO_D_USER_NAME = 8
};
enum kymo_d_user_kind {
    KYMO_D_USER_ENTRY,
    KYMO_D_USER_RETURN,
    KYMO_D_USER_TAIL,   /* a return by a jump to another function */
    KYMO_D_USER_OFFSET, /* any instruction */
};

struct kymo_d_user {
    int32_t pid;
    uint32_t count;
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_user) == 8, "layout on the link");

/* A place of a probe: consecutive places with the same names belong to one probe. */
struct kymo_d_user_place {
    uint64_t address; /* in the process */
    /* the instruction at the address, according to the ELF file: its first 4 bytes */
    uint32_t insn;
    uint32_t offset; /* in the function */
    uint16_t size;   /* of this struct, with its texts: a multiple of 8 */
    uint8_t bytes;   /* of the instruction */
    uint8_t kind;    /* enum kymo_d_user_kind */
    uint32_t pad;    /* 0 */
    /* Function and name, each with its NUL; then the instruction's bytes from the fifth on. */
    char strings[];
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_user_place) == 24, "layout on the link");

struct kymo_d_user_made {
    uint32_t made, refused; /* number of places */
    uint32_t first;         /* index of the first one refused */
    int32_t why;            /* the reason, a negative errno */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_user_made) == 16, "layout on the link");

int DtraceControl(struct kymo_d_call *call, const void *in, void *out);

#endif
