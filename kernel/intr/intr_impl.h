/* SPDX-License-Identifier: BSD-2-Clause */
/* What intr.c and intr_calls.c share: attachments of processes to interrupt lines. */
#ifndef KERNEL_INTR_INTR_IMPL_H
#define KERNEL_INTR_INTR_IMPL_H

#include "kernel/intr/intr.h"

/*
 * A process that wants an event for each interrupt of a line. The line is masked while any of its
 * attachments has masked > 0, and when it has none.
 */
struct attachment {
    struct attachment *next; /* [k] of the same line, in order of delivery; NULL: none */
    struct process *proc;    /* [I] NULL: free */
    uint32_t line;           /* [I] or _NTO_HOOK_TRACE */
    uint32_t masked;         /* [k] count: each delivery and InterruptMask() one up */
    struct thread *thread;   /* [k] that attached, for SIGEV_INTR; NULL: it has ended */
    struct sigevent event;   /* [I] */
    struct pulse pulse;      /* [k] coalesces */
};

extern struct attachment intr_table[CONFIG_INTERRUPT_ATTACHMENTS]; /* its id is its index */
#define INTR_LINES (INTR_WORDS * 32)
extern struct attachment *intr_lines[INTR_LINES]; /* [k] the first of each line */
extern struct attachment *intr_trace_hook;        /* [k] the one of _NTO_HOOK_TRACE, or NULL */

/* Unmasks the line if all of its attachments (at least one) agree, else masks it. */
void intr_settle(uint32_t line);
void intr_detach(struct attachment *a);

#endif
