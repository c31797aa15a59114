/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of kymo why for programs: one JSON object a line, times in nanoseconds since the
 * capture's start. Names are as host/json_text.h has them. Proof:
 * test/host/why/check.
 */
#include <inttypes.h>
#include <stdio.h>

#include "host/json_text.h"
#include "host/why/why.h"

static void why_json_thread_put(const struct timeline *timeline, const char *key, uint32_t index)
{
    const struct timeline_thread *thread;

    printf("\"%s\":", key);
    if (index == TIMELINE_NONE) {
        printf("null");
        return;
    }
    thread = &timeline->threads[index];
    printf("{\"pid\":%" PRId32 ",\"tid\":%" PRId32, thread->pid, thread->tid);
    if (thread->life > 1) {
        printf(",\"life\":%" PRIu32, thread->life);
    }
    printf(",\"process\":");
    json_put(stdout, thread->process == NULL ? "" : thread->process);
    printf(",\"name\":");
    json_put(stdout, thread->name == NULL ? "" : thread->name);
    printf("}");
}

static void why_json_priority_put(int priority)
{
    if (priority >= 0) {
        printf(",\"priority\":%d", priority);
    }
}

static void ran_put(const struct why *why, const struct why_part *part)
{
    struct why_ran ran[WHY_RAN];
    unsigned n = why_ran(why->timeline, part->thread, part->from, part->to, ran);

    printf(",\"ran\":[");
    for (unsigned i = 0; i < n; i++) {
        printf("%s{", i == 0 ? "" : ",");
        why_json_thread_put(why->timeline, "thread", ran[i].thread);
        why_json_priority_put(ran[i].priority);
        printf(",\"ns\":%" PRId64 "}", ran[i].ns);
    }
    printf("]");
}

static void ended_put(const struct timeline *timeline, const struct why_part *part,
                      const struct timeline_span *span)
{
    const struct timeline_span *next = why_next(timeline, span);

    if (part->to < span->to || !(span->flags & TIMELINE_TO) || next == NULL) {
        return;
    }
    if (next->cause == TIMELINE_CAUSE_INTERRUPT) {
        printf(",\"ended_by_interrupt\":%" PRIu32, next->by);
    } else if (next->cause == TIMELINE_CAUSE_THREAD) {
        putchar(',');
        why_json_thread_put(timeline, "ended_by", next->by);
    }
}

static void why_json_part_put(const struct why *why, const struct why_part *part)
{
    const struct timeline *timeline = why->timeline;
    const struct timeline_span *span =
        part->span == TIMELINE_NONE ? NULL : &timeline->spans[part->span];

    printf("{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"depth\":%u,", part->from, part->to,
           part->depth);
    why_json_thread_put(timeline, "thread", part->thread);
    printf(",\"state\":\"%s\"", flow_state_name(span == NULL ? TIMELINE_UNKNOWN : span->state));
    if (span != NULL && span->state != TIMELINE_UNKNOWN) {
        why_json_priority_put(span->priority);
        if (span->cpu >= 0) {
            printf(",\"cpu\":%d", span->cpu);
        }
        if (span->object != 0) {
            printf(",\"object\":\"0x%" PRIx64 "\"", span->object);
        }
        if (span->state == STATE_READY) {
            ran_put(why, part);
        } else if (span->state != STATE_RUNNING) {
            putchar(',');
            why_json_thread_put(timeline, "waits_for", why_waited_for(timeline, span));
            ended_put(timeline, part, span);
        }
        if (part->cut) {
            printf(",\"cut\":true%s", part->circle ? ",\"circle\":true" : "");
        }
    }
    printf("}");
}

void why_json(const struct why *why)
{
    const struct timeline *timeline = why->timeline;

    printf("{\"from\":%" PRId64 ",\"to\":%" PRId64 ",", why->from, why->to);
    why_json_thread_put(timeline, "thread", why->thread);
    printf(",\"missing\":%s,\"whole\":%s,\"path\":[",
           timeline->outcome == KEV_COMPLETE && timeline->doubt == NULL ? "false" : "true",
           why->full ? "false" : "true");
    for (uint32_t i = 0; i < why->nparts; i++) {
        printf("%s", i == 0 ? "" : ",");
        why_json_part_put(why, &why->parts[i]);
    }
    printf("],\"inversions\":[");
    for (unsigned i = 0; i < why->ninversions; i++) {
        const struct why_inversion *found = &why->inversions[i];

        printf("%s{", i == 0 ? "" : ",");
        why_json_thread_put(timeline, "waited", found->victim);
        putchar(',');
        why_json_thread_put(timeline, "for", found->holder);
        putchar(',');
        why_json_thread_put(timeline, "while", found->middle);
        printf(",\"priorities\":[%d,%d,%d],\"ns\":%" PRId64 "}", found->victim_priority,
               found->holder_priority, found->middle_priority, found->ns);
    }
    printf("],\"begun\":[");
    for (unsigned i = 0; i < why->nchain; i++) {
        const struct why_link *link = &why->chain[i];

        printf("%s{\"at\":%" PRId64 ",", i == 0 ? "" : ",", link->ns);
        why_json_thread_put(timeline, "woke", link->thread);
        if (link->cause == TIMELINE_CAUSE_INTERRUPT) {
            printf(",\"interrupt\":%" PRIu32 "}", link->by);
        } else {
            putchar(',');
            why_json_thread_put(timeline, "by", link->by);
            printf("}");
        }
    }
    printf("]}\n");
}
