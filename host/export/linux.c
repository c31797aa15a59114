/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as tools for Linux want it (linux.h).
 */
#include <inttypes.h>
#include <stdio.h>

#include "abi/sys/states.h"
#include "host/event_numbers.h"
#include "host/export/linux.h"
#include "host/pr_th.h"
#include "trace/slot.h"

/* Linux's name of a begin or an end, if the flow has it as one: readers of Linux's traces show
 * nothing of a CPU at which an interrupt ends that has not begun. */
static enum linux_event linux_pair(const struct flow_step *step, enum linux_event begin,
                                   enum linux_event end)
{
    return step->role == FLOW_BEGIN ? begin : step->role == FLOW_END ? end : LINUX_OWN;
}

enum linux_event linux_event_of(const struct kev_item *item, const struct flow_step *step)
{
    switch (item->class_id) {
    case TRACE_CLASS_PR_TH:
        return step->switched        ? LINUX_SWITCH
               : step->woken != NULL ? LINUX_WAKE
               : item->code == PR_TH_DESTROY && (item->flags & KEV_FLAG_INJECTED) == 0 &&
                       step->thread != NULL
                   ? LINUX_EXIT
                   : LINUX_OWN;
    case TRACE_CLASS_INT:
        return item->code == NUMBER_int_entry || item->code == NUMBER_int_exit
                   ? linux_pair(step, LINUX_IRQ_ENTRY, LINUX_IRQ_EXIT)
                   : LINUX_OWN;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        return linux_pair(step, LINUX_CALL_ENTRY, LINUX_CALL_EXIT);
    case TRACE_CLASS_SYSTEM:
        return linux_pair(step, LINUX_FUNCTION_ENTRY, LINUX_FUNCTION_EXIT);
    default:
        return LINUX_OWN;
    }
}

int32_t linux_tid(const struct flow_thread *thread)
{
    if (thread == NULL) {
        return -1;
    }
    if (thread->idle) {
        return 0;
    }
    if (thread->pid >= 0 && thread->pid < 100000 && thread->tid >= 0 && thread->tid < 10000) {
        return thread->pid * 10000 + thread->tid;
    }
    return (int32_t)(1000000000 + thread->serial % 1000000000);
}

int32_t linux_current(const struct kev_item *item, const struct flow_step *step)
{
    /* Events of threads and processes are about their owner; of all others it is who ran. */
    return linux_tid(item->class_id == TRACE_CLASS_PR_TH ? step->current : step->owner);
}

void linux_comm(const struct export *export, const struct flow_thread *thread, char *to,
                size_t room)
{
    const char *process, *name;

    if (thread == NULL) {
        snprintf(to, room, "unknown");
        return;
    }
    if (thread->idle) {
        snprintf(to, room, "swapper/%" PRId32, thread->tid - 1);
        return;
    }
    name = kev_capture_name(export->capture, thread->pid, thread->tid);
    process = kev_capture_name(export->capture, thread->pid, KEV_NOBODY);
    if (name != NULL && *name != '\0') {
        snprintf(to, room, "%s", name);
    } else if (process != NULL && *process != '\0') {
        snprintf(to, room, "%s:%" PRId32, process, thread->tid);
    } else {
        snprintf(to, room, "%" PRId32 ":%" PRId32, thread->pid, thread->tid);
    }
}

struct flow_thread *linux_named(struct flow *flow, const struct kev_item *item)
{
    return item->class_id == TRACE_CLASS_PR_TH && item->code == PR_TH_PROCTHREAD_NAME
               ? flow_find(flow, item->about_pid, item->about_tid)
               : NULL;
}

int64_t linux_previous_state(const struct flow_step *step)
{
    if (step->previous == NULL) {
        return 1024;
    }
    if (step->previous->gone) {
        return 16;
    }
    return step->previous_state < 0 ? 1024 : step->previous_state == STATE_READY ? 0 : 1;
}

int32_t linux_priority(const struct flow_thread *thread)
{
    return thread == NULL || thread->priority < 0 || thread->priority > 99 ? 120
                                                                           : 99 - thread->priority;
}

uint64_t linux_value(const struct export *export, const char *name)
{
    const struct kev_value *value = kev_capture_value_of(export->capture, name);

    return value == NULL                     ? 0
           : value->type == KEV_VALUE_SIGNED ? (uint64_t)value->integer
                                             : value->number;
}
