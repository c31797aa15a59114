/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a page's timeline, as streams of blocks: states of threads, spans (kernel calls,
 * interrupts, functions) with a depth, arrows (messages, replies, pulses, wake-ups). A thread is
 * woken by what its CPU runs when it becomes READY: an interrupt, or the thread that runs there.
 * Memory: 64 bytes a thread, and fixed tables.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/pr_th.h"
#include "host/report/report.h"
#include "trace/slot.h"

#define CPUS 64
#define DEPTH_MOST 32
#define SENDS 4096 /* messages that wait to be received; of two in one place the newer one stays */
#define NAMES_MOST 60000
#define NAME_SLOTS 131072
#define UNKNOWN 255 /* a state */

enum { SND_MESSAGE, SND_PULSE, REC_MESSAGE, REC_PULSE, REPLY_MESSAGE = 10, MSG_ERROR = 11 };
enum { INT_ENTR = 1, INT_EXIT, HANDLER_ENTR, HANDLER_EXIT };
enum { FUNC_ENTER = 10, FUNC_EXIT = 11 };
enum { CALL_EXIT = 128, CALL_INT = 256 };

enum span_type { SPAN_CALL, SPAN_INTERRUPT, SPAN_FUNCTION, SPAN_HANDLER };
enum arrow_type { ARROW_MESSAGE, ARROW_REPLY, ARROW_PULSE, ARROW_WAKE, ARROW_INTERRUPT };

struct open_span {
    int64_t from;
    uint32_t name;
    uint8_t type;
};

struct stack {
    struct open_span open[DEPTH_MOST];
    unsigned depth;
};

struct thread_lane {
    int64_t called; /* when the kernel call was entered */
    uint32_t call;  /* its name's index + 1, 0: none */
    uint8_t state;
    struct stack *functions; /* NULL: it has none */
};

struct cpu_lane {
    uint32_t running;
    struct stack interrupts;
    enum arrow_type comm; /* what the running thread has done to `pid` last */
    int32_t pid, tid;     /* tid KEV_NOBODY: some thread of it; pid KEV_NOBODY: nothing */
};

struct send {
    int32_t pid;
    uint32_t rcvid, thread;
    int64_t ns;
};

struct name {
    uint32_t type;
    uint64_t number;
    char *text; /* NULL: its number */
};

struct report_lanes {
    struct kev_capture *capture;
    struct pack *pack;
    const struct report_threads *threads;
    struct thread_lane *lane;
    uint32_t nlanes;
    struct cpu_lane cpu[CPUS];
    struct stream states, spans, arrows;
    struct send sends[SENDS];
    struct name *names;
    uint32_t nnames, *name_slots;
};

/* ---- the whole --------------------------------------------------------------------- */

struct report_lanes *lanes_new(struct kev_capture *capture, struct pack *pack,
                               const struct report_threads *threads)
{
    static const unsigned states[4] = {3, 1, 1, 0}, spans[4] = {3, 2, 1, 1},
                          arrows[4] = {3, 3, 1, 1};
    struct report_lanes *lanes = calloc(1, sizeof(*lanes));

    if (lanes == NULL) {
        return NULL;
    }
    lanes->capture = capture;
    lanes->pack = pack;
    lanes->threads = threads;
    lanes->nlanes = threads_count(threads);
    lanes->lane = calloc((size_t)lanes->nlanes + 1, sizeof(*lanes->lane));
    lanes->names = calloc(NAMES_MOST, sizeof(*lanes->names));
    lanes->name_slots = calloc(NAME_SLOTS, sizeof(*lanes->name_slots));
    if (!stream_new(&lanes->states, "states", false, states) ||
        !stream_new(&lanes->spans, "spans", true, spans) ||
        !stream_new(&lanes->arrows, "arrows", true, arrows) || lanes->lane == NULL ||
        lanes->names == NULL || lanes->name_slots == NULL) {
        lanes_free(lanes);
        return NULL;
    }
    for (uint32_t i = 0; i <= lanes->nlanes; i++) {
        lanes->lane[i].state = UNKNOWN;
    }
    for (unsigned i = 0; i < CPUS; i++) {
        lanes->cpu[i].pid = KEV_NOBODY;
    }
    return lanes;
}

void lanes_free(struct report_lanes *lanes)
{
    if (lanes == NULL) {
        return;
    }
    stream_free(&lanes->states);
    stream_free(&lanes->spans);
    stream_free(&lanes->arrows);
    for (uint32_t i = 0; lanes->lane != NULL && i <= lanes->nlanes; i++) {
        free(lanes->lane[i].functions);
    }
    for (uint32_t i = 0; i < lanes->nnames; i++) {
        free(lanes->names[i].text);
    }
    free(lanes->lane);
    free(lanes->names);
    free(lanes->name_slots);
    free(lanes);
}

/* ---- names of spans ---------------------------------------------------------------- */

/* The index of what a span is called; 0 is of those that have no room. */
static uint32_t name_of(struct report_lanes *lanes, enum span_type type, uint64_t number,
                        const char *text)
{
    uint64_t key = (number << 3 | type) * 0x9e3779b97f4a7c15ull;
    uint32_t at = (uint32_t)(key >> 40) % NAME_SLOTS;

    for (; lanes->name_slots[at] != 0; at = (at + 1) % NAME_SLOTS) {
        const struct name *name = &lanes->names[lanes->name_slots[at] - 1];

        if (name->type == type && name->number == number) {
            return lanes->name_slots[at];
        }
    }
    if (lanes->nnames == NAMES_MOST) {
        return 0;
    }
    lanes->names[lanes->nnames] = (struct name){type, number, text == NULL ? NULL : strdup(text)};
    lanes->name_slots[at] = ++lanes->nnames;
    return lanes->nnames;
}

static uint64_t number_of(const struct report_lanes *lanes, const char *name)
{
    const struct kev_value *value = kev_capture_value_of(lanes->capture, name);

    return value == NULL ? 0 : value->number;
}

/* ---- spans ------------------------------------------------------------------------- */

static void span_put(struct report_lanes *lanes, const struct open_span *span, int64_t to,
                     uint32_t lane, unsigned depth)
{
    const uint32_t values[4] = {lane, span->name, depth, span->type};

    stream_row(lanes->pack, &lanes->spans, to, span->from < to ? span->from : to, values);
}

static void stack_push(struct stack *stack, enum span_type type, uint32_t name, int64_t ns)
{
    if (stack->depth < DEPTH_MOST) {
        stack->open[stack->depth] = (struct open_span){ns, name, (uint8_t)type};
    }
    stack->depth++;
}

/* Ends the newest span of this type and name; those inside of it have lost their ends. */
static void stack_pop(struct report_lanes *lanes, struct stack *stack, enum span_type type,
                      uint32_t name, int64_t ns, uint32_t lane)
{
    unsigned at = stack->depth < DEPTH_MOST ? stack->depth : DEPTH_MOST;

    if (stack->depth > DEPTH_MOST) {
        stack->depth--;
        return;
    }
    while (at > 0 && (stack->open[at - 1].type != type || stack->open[at - 1].name != name)) {
        at--;
    }
    while (at > 0 && stack->depth >= at) {
        stack->depth--;
        span_put(lanes, &stack->open[stack->depth], ns, lane, stack->depth);
    }
}

static void call_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    struct thread_lane *lane = &lanes->lane[thread];
    unsigned number = item->number & ~(unsigned)TRACE_EVENT_64;

    if (thread == REPORT_NOBODY) {
        return;
    }
    if (number < CALL_EXIT) {
        lane->called = item->ns;
        lane->call = 1 + name_of(lanes, SPAN_CALL, item->class_id << 10 | item->code, item->name);
    } else if (number < CALL_INT && lane->call != 0) {
        const struct open_span span = {lane->called, lane->call - 1, SPAN_CALL};

        span_put(lanes, &span, item->ns, thread, 0);
        lane->call = 0;
    }
}

static void interrupt_take(struct report_lanes *lanes, const struct kev_item *item)
{
    struct stack *stack = &lanes->cpu[item->cpu].interrupts;
    uint64_t number = number_of(lanes, "interrupt");
    const char *text = kev_capture_term(lanes->capture, KEV_MEANS_INTERRUPT, (unsigned)number);

    switch (item->code) {
    case INT_ENTR:
        stack_push(stack, SPAN_INTERRUPT, name_of(lanes, SPAN_INTERRUPT, number, text), item->ns);
        break;
    case HANDLER_ENTR:
        stack_push(stack, SPAN_HANDLER, name_of(lanes, SPAN_HANDLER, number, text), item->ns);
        break;
    case INT_EXIT:
        stack_pop(lanes, stack, SPAN_INTERRUPT, name_of(lanes, SPAN_INTERRUPT, number, text),
                  item->ns, (uint32_t)item->cpu);
        break;
    case HANDLER_EXIT:
        stack_pop(lanes, stack, SPAN_HANDLER, name_of(lanes, SPAN_HANDLER, number, text), item->ns,
                  (uint32_t)item->cpu);
        break;
    default:
        break;
    }
}

static bool function_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    struct thread_lane *lane = &lanes->lane[thread];
    uint32_t name;

    if (thread == REPORT_NOBODY) {
        return true;
    }
    if (lane->functions == NULL) {
        lane->functions = calloc(1, sizeof(*lane->functions));
        if (lane->functions == NULL) {
            return false;
        }
    }
    name = name_of(lanes, SPAN_FUNCTION, number_of(lanes, "thisfn"), NULL);
    if (item->code == FUNC_ENTER) {
        stack_push(lane->functions, SPAN_FUNCTION, name, item->ns);
    } else {
        stack_pop(lanes, lane->functions, SPAN_FUNCTION, name, item->ns, thread);
    }
    return true;
}

/* Ends what a thread has open. */
static void thread_close(struct report_lanes *lanes, uint32_t thread, int64_t ns)
{
    struct thread_lane *lane = &lanes->lane[thread];
    const struct open_span call = {lane->called, lane->call - 1, SPAN_CALL};

    if (lane->call != 0) {
        span_put(lanes, &call, ns, thread, 0);
        lane->call = 0;
    }
    while (lane->functions != NULL && lane->functions->depth > 0) {
        unsigned depth = --lane->functions->depth;

        if (depth < DEPTH_MOST) {
            span_put(lanes, &lane->functions->open[depth], ns, thread, depth);
        }
    }
}

/* ---- arrows ------------------------------------------------------------------------ */

/* From a thread, or from an interrupt of the CPU `from`. */
static void arrow_put(struct report_lanes *lanes, enum arrow_type type, int64_t from_ns,
                      uint32_t from, int64_t to_ns, uint32_t to, int cpu)
{
    const uint32_t values[4] = {from, to, type, (uint32_t)cpu};

    if (to != REPORT_NOBODY && from_ns <= to_ns) {
        stream_row(lanes->pack, &lanes->arrows, to_ns, from_ns, values);
    }
}

static struct send *send_at(struct report_lanes *lanes, int32_t pid, uint32_t rcvid)
{
    uint64_t key = ((uint64_t)(uint32_t)pid << 32 | rcvid) * 0x9e3779b97f4a7c15ull;

    return &lanes->sends[(key >> 40) % SENDS];
}

static void comm_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    struct cpu_lane *cpu = &lanes->cpu[item->cpu];
    int32_t pid = (int32_t)number_of(lanes, "pid");
    uint32_t rcvid = (uint32_t)number_of(lanes, "rcvid");
    struct send *send = send_at(lanes, pid, rcvid);

    cpu->pid = pid;
    cpu->tid = KEV_NOBODY;
    switch (item->code) {
    case SND_MESSAGE:
        cpu->comm = ARROW_MESSAGE;
        *send = (struct send){pid, rcvid, thread, item->ns};
        break;
    case REC_MESSAGE:
        /* The receiver runs here, unless the sender hands it over to one that waits. */
        cpu->comm = ARROW_MESSAGE;
        if (item->pid == pid && send->pid == pid && send->rcvid == rcvid &&
            send->thread != thread && send->thread != REPORT_NOBODY) {
            arrow_put(lanes, ARROW_MESSAGE, send->ns, send->thread, item->ns, thread, item->cpu);
            cpu->pid = KEV_NOBODY;
        }
        break;
    case REPLY_MESSAGE:
    case MSG_ERROR:
        cpu->comm = ARROW_REPLY;
        cpu->tid = (int32_t)number_of(lanes, "tid");
        break;
    default:
        cpu->comm = ARROW_PULSE;
        break;
    }
}

static bool is_blocked(uint8_t state)
{
    return state != STATE_RUNNING && state != STATE_READY && state != STATE_DEAD &&
           state != STATE_STOPPED && state != UNKNOWN;
}

static void wake_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    struct cpu_lane *cpu = &lanes->cpu[item->cpu];
    bool by_comm = cpu->pid == item->pid && (cpu->tid == KEV_NOBODY || cpu->tid == item->tid);
    enum arrow_type type = by_comm ? cpu->comm : ARROW_WAKE;

    if (cpu->interrupts.depth > 0 && !(by_comm && cpu->comm != ARROW_PULSE)) {
        arrow_put(lanes, ARROW_INTERRUPT, item->ns, (uint32_t)item->cpu, item->ns, thread,
                  item->cpu);
    } else if (cpu->running != thread && cpu->running != REPORT_NOBODY) {
        arrow_put(lanes, type, item->ns, cpu->running, item->ns, thread, item->cpu);
    }
    if (by_comm) {
        cpu->pid = KEV_NOBODY;
    }
}

/* ---- events ------------------------------------------------------------------------ */

static void state_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    struct thread_lane *lane = &lanes->lane[thread];
    struct cpu_lane *cpu = &lanes->cpu[item->cpu];
    uint8_t state = (uint8_t)item->state;

    if (thread == REPORT_NOBODY) {
        return;
    }
    if ((state == STATE_READY || state == STATE_RUNNING) && is_blocked(lane->state)) {
        wake_take(lanes, item, thread);
    }
    if (state == STATE_DEAD) {
        thread_close(lanes, thread, item->ns);
    }
    if (state == STATE_RUNNING) {
        cpu->running = thread;
        cpu->pid = KEV_NOBODY;
    }
    if (state != lane->state || state == STATE_RUNNING) {
        const uint32_t values[4] = {thread, state, (uint32_t)item->cpu, 0};

        lane->state = state;
        stream_row(lanes->pack, &lanes->states, item->ns, item->ns, values);
    }
}

bool lanes_take(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread)
{
    if (item->cpu < 0 || item->cpu >= CPUS) {
        return true;
    }
    switch (item->class_id) {
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        call_take(lanes, item, thread);
        break;
    case TRACE_CLASS_INT:
        interrupt_take(lanes, item);
        break;
    case TRACE_CLASS_COMM:
        comm_take(lanes, item, thread);
        break;
    case TRACE_CLASS_SYSTEM:
        if (item->code == FUNC_ENTER || item->code == FUNC_EXIT) {
            return function_take(lanes, item, thread);
        }
        break;
    default:
        if (item->state >= 0) {
            state_take(lanes, item, thread);
        }
        break;
    }
    return true;
}

/* What is open when events are missing has no end that can be trusted. */
void lanes_lose(struct report_lanes *lanes, const struct kev_item *item)
{
    int64_t from = item->loss->from_ns;
    const uint32_t values[4] = {REPORT_NOBODY, UNKNOWN, 255, 0};

    stream_row(lanes->pack, &lanes->states, from > 0 && from < item->ns ? from : item->ns, 0,
               values);
    for (uint32_t i = 0; i <= lanes->nlanes; i++) {
        lanes->lane[i].call = 0;
        lanes->lane[i].state = UNKNOWN;
        if (lanes->lane[i].functions != NULL) {
            lanes->lane[i].functions->depth = 0;
        }
    }
    for (unsigned i = 0; i < CPUS; i++) {
        lanes->cpu[i].running = REPORT_NOBODY;
        lanes->cpu[i].interrupts.depth = 0;
        lanes->cpu[i].pid = KEV_NOBODY;
    }
}

void lanes_end(struct report_lanes *lanes, int64_t ns)
{
    for (uint32_t i = 1; i <= lanes->nlanes; i++) {
        thread_close(lanes, i, ns);
    }
    stream_write(lanes->pack, &lanes->states);
    stream_write(lanes->pack, &lanes->spans);
    stream_write(lanes->pack, &lanes->arrows);
}

void lanes_json(const struct report_lanes *lanes, struct bytes *json)
{
    bytes_text(json, "\"names\":[[0,\"\",null]");
    for (uint32_t i = 0; i < lanes->nnames; i++) {
        const struct name *name = &lanes->names[i];
        char number[24];

        snprintf(number, sizeof(number), ",\n[%u,\"0x%" PRIx64 "\",", (unsigned)name->type,
                 name->number);
        bytes_text(json, number);
        bytes_json(json, name->text, name->text == NULL ? 0 : strlen(name->text));
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}
