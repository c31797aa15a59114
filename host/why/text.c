/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of kymo why as text: the path, indented by who waits for whom, inversions, and the
 * chain of wake-ups. Names are of the capture, and escaped. Proof: test/host/why/check.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/fold.h"
#include "host/kymo.h"
#include "host/life.h"
#include "host/memory_stream.h"
#include "host/when.h"
#include "host/why/why.h"

#define WORDS_AT 27 /* after time and length */
#define INDENT 9    /* of other lines' continuations: below the word after "Begun:" */

#define FOLD_PERMILLE 5 /* parts shorter than that of the whole are folded */
#define NAME_MOST 64

static FILE *why_text_to; /* standard output, or the text that is folded for a terminal */

static void why_text_thread_put(const struct timeline *timeline, uint32_t index)
{
    const struct timeline_thread *thread;
    const char *names[2];

    if (index == TIMELINE_NONE) {
        fprintf(why_text_to, "an unknown thread");
        return;
    }
    thread = &timeline->threads[index];
    names[0] = thread->process;
    names[1] = thread->name;
    if (thread->idle) {
        fprintf(why_text_to, "idle CPU %d", thread->tid - 1);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        char text[ESCAPE_MOST(NAME_MOST) + 1];
        size_t length = names[i] == NULL ? 0 : strnlen(names[i], NAME_MOST);

        if (length > 0) {
            length = escape_line(names[i], length, text);
            fprintf(why_text_to, "%s%.*s", i == 1 ? "/" : "", (int)length, text);
        }
    }
    char id[LIFE_TEXT];

    fprintf(why_text_to, "%s(%s)", thread->process == NULL && thread->name == NULL ? "" : " ",
            life_text(thread->pid, thread->tid, thread->life, id));
}

static void why_text_priority_put(int priority)
{
    if (priority >= 0) {
        fprintf(why_text_to, " at priority %d", priority);
    }
}

static void interrupt_put(const struct timeline *timeline, uint32_t number)
{
    const char *name = kev_capture_term(timeline->capture, KEV_MEANS_INTERRUPT, number);
    char text[ESCAPE_MOST(NAME_MOST) + 1];

    fprintf(why_text_to, "interrupt %" PRIu32, number);
    if (name != NULL) {
        size_t length = escape_line(name, strnlen(name, NAME_MOST), text);

        fprintf(why_text_to, " (%.*s)", (int)length, text);
    }
}

/* The threads that ran while the thread could have. */
static void ready_put(const struct why *why, const struct why_part *part)
{
    const struct timeline *timeline = why->timeline;
    const struct timeline_span *span = &timeline->spans[part->span];
    struct why_ran ran[WHY_RAN];
    unsigned n = why_ran(timeline, part->thread, part->from, part->to, ran);
    char text[32];

    fprintf(why_text_to, "READY");
    why_text_priority_put(span->priority);
    if (span->cause == TIMELINE_CAUSE_PREEMPTED && part->from == span->from) {
        fprintf(why_text_to, ", lost the CPU");
    }
    for (unsigned i = 0; i < n && i < 3; i++) {
        fprintf(why_text_to, "%s", i == 0 ? "; meanwhile " : ", ");
        if (ran[i].idle) {
            fprintf(why_text_to, "CPU %d was idle for %s", timeline->threads[ran[i].thread].tid - 1,
                    kymo_length_text(ran[i].ns, text));
        } else if (ran[i].thread == TIMELINE_NONE) {
            fprintf(why_text_to, "nobody knows who ran %s", kymo_length_text(ran[i].ns, text));
        } else {
            why_text_thread_put(timeline, ran[i].thread);
            fprintf(why_text_to, " ran %s", kymo_length_text(ran[i].ns, text));
            why_text_priority_put(ran[i].priority);
        }
    }
}

/* Returns whether the wait is known to its end, or to the capture's. */
static bool is_followed(const struct timeline *timeline, const struct timeline_span *span)
{
    return (span->flags & TIMELINE_TO) != 0 || span->to == timeline->to;
}

static void wait_put(const struct why *why, const struct why_part *part)
{
    const struct timeline *timeline = why->timeline;
    const struct timeline_span *span = &timeline->spans[part->span];
    const struct timeline_span *next = why_next(timeline, span);
    uint32_t other = why_waited_for(timeline, span), holder = why_holder(timeline, span);

    fprintf(why_text_to, "%s", flow_state_name(span->state));
    if (span->object != 0) {
        fprintf(why_text_to, " 0x%" PRIx64, span->object);
    }
    why_text_priority_put(span->priority);
    if (span->state == STATE_SEND || span->state == STATE_REPLY) {
        if (holder != TIMELINE_NONE) {
            fprintf(why_text_to,
                    span->state == STATE_SEND ? ", to be received by " : ", served by ");
            why_text_thread_put(timeline, holder);
        } else if (span->other != TIMELINE_NONE) {
            fprintf(why_text_to, ", message to process %" PRId32,
                    timeline->messages[span->other].server_pid);
            if (timeline->messages[span->other].received == KEV_NEVER &&
                is_followed(timeline, span)) {
                fprintf(why_text_to, ", received by nobody");
            }
        }
    } else if (holder != TIMELINE_NONE) {
        fprintf(why_text_to, ", owned by ");
        why_text_thread_put(timeline, holder);
    }
    if (part->circle) {
        fprintf(why_text_to, "; a circle: that thread waits for this one");
    } else if (part->cut) {
        fprintf(why_text_to, "; not followed any deeper");
    } else if (part->to < span->to) {
        return; /* how it ended is another question */
    } else if (!(span->flags & TIMELINE_TO)) {
        fprintf(why_text_to, part->to == timeline->to ? "; until the capture's end"
                                                      : "; how it ended is unknown");
    } else if (next != NULL && next->cause == TIMELINE_CAUSE_INTERRUPT) {
        fprintf(why_text_to, "; ended by ");
        interrupt_put(timeline, next->by);
    } else if (next != NULL && next->cause == TIMELINE_CAUSE_THREAD &&
               (next->by != other || (span->state == STATE_MUTEX && holder == TIMELINE_NONE))) {
        fprintf(why_text_to, "; ended by ");
        why_text_thread_put(timeline, next->by);
    } else if (next != NULL && next->cause == TIMELINE_CAUSE_THREAD && other != TIMELINE_NONE &&
               span->state != STATE_SEND && span->state != STATE_REPLY &&
               span->state != STATE_MUTEX) {
        fprintf(why_text_to, ", for ");
        why_text_thread_put(timeline, other);
    }
}

static void why_text_part_put(const struct why *why, const struct why_part *part)
{
    const struct timeline *timeline = why->timeline;
    const struct timeline_span *span =
        part->span == TIMELINE_NONE ? NULL : &timeline->spans[part->span];
    char text[32];

    fprintf(why_text_to, "  %13.6f %9s  %*s", (double)part->from / 1e9,
            kymo_length_text(part->to - part->from, text),
            2 * (part->depth < 12 ? part->depth : 12), "");
    why_text_thread_put(timeline, part->thread);
    fprintf(why_text_to, "  ");
    if (span == NULL) {
        fprintf(why_text_to, "does not exist, or nothing is known of it");
    } else if (span->state == TIMELINE_UNKNOWN) {
        fprintf(why_text_to, "unknown: events are missing, or it is before the first one of it");
    } else if (span->state == STATE_RUNNING) {
        fprintf(why_text_to, "RUNNING on CPU %d", span->cpu);
        why_text_priority_put(span->priority);
    } else if (span->state == STATE_READY) {
        ready_put(why, part);
    } else {
        wait_put(why, part);
    }
    putc('\n', why_text_to);
}

static void folded_put(unsigned n, int64_t ns)
{
    char text[32];

    if (n > 0) {
        fprintf(why_text_to, "  %13s %9s  (%u shorter stretch%s)\n", "", kymo_length_text(ns, text),
                n, n == 1 ? "" : "es");
    }
}

static void inversions_put(const struct why *why)
{
    char text[32];

    for (unsigned i = 0; i < why->ninversions; i++) {
        const struct why_inversion *found = &why->inversions[i];

        fprintf(why_text_to, "  Priority inversion: ");
        why_text_thread_put(why->timeline, found->victim);
        fprintf(why_text_to, " at %d waited in %s for ", found->victim_priority,
                flow_state_name(found->state));
        why_text_thread_put(why->timeline, found->holder);
        fprintf(why_text_to, " at %d, while ", found->holder_priority);
        why_text_thread_put(why->timeline, found->middle);
        fprintf(why_text_to, " at %d ran %s\n", found->middle_priority,
                kymo_length_text(found->ns, text));
    }
}

static void chain_put(const struct why *why)
{
    for (unsigned i = 0; i < why->nchain; i++) {
        const struct why_link *link = &why->chain[i];

        fprintf(why_text_to, "  %s %.6f ", i == 0 ? "Begun: at" : "       at",
                (double)link->ns / 1e9);
        if (link->cause == TIMELINE_CAUSE_INTERRUPT) {
            interrupt_put(why->timeline, link->by);
        } else {
            why_text_thread_put(why->timeline, link->by);
        }
        fprintf(why_text_to, " woke ");
        why_text_thread_put(why->timeline, link->thread);
        putc('\n', why_text_to);
    }
}

static void why_text_put(const struct why *why, bool all)
{
    int64_t least = all ? 0 : (why->to - why->from) / 1000 * FOLD_PERMILLE, ns = 0;
    unsigned n = 0;
    char text[32];

    why_text_thread_put(why->timeline, why->thread);
    fprintf(why_text_to, ", from %.6f to %.6f: %s\n", (double)why->from / 1e9,
            (double)why->to / 1e9, kymo_length_text(why->to - why->from, text));
    for (uint32_t i = 0; i < why->nparts; i++) {
        const struct why_part *part = &why->parts[i];

        if (part->to - part->from < least) {
            n++;
            ns += part->to - part->from;
            continue;
        }
        folded_put(n, ns);
        n = 0;
        ns = 0;
        why_text_part_put(why, part);
    }
    folded_put(n, ns);
    if (why->full) {
        fprintf(why_text_to, "  ... more stretches than %d: ask for a shorter time\n", WHY_PARTS);
    }
    inversions_put(why);
    chain_put(why);
}

/* Where the words of a line begin. */
static unsigned why_text_indent(const char *line, size_t n, unsigned columns)
{
    size_t at = WORDS_AT;

    if (n <= WORDS_AT || memcmp(line, "  ", 2) != 0 || memcmp(line + WORDS_AT - 2, "  ", 2) != 0) {
        return INDENT;
    }
    while (at < n && line[at] == ' ') {
        at++;
    }
    return at + 2 < columns / 2 ? (unsigned)at + 2 : columns / 2;
}

void why_text(const struct why *why, bool all)
{
    unsigned columns = fold_columns();
    char *text = NULL;
    size_t size;

    why_text_to = columns == 0 ? stdout : memory_stream(&text, &size);
    if (why_text_to == NULL) {
        kymo_no_memory();
    }
    why_text_put(why, all);
    if (columns > 0) {
        if (fclose(why_text_to) != 0) {
            kymo_no_memory();
        }
        fold_text(stdout, text, columns, why_text_indent);
        free(text);
    }
}
