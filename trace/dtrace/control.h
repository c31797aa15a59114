/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's control call: the commands of abi/sys/dtrace.h, implemented on the calls of
 * trace/dtrace/dtrace.h. The kernel call DtraceControl() is dtrace_control() with a copy in and a
 * copy out; the host's test server calls it for requests from a socket. Only this code checks a
 * call's arguments.
 *
 * Only its owner can use a consumer's handle; an owner is any address that identifies the caller
 * (the process). Handles are not reused soon, so that a stale one results in EBADF.
 *
 * Control context, under the control lock. Tested by test/trace/dtrace/fire/control_test.c,
 * test/host/remote.
 */
#ifndef TRACE_DTRACE_CONTROL_H
#define TRACE_DTRACE_CONTROL_H

#include "abi/sys/dtrace.h"
#include "trace/dtrace/dtrace.h"

/* Most consumers of all owners: a small board sets its own number. */
#ifndef DTRACE_CONSUMERS_MOST
#define DTRACE_CONSUMERS_MOST 16
#endif

enum {
    DTRACE_CONTROL_CONSUMERS = DTRACE_CONSUMERS_MOST,
    DTRACE_CONTROL_NAMES_MAX = 1024,      /* bytes of a description, for PROVIDE and PROBES */
    DTRACE_CONTROL_PROBES_MAX = 16 << 10, /* bytes of an answer to PROBES, whatever the room, */
    DTRACE_CONTROL_LOOK_MAX = 256,        /* and the number of probes it examines */
};

/* Executes one call of an owner with these rights (enum dtrace_rights). `in` has call->in_bytes,
 * `out` room for call->out_bytes; both are aligned to 8 and not shared. Returns call->result. Sets
 * call->out_bytes to the answer's length: 0 on an error, except for CREATE's refusal. The result is
 * never above 0, the length never above KYMO_D_OUT_MOST. */
int dtrace_control(const void *owner, uint32_t rights, struct kymo_d_call *call, const void *in,
                   void *out);
/* Destroys all consumers of an owner that has ended. */
void dtrace_control_end(const void *owner);
/* Returns whether the owner has any consumers. */
bool dtrace_control_owns(const void *owner);

/* Creates the boot's consumer and starts it; it runs until a program claims it, and silence doesn't
 * end it. The image stays in place; data after it within `size` belongs to the host. Replaces an
 * earlier consumer that has not been claimed. */
int dtrace_control_boot(const void *image, size_t size, struct dtrace_refusal *);

/* Supplied by the program that links control.c. */
void dtrace_control_info(struct kymo_d_info *);
uint32_t dtrace_control_pid(const void *owner);                   /* never NULL; 0: no process */
int dtrace_control_resume(int32_t pid);                           /* returns 0 or -ESRCH */
int dtrace_control_process(int32_t pid, struct kymo_d_process *); /* likewise */
/* Copies a part of the answer to BUFFER or AGGREGATION, which no other code of the machine
 * accesses: `to` is in the owner's `out`, and may be invalid in this program's address space. May
 * pass windows. Returns 0 or a negative errno. */
int dtrace_control_give(const void *owner, void *to, const void *from, size_t bytes);
/* Charges a consumer to its owner and, until dtrace_control_paid(), the memory allocated. Returns
 * false if the owner may have no more consumers. */
bool dtrace_control_pay(const void *owner);
size_t dtrace_control_paid(void); /* returns the bytes */
/* Called when that consumer has ended, or could not be made. */
void dtrace_control_refund(const void *owner, size_t bytes);

/* ---- for control*.c, and checks of accounts ----------------------------------------- */

struct dtrace_consumer;
struct dtrace_control_entry {         /* table entry of one consumer */
    struct dtrace_consumer *consumer; /* [k] NULL: the entry is free */
    const void *owner;                /* [k] */
    uint32_t handle;                  /* [k] */
    const void *payer;                /* [k] NULL: the boot made it, charged to no account */
    size_t paid;                      /* [k] bytes */
};

extern struct dtrace_control_entry dtrace_control_entries[DTRACE_CONTROL_CONSUMERS];

/* For checks of accounts: returns the number of consumers that this owner pays for, except one that
 * is being made, and adds their memory to *bytes. */
static inline unsigned dtrace_control_paid_by(const void *owner, size_t *bytes)
{
    unsigned consumers = 0;

    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        const struct dtrace_control_entry *p = &dtrace_control_entries[i];
        if (p->consumer && p->payer == owner) {
            consumers++;
            *bytes += p->paid;
        }
    }
    return consumers;
}

#endif
