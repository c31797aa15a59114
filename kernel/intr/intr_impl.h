/* SPDX-License-Identifier: BSD-2-Clause */
/* What intr.c and intr_calls.c share: attachments of processes to interrupt lines. */
#ifndef KERNEL_INTR_INTR_IMPL_H
#define KERNEL_INTR_INTR_IMPL_H

#include "kernel/intr/intr.h"

/*
 * A process's request for an event at each interrupt of a line. The line is masked while any of its
 * attachments has masked > 0, and when it has none.
 */
struct attachment {
    struct attachment *next; /* [k] of the same line, in order of delivery; NULL: none */
    struct process *proc;    /* [I] NULL: free */
    uint32_t line;           /* [I] or _NTO_HOOK_TRACE */
    uint32_t masked;         /* [k] mask count: raised by each delivery and InterruptMask() */
    struct thread *thread;   /* [k] the attaching thread, for SIGEV_INTR; NULL: it has ended */
    struct sigevent event;   /* [I] */
    struct pulse pulse;      /* [k] coalesces */
};

extern struct attachment intr_table[CONFIG_INTERRUPT_ATTACHMENTS]; /* the index is the id */
#define INTR_LINES (INTR_WORDS * 32)
extern struct attachment *intr_lines[INTR_LINES]; /* [k] the first of each line */
/* [k] the attachment to _NTO_HOOK_TRACE, or NULL */
extern struct attachment *intr_trace_hook;

/* Unmasks the line if it has attachments and none of them masks it; else masks it. */
void intr_settle(uint32_t line);
void intr_detach(struct attachment *a);

#endif
