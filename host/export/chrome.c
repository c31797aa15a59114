/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --chrome: the trace event format of chrome://tracing, in JSON, as Perfetto's UI and others open
 * it, too. Each event of the capture is one record with its values: B and E of a slice, else i;
 * records of their own are what CPUs ran, states of threads, messages, counters and losses.
 * docs/reference/export.md has the grammar, test/host/export/chrome.py checks it.
 *
 * Processes and threads have their ids. Tracks without a thread are of process CPUS_PID, and states
 * of a thread are on a track STATE_TID above it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/export/follow.h"
#include "host/json_text.h"
#include "host/kymo.h"

#define CPUS_PID 1000000000
#define TIDS_RUN 1         /* of CPUS_PID: what the CPUs run, from here on */
#define TIDS_INTERRUPT 101 /* their interrupts, and events that no thread's are */
#define STATE_TID 1000000

struct chrome {
    struct flow *flow;
    uint64_t serial; /* of the last asynchronous slice */
    unsigned ready, unknown;
    bool counted;
    uint64_t lost[FLOW_CPUS + 1]; /* of each CPU, and of none in particular */
    bool told[FLOW_CPUS];         /* names of its tracks */
};

static struct chrome *chrome_of(const struct export *export)
{
    return export->state;
}

/* Microseconds, with three decimals. */
static void time_put(struct out *out, const char *name, int64_t ns)
{
    uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    out_str(out, ",\"");
    out_str(out, name);
    out_str(out, ns < 0 ? "\":-" : "\":");
    out_u64(out, magnitude / 1000);
    out_char(out, '.');
    out_char(out, (char)('0' + magnitude / 100 % 10));
    out_char(out, (char)('0' + magnitude / 10 % 10));
    out_char(out, (char)('0' + magnitude % 10));
}

static void chrome_record_begin(struct out *out, char phase, int64_t pid, int64_t tid)
{
    out_str(out, ",\n{\"ph\":\"");
    out_char(out, phase);
    out_str(out, "\",\"pid\":");
    out_i64(out, pid);
    out_str(out, ",\"tid\":");
    out_i64(out, tid);
}

/* The name of a process or thread; `what` is a name of the viewers. */
static void name_put(struct out *out, const char *what, int64_t pid, int64_t tid, const char *name,
                     const char *suffix)
{
    chrome_record_begin(out, 'M', pid, tid);
    export_json_member(out, "name", what);
    out_str(out, ",\"args\":{\"name\":\"");
    for (unsigned taken; *name != '\0'; name += taken) {
        out_room(out);
        out->used += json_char(out->bytes + out->used, name, strlen(name), &taken);
    }
    out_str(out, suffix);
    out_str(out, "\"}}");
}

static void cpu_tell(struct export *export, int cpu)
{
    struct chrome *chrome = chrome_of(export);
    char name[32];

    if (cpu < 0 || cpu >= FLOW_CPUS || chrome->told[cpu]) {
        return;
    }
    chrome->told[cpu] = true;
    snprintf(name, sizeof(name), "CPU %d", cpu);
    name_put(export->out, "thread_name", CPUS_PID, TIDS_RUN + cpu, name, "");
    name_put(export->out, "thread_name", CPUS_PID, TIDS_INTERRUPT + cpu, name, " interrupts");
}

/* "process/thread"; without a name its number. */
static void chrome_thread_name(const struct export *export, const struct flow_thread *thread,
                               char *to, size_t room)
{
    const char *name = kev_capture_name(export->capture, thread->pid, thread->tid);
    char number[32];

    snprintf(number, sizeof(number), "thread %" PRId32, thread->tid);
    snprintf(to, room, "%s", name == NULL ? number : name);
}

static void chrome_process_name(const struct export *export, int32_t pid, char *to, size_t room)
{
    const char *name = kev_capture_name(export->capture, pid, KEV_NOBODY);
    char number[32];

    snprintf(number, sizeof(number), "process %" PRId32, pid);
    snprintf(to, room, "%s", name == NULL ? number : name);
}

static void thread_tell(struct export *export, struct flow_thread *thread)
{
    char name[256];

    if (thread == NULL || thread->described) {
        return;
    }
    thread->described = true;
    chrome_process_name(export, thread->pid, name, sizeof(name));
    name_put(export->out, "process_name", thread->pid, thread->tid, name, "");
    chrome_thread_name(export, thread, name, sizeof(name));
    name_put(export->out, "thread_name", thread->pid, thread->tid, name, "");
    name_put(export->out, "thread_name", thread->pid, (int64_t)thread->tid + STATE_TID, name,
             " state");
}

/* ---- what the flow gives ------------------------------------------------------------- */

static void chrome_run(struct export *export, const struct flow_thread *thread, int cpu,
                       int64_t from, int64_t to)
{
    struct out *out = export->out;
    char process[256], name[520];

    chrome_process_name(export, thread->pid, process, sizeof(process));
    chrome_thread_name(export, thread, name, sizeof(name));
    cpu_tell(export, cpu);
    chrome_record_begin(out, 'X', CPUS_PID, TIDS_RUN + cpu);
    time_put(out, "ts", from);
    time_put(out, "dur", to - from);
    export_json_member(out, "cat", "run");
    snprintf(name + strlen(name), sizeof(name) - strlen(name), " (%s)", process);
    export_json_member(out, "name", name);
    out_str(out, ",\"args\":{\"pid\":");
    out_i64(out, thread->pid);
    export_json_number(out, "tid", thread->tid);
    export_json_known(out, "priority", thread->priority, -1);
    out_str(out, "}}");
}

static void chrome_span(void *arg, const struct flow_thread *thread, const struct flow_state *state,
                        int64_t to, bool ended)
{
    struct export *export = arg;
    struct out *out = export->out;

    (void)ended;
    if (!export_flow_shows(state, to)) {
        return;
    }
    if (state->state == STATE_RUNNING) {
        chrome_run(export, thread, state->cpu, state->since, to);
    }
    chrome_record_begin(out, 'X', thread->pid, (int64_t)thread->tid + STATE_TID);
    time_put(out, "ts", state->since);
    time_put(out, "dur", to - state->since);
    export_json_member(out, "cat", "state");
    export_json_member(out, "name", flow_state_name((unsigned)state->state));
    out_str(out, "}");
}

static void chrome_close(void *arg, const struct flow_thread *thread, int cpu,
                         const struct flow_open *open, int64_t ns, enum flow_ending ending)
{
    const struct export *export = arg;
    struct out *out = export->out;

    (void)open;
    (void)ending;
    if (thread == NULL) {
        chrome_record_begin(out, 'E', CPUS_PID, TIDS_INTERRUPT + cpu);
    } else {
        chrome_record_begin(out, 'E', thread->pid, thread->tid);
    }
    time_put(out, "ts", ns);
    out_str(out, ",\"args\":{\"end\":\"not known\"}}");
}

static void chrome_abandon(void *arg, const struct flow_thread *thread, int64_t ns,
                           enum flow_ending ending)
{
    const struct export *export = arg;
    struct out *out = export->out;

    (void)ending;
    chrome_record_begin(out, 'e', thread->pid, thread->tid);
    time_put(out, "ts", ns);
    out_str(out, ",\"cat\":\"message\",\"name\":\"message\",\"id\":\"");
    out_hex(out, thread->message, 16);
    out_str(out, "\",\"args\":{\"end\":\"no reply\"}}");
}

static const struct flow_ops chrome_ops = {
    .span = chrome_span, .close = chrome_close, .abandon = chrome_abandon};

/* ---- items ------------------------------------------------------------------------- */

static void chrome_event_put(struct export *export, const struct kev_item *item,
                             const struct flow_step *step)
{
    static const char phases[] = {[FLOW_POINT] = 'i', [FLOW_BEGIN] = 'B', [FLOW_END] = 'E'};
    struct out *out = export->out;
    char name[256];
    bool renamed = export_slice_name(export, item, name, sizeof(name));

    if (step->thread != NULL) {
        chrome_record_begin(out, phases[step->role], step->thread->pid, step->thread->tid);
    } else {
        chrome_record_begin(out, phases[step->role], CPUS_PID, TIDS_INTERRUPT + item->cpu);
    }
    time_put(out, "ts", step->ns);
    if (step->role == FLOW_POINT) {
        out_str(out, ",\"s\":\"t\"");
    }
    export_json_member(out, "cat", item->class_name);
    export_json_member(out, "name", name);
    out_str(out, ",\"args\":{\"cpu\":");
    out_i64(out, item->cpu);
    out_str(out, ",\"cycles\":\"");
    out_hex(out, item->cycles, 16);
    out_char(out, '"');
    if (renamed) {
        export_json_member(out, "event", item->name);
    }
    out_str(out,
            (item->flags & KEV_FLAG_DUMP) != 0 ? ",\"dump\":true,\"values\":" : ",\"values\":");
    export_json_args(out, export->capture);
    out_str(out, "}}");
}

/* A message is an asynchronous slice of its client, and arrows from slice to slice. */
static void chrome_message_put(struct export *export, const struct flow_step *step)
{
    static const char *const slices[] = {NULL, "b", "n", "e"}, *const arrows[] = {NULL, "s", "t",
                                                                                  "f"};
    struct out *out = export->out;

    if (step->party == NULL) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        chrome_record_begin(out, i == 0 ? *slices[step->message] : *arrows[step->message],
                            step->party->pid, step->party->tid);
        time_put(out, "ts", step->ns);
        export_json_member(out, "cat", i == 0 ? "message" : "arrow");
        export_json_member(out, "name", "message");
        out_str(out, ",\"id\":\"");
        out_hex(out, step->message_id, 16);
        out_str(out, i == 1 && step->message == FLOW_REPLIED ? "\",\"bp\":\"e\"}" : "\"}");
    }
}

static void counter_put(struct export *export, int64_t ns)
{
    struct chrome *chrome = chrome_of(export);
    unsigned ready, unknown;

    flow_count(chrome->flow, &ready, &unknown);
    if (chrome->counted && ready == chrome->ready && unknown == chrome->unknown) {
        return;
    }
    chrome->counted = true;
    chrome->ready = ready;
    chrome->unknown = unknown;
    chrome_record_begin(export->out, 'C', CPUS_PID, 0);
    time_put(export->out, "ts", ns);
    out_str(export->out, ",\"name\":\"threads\",\"args\":{\"ready\":");
    out_u64(export->out, ready);
    out_str(export->out, ",\"state not known\":");
    out_u64(export->out, unknown);
    out_str(export->out, "}}");
}

/* An event that names a thread or a process, which viewers know by another name until then: the
 * last record of a name holds for the whole trace. */
static void chrome_name_take(struct export *export, const struct kev_item *item)
{
    bool of_thread = item->name != NULL && strcmp(item->name, "PROCTHREAD_NAME") == 0;
    bool of_process = item->name != NULL && strcmp(item->name, "PROCCREATE_NAME") == 0;
    const struct kev_value *pid, *tid;
    const char *name;

    if (strcmp(item->class_name, "PROCESS") != 0 || (!of_thread && !of_process)) {
        return;
    }
    pid = kev_capture_value_of(export->capture, "pid");
    tid = of_thread ? kev_capture_value_of(export->capture, "tid") : NULL;
    if (pid == NULL || (of_thread && tid == NULL)) {
        return;
    }
    const int32_t of = (int32_t)pid->integer, thread = tid ? (int32_t)tid->integer : KEV_NOBODY;
    name = kev_capture_name(export->capture, of, thread);
    if (name == NULL || *name == '\0') {
        return;
    }
    if (of_process) {
        name_put(export->out, "process_name", of, 1, name, "");
        return;
    }
    name_put(export->out, "thread_name", of, thread, name, "");
    name_put(export->out, "thread_name", of, (int64_t)thread + STATE_TID, name, " state");
}

static int chrome_event_take(struct export *export, const struct kev_item *item)
{
    struct chrome *chrome = chrome_of(export);
    struct flow_step step;

    if (export_flow_take(chrome->flow, item, &step) != 0) {
        return -1;
    }
    cpu_tell(export, item->cpu);
    thread_tell(export, step.thread);
    chrome_event_put(export, item, &step);
    chrome_name_take(export, item);
    thread_tell(export, step.party);
    chrome_message_put(export, &step);
    counter_put(export, step.ns);
    return 0;
}

/* The arguments of a loss or of scope. */
static void loss_args(struct out *out, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;

    out_str(out, ",\"args\":{\"what\":");
    out_json_text(out, export_loss_kind(loss->kind));
    export_json_known(out, "cpu", item->cpu, -1);
    export_json_member(out, "class", loss->class_name);
    export_json_known(out, "events", (int64_t)loss->events, 0);
    export_json_known(out, "buffers", (int64_t)loss->buffers, 0);
    export_json_known(out, "from_ns", loss->from_ns, KEV_EVER);
    export_json_known(out, "to_ns", loss->to_ns, KEV_NEVER);
    export_json_member(out, "reason", loss->reason);
    export_json_member(out, "text", loss->text);
    out_str(out, "}}");
}

/* An instant over all tracks where it is reported; if it is known when, an asynchronous slice over
 * that time; and the CPU's count. */
static void chrome_loss_take(struct export *export, const struct kev_item *item)
{
    struct chrome *chrome = chrome_of(export);
    const struct kev_loss *loss = item->loss;
    bool is_loss = item->kind == KEV_ITEM_LOSS;
    struct out *out = export->out;
    int cpu = item->cpu >= 0 && item->cpu < FLOW_CPUS ? item->cpu : -1;
    int64_t tid = cpu < 0 ? 0 : TIDS_RUN + cpu;
    char name[32];

    cpu_tell(export, cpu);
    chrome_record_begin(out, 'i', CPUS_PID, tid);
    time_put(out, "ts", is_loss ? item->ns : 0);
    out_str(out, is_loss ? ",\"s\":\"g\",\"cat\":\"loss\",\"name\":\"LOST\""
                         : ",\"s\":\"g\",\"cat\":\"scope\",\"name\":\"NOT RECORDED\"");
    loss_args(out, item);
    if (loss->from_ns != KEV_EVER && loss->to_ns != KEV_NEVER && loss->to_ns >= loss->from_ns) {
        uint64_t id = ++chrome->serial;

        for (unsigned i = 0; i < 2; i++) {
            chrome_record_begin(out, i == 0 ? 'b' : 'e', CPUS_PID, tid);
            time_put(out, "ts", i == 0 ? loss->from_ns : loss->to_ns);
            out_str(out, is_loss ? ",\"cat\":\"lost\",\"name\":\"LOST on CPU "
                                 : ",\"cat\":\"lost\",\"name\":\"NOT RECORDED on CPU ");
            out_i64(out, cpu);
            out_str(out, "\",\"id\":\"");
            out_hex(out, id, 16);
            out_str(out, "\"}");
        }
    }
    if (is_loss) {
        chrome->lost[cpu + 1] += loss->events;
        chrome_record_begin(out, 'C', CPUS_PID, 0);
        time_put(out, "ts", item->ns);
        snprintf(name, sizeof(name), cpu < 0 ? "lost events" : "lost events, CPU %d", cpu);
        export_json_member(out, "name", name);
        out_str(out, ",\"args\":{\"events\":");
        out_u64(out, chrome->lost[cpu + 1]);
        out_str(out, "}}");
    }
}

static int chrome_item(struct export *export, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        return chrome_event_take(export, item);
    }
    if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        chrome_loss_take(export, item);
    }
    return 0;
}

static int chrome_begin(struct export *export)
{
    const struct kev_facts *facts = export->facts;
    struct out *out = export->out;
    struct chrome *chrome = calloc(1, sizeof(*chrome));

    export->state = chrome;
    if (chrome == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    chrome->flow = export_flow_new(export, &chrome_ops);
    if (chrome->flow == NULL) {
        return -1;
    }
    out_str(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made_by\":\"kymo export\"");
    export_json_capture(out, facts);
    out_str(out, "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1000000000,\"tid\":0,\"name\":"
                 "\"process_name\",\"args\":{\"name\":\"CPUs\"}}");
    return 0;
}

static int chrome_end(struct export *export)
{
    struct chrome *chrome = chrome_of(export);
    struct out *out = export->out;

    flow_end(chrome->flow);
    out_str(out, "\n],\"kymo\":{");
    export_json_counts(out, export);
    out_str(out,
            export->fault == KEV_FAULT_NONE ? ",\"complete\":true}}\n" : ",\"complete\":false}}\n");
    return 0;
}

static void chrome_discard(struct export *export)
{
    struct chrome *chrome = chrome_of(export);

    if (chrome != NULL) {
        flow_free(chrome->flow);
        free(chrome);
    }
}

const struct export_format export_chrome = {.name = "chrome",
                                            .draws = true,
                                            .begin = chrome_begin,
                                            .item = chrome_item,
                                            .end = chrome_end,
                                            .discard = chrome_discard};
