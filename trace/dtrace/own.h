/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consumers with restricted rights (enum dtrace_rights), especially those that may observe only
 * their own processes: `consumer->own` and those that it started. Their clauses fire for these
 * processes; on probes that belong to no process (BEGIN, END, ERROR, tick) they fire whichever
 * process is current, but get no information about it: reading it is fault UPRIV. Loads of kernel
 * memory are fault KPRIV. Tested by test/trace/dtrace/fire/own_test.c and, on the boards, by
 * test/board's suite d-own.
 */
#ifndef TRACE_DTRACE_OWN_H
#define TRACE_DTRACE_OWN_H

#include "trace/dtrace/machine.h"

/* Refuses a checked image that needs a right which the asker doesn't have. Returns 0 or -EPERM.
 * Control context. */
int dtrace_own_check(const struct dtrace_asker *, const struct dtrace_image *, unsigned flags,
                     struct dtrace_refusal *);
/* Rewrites loads of kernel memory and of built-in variables. Control context. */
void dtrace_own_restrict(struct dtrace_code *);
/* Returns whether a clause of a consumer that observes only its own processes fires now. */
bool dtrace_own_sees(const struct dtrace_ecb *);
/* Likewise; also sets the memory that is denied to the clause, and hides the arguments of a probe
 * that fires while another process is current. */
bool dtrace_own_fires(const struct dtrace_ecb *, struct dtrace_context *, const uint64_t **args);

/* Returns false, after fault UPRIV, if the clause may not read data of the current process. */
static inline bool dtrace_own_process(struct dtrace_context *c)
{
    if (c->denied & DTRACE_DENIED_PROCESS) {
        dtrace_fault(c, DIF_FAULT_UPRIV, 0);
        return false;
    }
    return true;
}

#endif
