/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers against the truth: see oracle.h.
 */
#include "test/host/timeline/oracle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"

struct oracle {
    const struct truth *truth;
    struct oracle_answers *answers;
    struct oracle_counts *counts;
    uint32_t *order; /* the truth's spans by pid, tid and time */
    uint64_t start, seed;
    int64_t cycle_ns;
};

enum oracle_verdict { ORACLE_RIGHT, ORACLE_WRONG, ORACLE_NOT_KNOWN, ORACLE_NO_MATTER };

static int64_t oracle_ns(const struct oracle *oracle, uint64_t cycles)
{
    return cycles == UINT64_MAX ? ORACLE_NEVER
                                : ((int64_t)cycles - (int64_t)oracle->start) * oracle->cycle_ns;
}

static const char *oracle_state_name(unsigned state)
{
    static const char *const names[] = {
#define STATE(number, name, text, emitted) [number] = #name,
        THREAD_STATE_LIST(STATE)
#undef STATE
    };

    return state < sizeof(names) / sizeof(names[0]) && names[state] != NULL ? names[state] : "?";
}

/* ---- counting ---------------------------------------------------------------------- */

static struct oracle_count *oracle_count_of(struct oracle_counts *counts, const char *key)
{
    for (unsigned i = 0; i < counts->nkeys; i++) {
        if (strcmp(counts->keys[i].key, key) == 0) {
            return &counts->keys[i];
        }
    }
    if (counts->nkeys == ORACLE_KEYS) {
        abort();
    }
    snprintf(counts->keys[counts->nkeys].key, sizeof(counts->keys[0].key), "%s", key);
    return &counts->keys[counts->nkeys++];
}

static __attribute__((format(printf, 4, 5))) void
oracle_note(struct oracle *oracle, const char *key, unsigned verdict, const char *format, ...)
{
    struct oracle_count *count;
    struct oracle_example *first = NULL;
    va_list args;

    if (verdict == ORACLE_NO_MATTER) {
        return;
    }
    count = oracle_count_of(oracle->counts, key);
    if (verdict == ORACLE_WRONG && count->wrong == 0) {
        first = &count->first_wrong;
    } else if (verdict == ORACLE_NOT_KNOWN && count->unknown == 0) {
        first = &count->first_unknown;
    }
    count->right += verdict == ORACLE_RIGHT;
    count->wrong += verdict == ORACLE_WRONG;
    count->unknown += verdict == ORACLE_NOT_KNOWN;
    if (first != NULL) {
        first->seed = oracle->seed;
        va_start(args, format);
        vsnprintf(first->text, sizeof(first->text), format, args);
        va_end(args);
    }
}

/* ---- names ------------------------------------------------------------------------- */

/* Is the name that of the life? Lives of one id don't overlap. */
static bool oracle_is(const struct oracle *oracle, const struct oracle_name *name, uint32_t life)
{
    const struct truth_thread *thread;

    if (life == TRUTH_NONE) {
        return false;
    }
    thread = &oracle->truth->threads[life];
    return name->pid == thread->pid && name->tid == thread->tid &&
           name->from <= oracle_ns(oracle, thread->to) &&
           name->to >= oracle_ns(oracle, thread->from);
}

static unsigned oracle_named(const struct oracle *oracle, const struct oracle_name *name,
                             uint32_t life, bool shown)
{
    if (name->tid == 0) {
        return shown ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;
    }
    return oracle_is(oracle, name, life) ? ORACLE_RIGHT : ORACLE_WRONG;
}

/* ---- spans ------------------------------------------------------------------------- */

static const struct oracle *oracle_sorting;

static int oracle_id_order(int32_t pid, int32_t tid, int32_t other_pid, int32_t other_tid)
{
    return pid != other_pid ? (pid < other_pid ? -1 : 1) : (tid > other_tid) - (tid < other_tid);
}

static int oracle_truth_order(const void *a, const void *b)
{
    const struct truth *truth = oracle_sorting->truth;
    const struct truth_span *x = &truth->spans[*(const uint32_t *)a];
    const struct truth_span *y = &truth->spans[*(const uint32_t *)b];
    const struct truth_thread *s = &truth->threads[x->thread], *t = &truth->threads[y->thread];
    int order = oracle_id_order(s->pid, s->tid, t->pid, t->tid);

    return order != 0 ? order : (x->from > y->from) - (x->from < y->from);
}

static int oracle_span_order(const void *a, const void *b)
{
    const struct oracle_span *x = a, *y = b;
    int order = oracle_id_order(x->thread.pid, x->thread.tid, y->thread.pid, y->thread.tid);

    return order != 0 ? order : (x->from > y->from) - (x->from < y->from);
}

/* The first answer about the thread that ends after `ns`. */
static uint32_t oracle_answer_at(const struct oracle *oracle, int32_t pid, int32_t tid, int64_t ns)
{
    uint32_t low = 0, high = oracle->answers->nspans;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct oracle_span *span = &oracle->answers->spans[middle];
        int order = oracle_id_order(span->thread.pid, span->thread.tid, pid, tid);

        if (order < 0 || (order == 0 && span->to <= ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static unsigned oracle_cause(const struct oracle *oracle, const struct truth_span *span,
                             const struct oracle_span *answer)
{
    const struct truth_cause *end = &span->end;

    switch (answer->cause) {
    case ORACLE_CAUSE_UNKNOWN:
        return span->seen_end == TRUTH_SEEN ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;
    case ORACLE_CAUSE_SELF:
        return end->kind == TRUTH_END_SELF || end->kind == TRUTH_END_YIELD ||
                       (end->kind == TRUTH_END_KILL && end->actor == span->thread)
                   ? ORACLE_RIGHT
                   : ORACLE_WRONG;
    case ORACLE_CAUSE_PREEMPTED:
        return end->kind == TRUTH_END_PREEMPTED ? ORACLE_RIGHT : ORACLE_WRONG;
    case ORACLE_CAUSE_INTERRUPT:
        return (end->kind == TRUTH_END_INTERRUPT || end->kind == TRUTH_END_TIMER) &&
                       answer->number == end->by
                   ? ORACLE_RIGHT
                   : ORACLE_WRONG;
    default:
        return (end->kind == TRUTH_END_THREAD || end->kind == TRUTH_END_DEATH ||
                end->kind == TRUTH_END_KILL) &&
                       (oracle_is(oracle, &answer->by, end->by) ||
                        oracle_is(oracle, &answer->by, end->actor))
                   ? ORACLE_RIGHT
                   : ORACLE_WRONG;
    }
}

static void oracle_describe(struct oracle *oracle, const struct truth_span *span,
                            const struct oracle_span *answer, const char *text)
{
    const char *state = oracle_state_name(span->state);
    bool message = span->state == STATE_SEND || span->state == STATE_REPLY;
    bool sync =
        span->state == STATE_MUTEX || span->state == STATE_SEM || span->state == STATE_CONDVAR;
    unsigned verdict;
    char key[40];

    if (span->priority != 0 || answer->priority >= 0) {
        verdict = answer->priority >= 0
                      ? (answer->priority == span->priority ? ORACLE_RIGHT : ORACLE_WRONG)
                  : span->seen_priority == TRUTH_SEEN ? ORACLE_NOT_KNOWN
                                                      : ORACLE_NO_MATTER;
        oracle_note(oracle, "priority", verdict, "%s", text);
    }
    if (sync) {
        snprintf(key, sizeof(key), "object %s", state);
        verdict = answer->object != 0
                      ? (answer->object == span->object ? ORACLE_RIGHT : ORACLE_WRONG)
                  : span->seen_object == TRUTH_SEEN ? ORACLE_NOT_KNOWN
                                                    : ORACLE_NO_MATTER;
        oracle_note(oracle, key, verdict, "%s: object %" PRIx64 " for %" PRIx64, text,
                    answer->object, span->object);
    }
    if (span->state == STATE_MUTEX && span->seen_other != TRUTH_ALIKE) {
        oracle_note(
            oracle, "owner MUTEX",
            oracle_named(oracle, &answer->other, span->other, span->seen_other == TRUTH_SEEN),
            "%s: owner %d.%d", text, answer->other.pid, answer->other.tid);
    }
    if (message && span->other != TRUTH_NONE) {
        snprintf(key, sizeof(key), "message of %s", state);
        verdict = answer->message == ORACLE_NEVER
                      ? (span->seen_other == TRUTH_SEEN ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER)
                  : answer->message == oracle_ns(oracle, oracle->truth->messages[span->other].sent)
                      ? ORACLE_RIGHT
                      : ORACLE_WRONG;
        oracle_note(oracle, key, verdict, "%s", text);
    }
}

static void oracle_span_check(struct oracle *oracle, const struct truth_span *span)
{
    const struct truth_thread *thread = &oracle->truth->threads[span->thread];
    int64_t from = oracle_ns(oracle, span->from), to = oracle_ns(oracle, span->to);
    uint32_t at = oracle_answer_at(oracle, thread->pid, thread->tid, from);
    const struct oracle_span *answer =
        at < oracle->answers->nspans ? &oracle->answers->spans[at] : NULL;
    bool same, waits = span->state != STATE_RUNNING && span->state != STATE_READY;
    char key[40], text[160];

    if (answer != NULL &&
        (oracle_id_order(answer->thread.pid, answer->thread.tid, thread->pid, thread->tid) != 0 ||
         answer->from > from || answer->state == ORACLE_UNKNOWN)) {
        answer = NULL;
    }
    same = answer != NULL && answer->state == span->state && answer->from == from &&
           answer->to == to && (span->state != STATE_RUNNING || answer->cpu == span->cpu);
    snprintf(text, sizeof(text), "%d.%d %s from %" PRIx64 " to %" PRIx64 ", ended by %s %d.%d",
             thread->pid, thread->tid, oracle_state_name(span->state), span->from, span->to,
             truth_kind_name(span->end.kind),
             span->end.actor == TRUTH_NONE ? 0 : oracle->truth->threads[span->end.actor].pid,
             span->end.actor == TRUTH_NONE ? (int)span->end.by
                                           : oracle->truth->threads[span->end.actor].tid);
    if (span->seen == TRUTH_SEEN) {
        oracle->counts->waits += waits;
        snprintf(key, sizeof(key), "span %s", oracle_state_name(span->state));
        oracle_note(oracle, key,
                    same             ? ORACLE_RIGHT
                    : answer == NULL ? ORACLE_NOT_KNOWN
                                     : ORACLE_WRONG,
                    "%s; answer %d from %" PRId64 " to %" PRId64, text,
                    answer == NULL ? -1 : answer->state, answer == NULL ? 0 : answer->from,
                    answer == NULL ? 0 : answer->to);
    }
    if (same) {
        bool last = span->state == STATE_RUNNING && thread->to <= span->to; /* it died there */

        oracle_describe(oracle, span, answer, text);
        if (!last && span->end.kind != TRUTH_END_RUN && span->state != STATE_DEAD &&
            span->end.kind != TRUTH_END_NONE && answer->ends) {
            snprintf(key, sizeof(key), "end %s %s", oracle_state_name(span->state),
                     truth_kind_name(span->end.kind));
            oracle_note(oracle, key, oracle_cause(oracle, span, answer),
                        "%s; answer: kind %u, %d.%d, number %u", text, answer->cause,
                        answer->by.pid, answer->by.tid, answer->number);
        }
    }
}

/* What an answer says of a stretch of time is what happened then. */
static void oracle_answer_check(struct oracle *oracle, const struct oracle_span *answer,
                                uint32_t *at)
{
    const struct truth *truth = oracle->truth;

    while (*at < truth->nspans) {
        const struct truth_span *span = &truth->spans[oracle->order[*at]];
        const struct truth_thread *thread = &truth->threads[span->thread];
        int order =
            oracle_id_order(thread->pid, thread->tid, answer->thread.pid, answer->thread.tid);

        if (order > 0 || (order == 0 && oracle_ns(oracle, span->to) > answer->from)) {
            break;
        }
        ++*at;
    }
    for (uint32_t i = *at; answer->state != ORACLE_UNKNOWN && i < truth->nspans; i++) {
        const struct truth_span *span = &truth->spans[oracle->order[i]];
        const struct truth_thread *thread = &truth->threads[span->thread];
        bool right = span->state == answer->state &&
                     (span->state != STATE_RUNNING || span->cpu == answer->cpu);
        char key[40];

        if (thread->pid != answer->thread.pid || thread->tid != answer->thread.tid ||
            oracle_ns(oracle, span->from) >= answer->to) {
            break;
        }
        snprintf(key, sizeof(key), "state %s", oracle_state_name(answer->state));
        oracle_note(oracle, key, right ? ORACLE_RIGHT : ORACLE_WRONG,
                    "%d.%d %s from %" PRIx64 " to %" PRIx64 "; answer from %" PRId64 " to %" PRId64,
                    thread->pid, thread->tid, oracle_state_name(span->state), span->from, span->to,
                    answer->from, answer->to);
    }
}

static void oracle_spans(struct oracle *oracle)
{
    struct oracle_answers *answers = oracle->answers;
    uint32_t at = 0;

    oracle->order = malloc((oracle->truth->nspans + 1) * sizeof(*oracle->order));
    for (uint32_t i = 0; i < oracle->truth->nspans; i++) {
        oracle->order[i] = i;
    }
    oracle_sorting = oracle;
    qsort(oracle->order, oracle->truth->nspans, sizeof(*oracle->order), oracle_truth_order);
    if (answers->nspans > 0) {
        qsort(answers->spans, answers->nspans, sizeof(*answers->spans), oracle_span_order);
    }
    for (uint32_t i = 0; i < oracle->truth->nspans; i++) {
        oracle_span_check(oracle, &oracle->truth->spans[i]);
    }
    for (uint32_t i = 0; i < answers->nspans; i++) {
        oracle_answer_check(oracle, &answers->spans[i], &at);
    }
    free(oracle->order);
}

/* ---- messages ---------------------------------------------------------------------- */

static const struct oracle_message *oracle_message_at(const struct oracle *oracle, int64_t sent)
{
    for (uint32_t i = 0; i < oracle->answers->nmessages; i++) {
        if (oracle->answers->messages[i].sent == sent) {
            return &oracle->answers->messages[i];
        }
    }
    return NULL;
}

static unsigned oracle_time(const struct oracle *oracle, int64_t answer, uint64_t truth, bool shown)
{
    int64_t right = truth == 0 ? ORACLE_NEVER : oracle_ns(oracle, truth);

    if (answer == right) {
        return ORACLE_RIGHT;
    }
    return answer != ORACLE_NEVER ? ORACLE_WRONG : shown ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;
}

static void oracle_message_end(struct oracle *oracle, const struct truth_message *message,
                               const struct oracle_message *answer, const char *text)
{
    static const char *const ends[] = {"open",         "reply",        "error",
                                       "server death", "client death", "timeout"};
    bool aborted = message->end > TRUTH_MESSAGE_ERROR;
    char key[40];
    unsigned verdict =
        oracle_time(oracle, answer->replied, message->replied, message->seen_end == TRUTH_SEEN);

    if (verdict == ORACLE_RIGHT && answer->replied != ORACLE_NEVER &&
        (answer->error != (message->end == TRUTH_MESSAGE_ERROR) || answer->aborted != aborted)) {
        verdict = ORACLE_WRONG;
    }
    snprintf(key, sizeof(key), "message end %s", ends[message->end]);
    oracle_note(oracle, key, verdict, "%s; answer: end %" PRId64 " error %d aborted %d", text,
                answer->replied, answer->error, answer->aborted);
}

static void oracle_messages(struct oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->truth->nmessages; i++) {
        const struct truth_message *message = &oracle->truth->messages[i];
        const struct oracle_message *answer =
            oracle_message_at(oracle, oracle_ns(oracle, message->sent));
        bool shown = message->seen == TRUTH_SEEN, served = message->seen_server == TRUTH_SEEN;
        char text[120];

        snprintf(text, sizeof(text),
                 "message %u sent %" PRIx64 " received %" PRIx64 " ended %" PRIx64, i,
                 message->sent, message->received, message->replied);
        if (answer == NULL) {
            oracle_note(oracle, "message", shown ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER, "%s", text);
            continue;
        }
        oracle_note(oracle, "message client",
                    oracle_named(oracle, &answer->client, message->client, shown),
                    "%s; answer: client %d.%d", text, answer->client.pid, answer->client.tid);
        oracle_note(oracle, "message received",
                    oracle_time(oracle, answer->received, message->received, served),
                    "%s; answer: received %" PRId64, text, answer->received);
        oracle_note(oracle, "message server",
                    oracle_named(oracle, &answer->server, message->server,
                                 served && message->server != TRUTH_NONE),
                    "%s; answer: server %d.%d", text, answer->server.pid, answer->server.tid);
        oracle_message_end(oracle, message, answer, text);
    }
}

/* ---- interrupts and calls ---------------------------------------------------------- */

static void oracle_interrupts(struct oracle *oracle)
{
    const struct oracle_answers *answers = oracle->answers;

    for (uint32_t i = 0; i < oracle->truth->ninterrupts; i++) {
        const struct truth_interrupt *truth = &oracle->truth->interrupts[i];
        const struct oracle_interrupt *answer = NULL;
        int64_t from = oracle_ns(oracle, truth->from);
        unsigned verdict = truth->seen == TRUTH_SEEN ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;

        for (uint32_t n = 0; n < answers->ninterrupts && answer == NULL; n++) {
            if (answers->interrupts[n].from == from && answers->interrupts[n].cpu == truth->cpu) {
                answer = &answers->interrupts[n];
            }
        }
        if (answer != NULL && truth->seen == TRUTH_SEEN) {
            verdict = answer->number == truth->number && answer->depth == truth->depth &&
                              answer->to == oracle_ns(oracle, truth->to)
                          ? ORACLE_RIGHT
                          : ORACLE_WRONG;
        }
        oracle_note(oracle, "interrupt", verdict,
                    "interrupt %u on CPU %d from %" PRIx64 " to %" PRIx64 " depth %u",
                    truth->number, truth->cpu, truth->from, truth->to, truth->depth);
    }
}

static int oracle_call_order(const void *a, const void *b)
{
    const struct oracle_call *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

static void oracle_calls(struct oracle *oracle)
{
    struct oracle_answers *answers = oracle->answers;

    if (answers->ncalls > 0) {
        qsort(answers->calls, answers->ncalls, sizeof(*answers->calls), oracle_call_order);
    }
    for (uint32_t i = 0; i < oracle->truth->ncalls; i++) {
        const struct truth_call *truth = &oracle->truth->calls[i];
        const struct truth_thread *thread = &oracle->truth->threads[truth->thread];
        struct oracle_call wanted = {.from = oracle_ns(oracle, truth->from)};
        const struct oracle_call *answer = answers->ncalls == 0
                                               ? NULL
                                               : bsearch(&wanted, answers->calls, answers->ncalls,
                                                         sizeof(wanted), oracle_call_order);
        bool shown = truth->seen == TRUTH_SEEN;
        unsigned verdict = shown ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;

        if (answer != NULL) {
            bool right = oracle_is(oracle, &answer->thread, truth->thread) &&
                         answer->number == truth->number % 128u &&
                         (!answer->ends || answer->to == oracle_ns(oracle, truth->to));

            verdict = right && shown && !answer->ends ? ORACLE_NOT_KNOWN
                      : right                         ? ORACLE_RIGHT
                                                      : ORACLE_WRONG;
        }
        oracle_note(oracle, truth->aborted ? "call aborted" : "call", verdict,
                    "call %u of %d.%d from %" PRIx64 " to %" PRIx64, truth->number, thread->pid,
                    thread->tid, truth->from, truth->to);
    }
}

/* ---- threads ----------------------------------------------------------------------- */

static unsigned oracle_text(const char *answer, const char *truth, bool shown)
{
    if (answer == NULL) {
        return shown ? ORACLE_NOT_KNOWN : ORACLE_NO_MATTER;
    }
    return strcmp(answer, truth) == 0 ? ORACLE_RIGHT : ORACLE_WRONG;
}

static void oracle_threads(struct oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->truth->nthreads; i++) {
        const struct truth_thread *truth = &oracle->truth->threads[i];
        const struct oracle_thread *answer = NULL;
        bool shown = truth->seen == TRUTH_SEEN;

        for (uint32_t n = 0; n < oracle->answers->nthreads && answer == NULL; n++) {
            if (oracle_is(oracle, &oracle->answers->threads[n].thread, i)) {
                answer = &oracle->answers->threads[n];
            }
        }
        oracle_note(oracle, "thread",
                    answer != NULL ? ORACLE_RIGHT
                    : shown        ? ORACLE_NOT_KNOWN
                                   : ORACLE_NO_MATTER,
                    "%d.%d from %" PRIx64, truth->pid, truth->tid, truth->from);
        if (answer != NULL && shown) {
            oracle_note(
                oracle, "process name",
                oracle_text(answer->process, truth->process, truth->seen_process == TRUTH_SEEN),
                "%d.%d from %" PRIx64 " is %s's; answer %s", truth->pid, truth->tid, truth->from,
                truth->process, answer->process);
        }
        if (answer != NULL && shown && truth->name[0] != '\0') {
            oracle_note(oracle, "thread name",
                        oracle_text(answer->name, truth->name, truth->seen_name == TRUTH_SEEN),
                        "%d.%d is %s", truth->pid, truth->tid, truth->name);
        }
    }
}

void oracle_compare(const struct truth *truth, uint64_t start, int64_t cycle_ns,
                    struct oracle_answers *answers, uint64_t seed, struct oracle_counts *counts)
{
    struct oracle oracle = {.truth = truth,
                            .answers = answers,
                            .counts = counts,
                            .start = start,
                            .cycle_ns = cycle_ns,
                            .seed = seed};

    oracle_threads(&oracle);
    oracle_spans(&oracle);
    oracle_messages(&oracle);
    oracle_interrupts(&oracle);
    oracle_calls(&oracle);
}
