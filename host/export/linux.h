/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as tools for Linux want it: the names and numbers of the events of Linux's scheduler,
 * interrupts and system calls, for formats of such tools. docs/reference/export.md has the table.
 */
#ifndef HOST_EXPORT_LINUX_H
#define HOST_EXPORT_LINUX_H

#include "host/export/follow.h"

enum linux_event {
    LINUX_OWN,        /* an event that Linux hasn't */
    LINUX_SWITCH,     /* sched_switch */
    LINUX_WAKE,       /* sched_waking, sched_wakeup */
    LINUX_EXIT,       /* sched_process_exit */
    LINUX_IRQ_ENTRY,  /* irq_handler_entry */
    LINUX_IRQ_EXIT,   /* irq_handler_exit */
    LINUX_CALL_ENTRY, /* sys_enter_..., syscall_entry_... */
    LINUX_CALL_EXIT,
    LINUX_FUNCTION_ENTRY,
    LINUX_FUNCTION_EXIT,
};
enum linux_event linux_event_of(const struct kev_item *item, const struct flow_step *step);

/* Linux numbers threads across processes, and 0 is idle: pid * 10000 + tid, or, where that can't
 * be, 1000000000 and the thread's number in the capture. NULL: -1, not known. */
int32_t linux_tid(const struct flow_thread *thread);
/* The number of the thread that ran on the CPU when the event happened. */
int32_t linux_current(const struct kev_item *item, const struct flow_step *step);
/* The thread's name there: its name, or its process's and its tid. "unknown" of NULL. */
void linux_comm(const struct export *export, const struct flow_thread *thread, char *to,
                size_t room);
/* Returns the thread that the event names, and that was called otherwise until then; NULL: none. */
struct flow_thread *linux_named(struct flow *flow, const struct kev_item *item);
/* The state of the thread that a switch takes the CPU from: 0 it is ready, 1 it waits, 16 it has
 * ended, 1024 not known. */
int64_t linux_previous_state(const struct flow_step *step);
/* Linux's priority of a real-time thread, 99 - ours; 120, that of an ordinary one, if it is not
 * known or can't be had so. */
int32_t linux_priority(const struct flow_thread *thread);

/* A number of the event last given, by its name; 0: it has none. */
uint64_t linux_value(const struct export *export, const char *name);

#endif
