/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic tracing's control: one kernel call, DtraceControl(), whose commands are also the messages
 * of the link's service "dtrace" (docs/link.md): struct kymo_d_call and `in_bytes` bytes go to the
 * target, the same struct and `out_bytes` bytes come back. So a link's agent passes them on without
 * looking into them, and what a host sends is checked in one place, the kernel. All structures are
 * the same on 32 and 64 bits, little-endian; those named d_ are of trace/dtrace/dtrace.h and
 * trace/dtrace/image.h.
 *
 * int DtraceControl(struct kymo_d_call *call, const void *in, void *out);
 *
 * in and out are aligned to 8. Needs ABILITY_TRACE. A consumer belongs to the process that created
 * it and ends with it. 0, or -1 and errno, which call->result has as a negative number:
 *   EPERM      without the ability; a destructive program where that is not allowed
 *   EINVAL     an unknown command; what the command says
 *   EBADF      no such consumer of this process
 *   EMSGSIZE   in_bytes or out_bytes out of range, or no room for the answer
 *   EFAULT     in or out is not the caller's memory
 *   EAGAIN     too many consumers; ENOMEM: no memory for this one
 *   E2BIG      (CREATE) what END may need is more than a fill buffer; ENOSPC: it has no room at all
 *   ENOSPC, ENOTSUP   (GO) there is no place for one more function probe; it can't be put there
 *   ESHUTDOWN  the consumer was silent for 10 s and is killed
 */
#ifndef _SYS_DTRACE_H
#define _SYS_DTRACE_H

#include <stdint.h>

#include "abi/static_assert.h"

#define KYMO_D_VERSION 1
#define KYMO_D_ESHUTDOWN 110              /* ESHUTDOWN: not all C libraries have the name */
#define KYMO_D_IN_MOST (256 * 1024)       /* bytes of a program */
#define KYMO_D_OUT_MOST (4 * 1024 * 1024) /* bytes of an answer */

enum kymo_d_command {
    KYMO_D_INFO =
        1, /* out: struct kymo_d_info. Answers id: the caller's pid, the consumer's $pid */
    /* From the first probe with an id above call->id on, as many as find room and time: out: one
     * struct kymo_d_probe after the other, maybe none. Answers id: where to go on. in: nothing, or
     * a description as for PROVIDE, that they match. ENOENT: no more; EMSGSIZE: no room for one. */
    KYMO_D_PROBES,
    KYMO_D_PROVIDE, /* in: provider, module, function, name, each with its NUL: globs, see d.h */
    /* in: a struct dtrace_image; flags: enum dtrace_create_flags. out: struct kymo_d_created, and
     * on any error but EBADF, EMSGSIZE, EFAULT struct dtrace_refusal. Answers call->handle. */
    KYMO_D_CREATE,
    KYMO_D_GO,          /* answers cpu: where BEGIN fired */
    KYMO_D_STOP,        /* answers cpu: where END fired */
    KYMO_D_OVER,        /* answers id: 1 if dtrace_consumer_over(), else 0. Not a sign of life */
    KYMO_D_STATUS,      /* out: struct dtrace_status. A sign of life */
    KYMO_D_BUFFER,      /* of cpu: out: struct dtrace_snap, then its bytes */
    KYMO_D_AGGREGATION, /* of cpu: the same */
    /* Of id: out: struct dtrace_epid_desc or struct dtrace_agg_desc, 4 bytes, its struct
       dtrace_recdesc. ENOENT */
    KYMO_D_EPID,
    KYMO_D_AGG,
    KYMO_D_RESUME, /* id: a process that stop() stopped. ESRCH */
    KYMO_D_DESTROY,
    /* The consumer that the boot made from BOOT_D: it is the caller's now. Answers handle and id:
     * how many probes matched. ENOENT: there is none, or somebody has it. */
    KYMO_D_CLAIM,
    KYMO_D_SIZES, /* out: struct kymo_d_created, as CREATE gave it */
    /* id: a pid. out: struct kymo_d_process, for ustack(): also of the newest processes that ended
     * while there were consumers. ESRCH */
    KYMO_D_PROCESS,
    /* What CLAIM would claim, which stays where it is. out: its program, as `kymo dtrace --compile`
     * wrote it. ENOENT as for CLAIM. */
    KYMO_D_LOOK,
    /* Of a consumer that logs (DTRACE_CREATE_LOG): in, unless none: notes that go into the event
     * log with its records, at most DTRACE_LOG_NOTES_MAX bytes, kept until the next ones. They are
     * logged from call->id on, as far as there is room: answers id: where to go on. ECANCELED: no
     * log runs. */
    KYMO_D_NOTES,
    /* Of such a consumer: logs what a reader would take now. id: the pass, flags: enum
     * dtrace_log_pass_flags. out: struct dtrace_status. Answers id: 1, or 0: some of it found no
     * room. A sign of life. ECANCELED as for NOTES; EAGAIN: it has no room now, and nothing was
     * taken. */
    KYMO_D_PASS,
};

struct kymo_d_call {
    uint32_t command;        /* enum kymo_d_command */
    uint32_t handle;         /* consumer, not 0 */
    uint32_t cpu, id, flags; /* as the command says, else 0 */
    int32_t result;          /* answer: 0 or a negative errno, as abi/errno.h numbers them */
    uint32_t in_bytes;       /* that go with the request */
    uint32_t out_bytes;      /* request: room for the answer; answer: its bytes */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_d_call) == 32, "layout on the link");

#define KYMO_D_FEATURE_SAMPLES_KERNEL 1u /* profile's samples are taken in the kernel, too */

struct kymo_d_info {
    uint32_t version;       /* KYMO_D_VERSION */
    uint32_t cpus;          /* numbers below that */
    uint32_t pointer_bytes; /* 4 or 8 */
    uint16_t machine;       /* ELF e_machine */
    uint16_t features;      /* KYMO_D_FEATURE_* */
    uint8_t build_id[20];   /* of the kernel's ELF */
    uint32_t held;          /* bytes that D has of the system's memory: probes, all consumers */
    char board[32];
    /* Defaults and limits of this board, bytes. */
    uint64_t bufsize, aggsize, specsize, dynvarsize, strsize;
    uint64_t memory;   /* that is free for consumers, bytes */
    uint64_t clock_hz; /* of the trace clock */
};

/* One probe of KYMO_D_PROBES. `size` bytes all together, a multiple of 8, then the next. */
struct kymo_d_probe {
    uint16_t size;
    uint8_t arguments; /* C types that follow the names: args[0] … */
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
    uint32_t matched;                                /* enablings made */
    uint32_t pad;
};

struct kymo_d_process {
    char name[48];            /* its file in the boot image */
    uint64_t text, text_link; /* where its code lies, and where it was linked */
};

int DtraceControl(struct kymo_d_call *call, const void *in, void *out);

#endif
