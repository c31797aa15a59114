/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a page's timeline, as streams of blocks, from the model that `kymo why` has, too
 * (host/timeline/): states of threads with what began them and whom they waited for, spans (kernel
 * calls, functions, interrupts, handlers) with a depth, arrows (messages, replies, pulses,
 * wake-ups). Memory: fixed tables, and 8 bytes a thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/id_tree.h"
#include "host/kymo.h"
#include "host/report/report.h"
#include "host/symbols/item.h"
#include "host/why/why.h"
#include "trace/slot.h"

#define NAMES_MOST 60000
#define CALLS 128 /* numbers of kernel calls of a class */
#define PROGRESS_ENTRIES 65536
#define REST_ROWS 65536 /* rows after which the timeline's memory is given back */
#define PULSES_BACK 16  /* pulses before a wake-up that may have been its cause */
#define INTERRUPTS_BACK 64

enum { SPAN_CALL, SPAN_INTERRUPT, SPAN_FUNCTION, SPAN_HANDLER, NAME_OBJECT };
enum arrow_type { ARROW_MESSAGE, ARROW_REPLY, ARROW_PULSE, ARROW_WAKE, ARROW_INTERRUPT };

struct name {
    struct id_node node;   /* among names of other numbers; or among `others` */
    struct id_tree others; /* names of this number, but the first, by type and thread */
    uint32_t type;
    uint32_t thread; /* index of a function's; else 0 */
    uint64_t number;
    char *text; /* NULL: its number */
};

struct report_lanes {
    struct kev_capture *capture;
    struct pack *pack;
    struct stream states, causes, spans, arrows;
    char *calls[2][CALLS]; /* names: QNX's numbers, Kymo's own */
    struct name *names;
    uint32_t nnames;
    struct id_tree numbers;  /* the first name of each */
    struct symbols *symbols; /* NULL: functions have no names */
    struct bytes ends;       /* JSON: when the last state of each thread ends */
    uint64_t rows;
};

/* ---- the whole --------------------------------------------------------------------- */

struct report_lanes *lanes_new(struct kev_capture *capture, struct pack *pack)
{
    static const unsigned states[4] = {3, 1, 1, 1}, causes[4] = {3, 3, 2, 2},
                          spans[4] = {3, 2, 1, 1}, arrows[4] = {3, 3, 1, 1};
    struct report_lanes *lanes = calloc(1, sizeof(*lanes));

    if (lanes == NULL) {
        return NULL;
    }
    lanes->capture = capture;
    lanes->pack = pack;
    lanes->names = calloc(NAMES_MOST, sizeof(*lanes->names));
    if (!stream_new(&lanes->states, "states", "bkkk", false, states) ||
        !stream_new(&lanes->causes, "causes", NULL, false, causes) ||
        !stream_new(&lanes->spans, "spans", "bkkk", true, spans) ||
        !stream_new(&lanes->arrows, "arrows", "bekk", true, arrows) || lanes->names == NULL) {
        lanes_free(lanes);
        return NULL;
    }
    return lanes;
}

void lanes_free(struct report_lanes *lanes)
{
    if (lanes == NULL) {
        return;
    }
    stream_free(&lanes->states);
    stream_free(&lanes->causes);
    stream_free(&lanes->spans);
    stream_free(&lanes->arrows);
    for (uint32_t i = 0; i < lanes->nnames; i++) {
        free(lanes->names[i].text);
    }
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        free(lanes->calls[i / CALLS][i % CALLS]);
    }
    symbols_close(lanes->symbols);
    bytes_free(&lanes->ends);
    free(lanes->names);
    free(lanes);
}

/* ---- names ------------------------------------------------------------------------- */

bool lanes_symbols(struct report_lanes *lanes, const char *const *paths, unsigned n)
{
    lanes->symbols = symbols_open_capture(lanes->capture, "--symbols", paths, n);
    return lanes->symbols != NULL;
}

/* The index of a number's name; 0 is of those that have no room. */
static uint32_t report_lanes_name_of(struct report_lanes *lanes, uint32_t type, uint64_t number,
                                     uint32_t thread, const char *text)
{
    const uint64_t whose = (uint64_t)type << 32 | thread;
    struct name *first = (struct name *)id_tree_find(&lanes->numbers, number), *name = first;

    if (first != NULL && (first->type != type || first->thread != thread)) {
        name = (struct name *)id_tree_find(&first->others, whose);
    }
    if (name == NULL && lanes->nnames < NAMES_MOST) {
        name = &lanes->names[lanes->nnames++];
        *name = (struct name){.type = type,
                              .thread = thread,
                              .number = number,
                              .text = text == NULL ? NULL : strdup(text)};
        lanes->pack->failed |= text != NULL && name->text == NULL;
        if (first == NULL) {
            id_tree_add(&lanes->numbers, &name->node, number);
        } else {
            id_tree_add(&first->others, &name->node, whose);
        }
    }
    return name == NULL ? 0 : (uint32_t)(name - lanes->names) + 1;
}

/* The address of a function or a marked place. */
static void address_note(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    char text[SYMBOLS_NAME_MOST];
    uint64_t address;

    symbols_learn_item(lanes->symbols, lanes->capture, item);
    if (thread != REPORT_NOBODY &&
        symbols_name_item(lanes->symbols, lanes->capture, item, &address, text)) {
        report_lanes_name_of(lanes, SPAN_FUNCTION, address, thread, text);
    }
}

void lanes_note(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    bool own = item->class_id == TRACE_CLASS_KYMO_CALL;

    if (lanes->symbols != NULL && item->class_id == TRACE_CLASS_SYSTEM) {
        address_note(lanes, item, thread);
    }
    if ((own || item->class_id == TRACE_CLASS_KER_CALL) && item->name != NULL) {
        char **name = &lanes->calls[own][item->number % CALLS];

        *name = *name == NULL ? strdup(item->name) : *name;
        lanes->pack->failed |= *name == NULL;
    }
}

static uint32_t list_at(const struct report_list *list, uint32_t i)
{
    return list->index == NULL ? i : list->index[i];
}

static void row_done(struct report_lanes *lanes, const struct timeline *timeline)
{
    if (++lanes->rows % REST_ROWS == 0) {
        timeline_rest(timeline);
    }
}

/* ---- arrows ------------------------------------------------------------------------ */

/* From a thread, or from an interrupt of the CPU `from`. */
static void arrow_put(struct report_lanes *lanes, enum arrow_type type, int64_t from_ns,
                      uint32_t from, int64_t to_ns, uint32_t to, int cpu)
{
    const uint32_t values[4] = {from, to, type, (uint32_t)cpu & 255};

    stream_row(lanes->pack, &lanes->arrows, to_ns, from_ns, values);
}

/* The last of the entries of an array that begin at `ns` or before; count: none does. The time of
 * each entry is at its beginning. */
static uint32_t last_before(const void *array, size_t bytes, uint32_t count, int64_t ns)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t at;

        memcpy(&at, (const char *)array + middle * bytes, sizeof(at));
        if (at <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? count : low - 1;
}

/* Did this thread, or interrupt, send the process a pulse right before the time? */
static bool is_pulse(const struct timeline *timeline, const struct timeline_span *woken)
{
    uint32_t at =
        last_before(timeline->pulses, sizeof(*timeline->pulses), timeline->npulses, woken->from);

    for (unsigned i = 0; i < PULSES_BACK && at < timeline->npulses; i++, at--) {
        const struct timeline_pulse *pulse = &timeline->pulses[at];

        if (pulse->to_pid == timeline->threads[woken->thread].pid && pulse->by == woken->by &&
            pulse->cause == woken->cause) {
            return true;
        }
        if (at == 0) {
            break;
        }
    }
    return false;
}

/* A thread that waited became READY: `was` is the state before. Messages have arrows already. */
static void wake_put(struct report_lanes *lanes, const struct timeline *timeline,
                     const struct timeline_span *span, unsigned was, uint32_t sent)
{
    enum arrow_type type = ARROW_WAKE;
    uint32_t from = span->by + 1;

    if (span->cause == TIMELINE_CAUSE_INTERRUPT) {
        type = ARROW_INTERRUPT;
        from = (uint32_t)(span->on < 0 ? 0 : span->on);
    } else if (was == STATE_REPLY || was == STATE_SEND) {
        type = ARROW_REPLY;
    } else if (was == STATE_RECEIVE) {
        const struct timeline_message *message =
            sent == TIMELINE_NONE ? NULL : &timeline->messages[sent];

        if (message != NULL && message->server == span->thread && message->received <= span->from &&
            message->received >= message->sent) {
            return;
        }
        type = is_pulse(timeline, span) ? ARROW_PULSE : ARROW_WAKE;
    }
    arrow_put(lanes, type, span->from, from, span->from, span->thread + 1, span->on);
}

static void messages_write(struct report_lanes *lanes, const struct timeline *timeline,
                           const struct report_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct timeline_message *message = &timeline->messages[list_at(list, i)];

        if (message->client != TIMELINE_NONE && message->server != TIMELINE_NONE &&
            message->received != KEV_NEVER && message->sent <= message->received) {
            arrow_put(lanes, ARROW_MESSAGE, message->sent, message->client + 1, message->received,
                      message->server + 1, -1);
        }
        row_done(lanes, timeline);
    }
}

/* ---- states ------------------------------------------------------------------------ */

static bool report_lanes_is_wait(unsigned state)
{
    return state > STATE_STOPPED && state != TIMELINE_UNKNOWN;
}

static void report_lanes_state_put(struct report_lanes *lanes, const struct timeline *timeline,
                                   const struct timeline_span *span)
{
    bool runs = span->state == STATE_RUNNING || span->state == STATE_READY ||
                span->state == TIMELINE_UNKNOWN;
    uint32_t waits = runs ? TIMELINE_NONE : why_waited_for(timeline, span);
    uint32_t by = span->cause == TIMELINE_CAUSE_INTERRUPT ? span->by : span->by + 1;
    uint32_t object =
        span->object == 0 ? 0 : report_lanes_name_of(lanes, NAME_OBJECT, span->object, 0, NULL);
    const uint32_t state[4] = {span->thread + 1, span->state, (uint32_t)span->cpu & 255,
                               (uint32_t)span->flags | (uint32_t)span->cause << 4};
    const uint32_t cause[4] = {by, waits + 1, (uint32_t)(span->priority + 1), object};

    stream_row(lanes->pack, &lanes->states, span->from, span->from, state);
    stream_row(lanes->pack, &lanes->causes, 0, 0, cause);
}

/* The state of each thread's lane while its states pass by. */
struct passing {
    uint32_t sent;  /* its latest message */
    uint32_t state; /* the previous one */
};

/* Threads as they are when a window begins. */
static struct passing *passing_new(const struct timeline *timeline,
                                   const struct report_window *window)
{
    struct passing *passing = malloc(((size_t)timeline->nthreads + 1) * sizeof(*passing));

    for (uint32_t i = 0; passing != NULL && i < timeline->nthreads; i++) {
        uint32_t at = window->is_whole ? 0 : timeline_span_find(timeline, i, window->from);

        passing[i] = (struct passing){TIMELINE_NONE, TIMELINE_UNKNOWN};
        if (at < timeline->threads[i].count) {
            const struct timeline_span *span = timeline_span(timeline, i, at);

            passing[i].state =
                at > 0 ? timeline_span(timeline, i, at - 1)->state : TIMELINE_UNKNOWN;
            if (span->from < window->from &&
                (span->state == STATE_SEND || span->state == STATE_REPLY)) {
                passing[i].sent = span->other;
            }
        }
    }
    return passing;
}

/* Shows the progress of a page that is written; kymo view answers in a thread of its own. */
static void report_lanes_print_progress(const struct report_lanes *lanes, const char *what,
                                        uint32_t i, uint32_t count)
{
    if (i % PROGRESS_ENTRIES == 0 && lanes->pack->output != NULL) {
        kymo_progress((void *)(uintptr_t)what, i, count);
    }
}

static bool states_write(struct report_lanes *lanes, const struct timeline *timeline,
                         const struct report_window *window)
{
    struct passing *passing = passing_new(timeline, window);
    uint32_t message = 0;

    if (passing == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < window->spans.count; i++) {
        const struct timeline_span *span = &timeline->spans[list_at(&window->spans, i)];
        struct passing *of = &passing[span->thread];

        for (; message < window->messages.count; message++) {
            uint32_t index = list_at(&window->messages, message);
            uint32_t client = timeline->messages[index].client;

            if (timeline->messages[index].sent > span->from) {
                break;
            }
            if (client != TIMELINE_NONE) {
                passing[client].sent = index;
            }
        }
        report_lanes_print_progress(lanes, "drawing states", i, window->spans.count);
        report_lanes_state_put(lanes, timeline, span);
        if (span->from >= window->from && span->state == STATE_READY &&
            report_lanes_is_wait(of->state) &&
            (span->cause == TIMELINE_CAUSE_INTERRUPT || span->cause == TIMELINE_CAUSE_THREAD)) {
            wake_put(lanes, timeline, span, of->state,
                     span->cause == TIMELINE_CAUSE_THREAD ? passing[span->by].sent : TIMELINE_NONE);
        }
        of->state = span->state;
        row_done(lanes, timeline);
    }
    free(passing);
    return true;
}

static void ends_note(struct report_lanes *lanes, const struct timeline *timeline,
                      const struct report_window *window)
{
    lanes->ends.used = 0;
    bytes_text(&lanes->ends, "\"ends\":[0");
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        uint32_t count = window->is_whole || timeline->threads[i].count == 0
                             ? timeline->threads[i].count
                             : timeline_span_find(timeline, i, window->to) + 1;

        count = count > timeline->threads[i].count ? timeline->threads[i].count : count;
        bytes_text(&lanes->ends, ",");
        bytes_number(&lanes->ends, count == 0 ? timeline->threads[i].from
                                              : timeline_span(timeline, i, count - 1)->to);
    }
    bytes_text(&lanes->ends, "],\n");
}

/* ---- spans ------------------------------------------------------------------------- */

static void span_put(struct report_lanes *lanes, const struct timeline *timeline, uint32_t type,
                     int64_t from, int64_t to, uint32_t lane, uint32_t name, unsigned depth)
{
    const uint32_t values[4] = {lane, name, depth < 255 ? depth : 255, type};

    to = to < timeline->to ? to : timeline->to;
    stream_row(lanes->pack, &lanes->spans, to, from < to ? from : to, values);
    row_done(lanes, timeline);
}

/* `list` is of interrupts, or of handlers. */
static void interrupts_write(struct report_lanes *lanes, const struct timeline *timeline,
                             const struct report_list *list, bool handler)
{
    unsigned step = timeline->nhandlers > 0 ? 2 : 1; /* rows of an interrupt and its handlers */

    for (uint32_t i = 0; i < list->count; i++) {
        const struct timeline_interrupt *run =
            &(handler ? timeline->handlers : timeline->interrupts)[list_at(list, i)];
        uint32_t type = handler ? SPAN_HANDLER : SPAN_INTERRUPT;
        const char *text = kev_capture_term(lanes->capture, KEV_MEANS_INTERRUPT, run->number);

        span_put(lanes, timeline, type, run->from, run->to, (uint32_t)run->cpu,
                 report_lanes_name_of(lanes, type, run->number, 0, text),
                 step * run->depth + handler);
    }
}

static void spans_write(struct report_lanes *lanes, const struct timeline *timeline,
                        const struct report_window *window)
{
    for (uint32_t i = 0; i < window->calls.count; i++) {
        const struct timeline_call *call = &timeline->calls[list_at(&window->calls, i)];
        bool own = call->class_id == TRACE_CLASS_KYMO_CALL;

        report_lanes_print_progress(lanes, "drawing calls", i, window->calls.count);
        uint32_t name =
            report_lanes_name_of(lanes, SPAN_CALL, (uint64_t)call->class_id << 10 | call->number, 0,
                                 lanes->calls[own][call->number % CALLS]);

        span_put(lanes, timeline, SPAN_CALL, call->from, call->to, call->thread + 1, name,
                 call->depth);
    }
    for (uint32_t i = 0; i < window->functions.count; i++) {
        const struct timeline_function *function =
            &timeline->functions[list_at(&window->functions, i)];
        uint32_t name = report_lanes_name_of(lanes, SPAN_FUNCTION, function->address,
                                             function->thread + 1, NULL);

        span_put(lanes, timeline, SPAN_FUNCTION, function->from, function->to, function->thread + 1,
                 name, function->depth);
    }
    interrupts_write(lanes, timeline, &window->interrupts, false);
    interrupts_write(lanes, timeline, &window->handlers, true);
}

/* ---- the end ----------------------------------------------------------------------- */

bool lanes_write(struct report_lanes *lanes, const struct timeline *timeline,
                 const struct report_window *window)
{
    ends_note(lanes, timeline, window);
    messages_write(lanes, timeline, &window->messages);
    if (!states_write(lanes, timeline, window)) {
        return false;
    }
    spans_write(lanes, timeline, window);
    stream_write(lanes->pack, &lanes->states);
    stream_write(lanes->pack, &lanes->causes);
    stream_write(lanes->pack, &lanes->spans);
    stream_write(lanes->pack, &lanes->arrows);
    return true;
}

void lanes_json(const struct report_lanes *lanes, struct bytes *json)
{
    bytes_put(json, lanes->ends.data, lanes->ends.used);
    bytes_text(json, "\"names\":[[0,\"\",null]");
    for (uint32_t i = 0; i < lanes->nnames; i++) {
        const struct name *name = &lanes->names[i];
        char number[32];

        snprintf(number, sizeof(number), ",\n[%u,\"0x%" PRIx64 "\",", (unsigned)name->type,
                 name->number);
        bytes_text(json, number);
        bytes_json(json, name->text, name->text == NULL ? 0 : strlen(name->text));
        if (name->thread != 0) {
            bytes_text(json, ",");
            bytes_number(json, name->thread);
        }
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}
