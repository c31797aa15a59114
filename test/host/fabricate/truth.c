/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The truth about a simulated system as text: see truth.h.
 */
#include "test/host/fabricate/truth.h"

#include <inttypes.h>
#include <stdlib.h>

#include "abi/sys/states.h"

void truth_free(struct truth *truth)
{
    free(truth->threads);
    free(truth->spans);
    free(truth->messages);
    free(truth->interrupts);
    free(truth->calls);
    *truth = (struct truth){.nthreads = 0};
}

const char *truth_kind_name(unsigned kind)
{
    static const char *const names[] = {"none",  "self", "thread",    "interrupt", "timer",
                                        "death", "kill", "preempted", "run",       "yield"};

    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

const char *truth_seen_name(unsigned seen)
{
    static const char *const names[] = {"seen", "lost", "filtered", "alike", "edge"};

    return seen < sizeof(names) / sizeof(names[0]) ? names[seen] : "?";
}

static const char *truth_state_name(unsigned state)
{
    static const char *const names[] = {
#define STATE(number, name, text, emitted) [number] = #name,
        THREAD_STATE_LIST(STATE)
#undef STATE
    };

    return state < sizeof(names) / sizeof(names[0]) && names[state] != NULL ? names[state] : "?";
}

static const char *truth_end_name(unsigned end)
{
    static const char *const names[] = {"open",         "reply",        "error",
                                        "server-death", "client-death", "timeout"};

    return end < sizeof(names) / sizeof(names[0]) ? names[end] : "?";
}

static void truth_thread_name(const struct truth *truth, uint32_t thread, FILE *to)
{
    if (thread == TRUTH_NONE) {
        fputs("-", to);
    } else {
        fprintf(to, "%" PRIu32 "(%d.%d)", thread, truth->threads[thread].pid,
                truth->threads[thread].tid);
    }
}

static void truth_print_span(const struct truth *truth, const struct truth_span *span, FILE *to)
{
    bool numbered = span->end.kind == TRUTH_END_INTERRUPT || span->end.kind == TRUTH_END_TIMER;

    fputs("span ", to);
    truth_thread_name(truth, span->thread, to);
    fprintf(to, " %s %" PRIx64 " %" PRIx64 " cpu %d priority %u own %u %s",
            truth_state_name(span->state), span->from, span->to, span->cpu, span->priority,
            span->own, truth_seen_name(span->seen));
    if (span->object != 0) {
        fprintf(to, " object %" PRIx64 " %s", span->object, truth_seen_name(span->seen_object));
    }
    if (span->other != TRUTH_NONE) {
        fprintf(to, " other %" PRIu32 " %s", span->other, truth_seen_name(span->seen_other));
    }
    fprintf(to, " end %s", truth_kind_name(span->end.kind));
    if (numbered) {
        fprintf(to, " %" PRIu32, span->end.by);
    } else {
        fputs(" ", to);
        truth_thread_name(truth, span->end.by, to);
        fputs(" by ", to);
        truth_thread_name(truth, span->end.actor, to);
    }
    fprintf(to, " on %d%s %s\n", span->end.cpu, span->end.timed_out ? " timed-out" : "",
            truth_seen_name(span->seen_end));
}

void truth_print(const struct truth *truth, FILE *to)
{
    for (uint32_t i = 0; i < truth->nthreads; i++) {
        const struct truth_thread *t = &truth->threads[i];

        fprintf(to,
                "thread %" PRIu32 " %d.%d process %" PRIu32 " %s %s %" PRIx64 " %" PRIx64 "%s %s\n",
                i, t->pid, t->tid, t->instance, t->process, t->name[0] == '\0' ? "-" : t->name,
                t->from, t->to, t->idle ? " idle" : "", truth_seen_name(t->seen));
    }
    for (uint32_t i = 0; i < truth->nspans; i++) {
        truth_print_span(truth, &truth->spans[i], to);
    }
    for (uint32_t i = 0; i < truth->nmessages; i++) {
        const struct truth_message *m = &truth->messages[i];

        fprintf(to, "message %" PRIu32 " client ", i);
        truth_thread_name(truth, m->client, to);
        fprintf(to, " %s to %d process %" PRIu32 " server ", truth_seen_name(m->seen),
                m->server_pid, m->instance);
        truth_thread_name(truth, m->server, to);
        fprintf(to, " %s sent %" PRIx64 " received %" PRIx64 " end %" PRIx64 " %s %s\n",
                truth_seen_name(m->seen_server), m->sent, m->received, m->replied,
                truth_end_name(m->end), truth_seen_name(m->seen_end));
    }
    for (uint32_t i = 0; i < truth->ninterrupts; i++) {
        const struct truth_interrupt *n = &truth->interrupts[i];

        fprintf(to, "interrupt %" PRIu32 " cpu %d %" PRIx64 " %" PRIx64 " depth %u %s\n", n->number,
                n->cpu, n->from, n->to, n->depth, truth_seen_name(n->seen));
    }
    for (uint32_t i = 0; i < truth->ncalls; i++) {
        const struct truth_call *call = &truth->calls[i];

        fprintf(to, "call %u ", call->number);
        truth_thread_name(truth, call->thread, to);
        fprintf(to, " %" PRIx64 " %" PRIx64 " object %" PRIx64 " %s\n", call->from, call->to,
                call->object, truth_seen_name(call->seen));
    }
}
