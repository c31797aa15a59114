/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture of a simulated system: its events in buffers, some of which are lost, without the
 * classes that filters leave out, and over which time each CPU is covered (truth.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/trace.h"
#include "test/host/fabricate/sim.h"

#define WRITE_CLASSES 16
#define WRITE_LOST 12 /* percent of the buffers */

#define A(type, name) #type ":" #name
#define FAST(...) \
    { \
        __VA_ARGS__ \
    }
#define WIDE(...) \
    { \
        __VA_ARGS__ \
    }
#define SAME \
    { \
        NULL \
    }
#define EVENT_CONTROL(...)
#define EVENT(id, class, number, ext, name, fast, wide, doc) \
    {TRACE_CLASS_##class, number, #name, fast, wide},
static const struct write_row {
    unsigned class, number;
    const char *name, *fast[6], *wide[10];
} write_rows[] = {
#include "trace/events.def"
};
#undef A
#undef EVENT
#undef EVENT_CONTROL

static const char write_calls[] = "13 MSG_ERROR P:rcvid,P:error = P:ret_val =\n"
                                  "14 MSG_RECEIVEV P:chid,P:rparts = P:ret_val,P:rmsg0 =\n"
                                  "15 MSG_REPLYV P:rcvid,P:status = P:ret_val =\n"
                                  "20 MSG_SEND_PULSE P:coid,P:code = P:ret_val =\n"
                                  "26 SIGNAL_KILL P:pid,P:signo = P:ret_val =\n"
                                  "46 THREAD_CREATE P:func,P:arg = P:ret_val,H:owner =\n"
                                  "47 THREAD_DESTROY P:tid,P:status = P:ret_val =\n"
                                  "50 THREAD_JOIN P:tid,P:status = P:ret_val,P:end_status =\n"
                                  "58 INTERRUPT_WAIT P:flags,P:reserved = P:ret_val =\n"
                                  "72 TIMER_SETTIME P:id,H:nsec = P:ret_val =\n"
                                  "75 TIMER_TIMEOUT P:flags,H:ntime_lsb = P:ret_val =\n"
                                  "80 SYNC_MUTEX_LOCK P:sync,H:owner = P:ret_val =\n"
                                  "81 SYNC_MUTEX_UNLOCK P:sync,H:owner = P:ret_val =\n"
                                  "82 SYNC_CONDVAR_WAIT P:sync,P:mutex = P:ret_val =\n"
                                  "83 SYNC_CONDVAR_SIGNAL P:sync,P:all = P:ret_val =\n"
                                  "84 SYNC_SEM_POST P:sync,D:count = P:ret_val =\n"
                                  "85 SYNC_SEM_WAIT P:sync,P:try_only = P:ret_val =\n"
                                  "100 PROC_SPAWN D:priority,H:ability = P:ret_val =\n"
                                  "101 PROC_EXIT P:status = P:ret_val =\n"
                                  "102 PROC_WAIT P:pid,P:options = P:ret_val,H:end_status =\n";

struct write_lane {
    uint32_t at, end; /* next event of the buffer that is being filled, and after its last */
    uint64_t buffer_from, last, cover_from;
    bool covered, begun, lost;
    unsigned reason;
    uint32_t dropped[WRITE_CLASSES];
};

struct writer {
    struct sim *sim;
    struct sim_written *out;
    struct mk *mk;
    unsigned most; /* events of a buffer */
    bool quiet;    /* losses aren't counted */
};

/* ---- the header -------------------------------------------------------------------- */

static size_t write_words(char *to, size_t room, const char *const *words, unsigned most)
{
    size_t len = 0;

    for (unsigned i = 0; i < most && words[i] != NULL; i++) {
        len += (size_t)snprintf(to + len, room - len, "%s%s", i > 0 ? "," : "", words[i]);
    }
    return len;
}

static void write_events(char *to, size_t room)
{
    for (unsigned i = 0; i < sizeof(write_rows) / sizeof(write_rows[0]); i++) {
        const struct write_row *row = &write_rows[i];
        size_t len = (size_t)snprintf(to, room, "%u %u %s ", row->class, row->number, row->name);

        len += write_words(to + len, room - len, row->fast, 6);
        len += (size_t)snprintf(to + len, room - len, " ");
        if (row->wide[0] == NULL) {
            len += (size_t)snprintf(to + len, room - len, "=");
        }
        len += write_words(to + len, room - len, row->wide, 10);
        len += (size_t)snprintf(to + len, room - len, "\n");
        to += len;
        room -= len;
    }
}

static void write_filters(struct sim *sim, struct sim_written *out, char *text, size_t room)
{
    unsigned left = 1 + sim_below(sim, 31);

    if (!sim->options.filters) {
        snprintf(text, room, "all classes");
        return;
    }
    out->no_calls = left & 1;
    out->no_interrupts = (left & 6) == 2;
    out->no_processes = left & 8;
    out->no_threads = (left & 22) == 22;
    out->no_messages = (left & 16) != 0 && !out->no_threads;
    snprintf(text, room, "all classes%s%s%s%s%s%s", left != 0 ? " without" : "",
             out->no_calls ? " KERCALL" : "", out->no_interrupts ? " INT" : "",
             out->no_processes ? " PROCESS" : "", out->no_threads ? " THREAD" : "",
             out->no_messages ? " COMM" : "");
    if (!out->no_calls && !out->no_interrupts && !out->no_processes && !out->no_threads &&
        !out->no_messages) {
        snprintf(text, room, "all classes");
    }
}

static bool write_filtered(const struct sim_written *out, const struct sim_event *event)
{
    switch (event->class) {
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        return out->no_calls;
    case TRACE_CLASS_INT:
        return out->no_interrupts;
    case TRACE_CLASS_COMM:
        return out->no_messages;
    default:
        return event->number >= PR_TH_PROC_DESTROYED ? out->no_processes : out->no_threads;
    }
}

/* ---- buffers ----------------------------------------------------------------------- */

static void write_slot(struct mk *mk, unsigned cpu, uint64_t time, uint32_t header, uint32_t a,
                       uint32_t b)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    c->buffer[c->slots++] =
        (struct trace_slot){header | (uint32_t)cpu << TRACE_CPU_SHIFT, (uint32_t)time, a, b};
}

static void write_time(struct mk *mk, unsigned cpu, uint64_t time)
{
    mk->cpu[cpu].high = (uint32_t)(time >> 32);
    write_slot(mk, cpu, time, TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME),
               (uint32_t)(time >> 32), (uint32_t)time);
}

static void write_event(struct writer *writer, const struct sim_event *event)
{
    struct mk *mk = writer->mk;
    uint32_t words[SIM_WORDS + 8] = {0}, n = event->nwords, nslots;
    bool state = event->class == TRACE_CLASS_PR_TH && event->number < PR_TH_CREATED;
    bool signal = event->class == TRACE_CLASS_COMM && event->number == COMM_SIGNAL;
    uint32_t header =
        TRACE_HEADER(0, 0, event->class, event->number) | (event->dump ? TRACE_STATE_DUMP : 0);

    memcpy(words, event->words, n * sizeof(*words));
    n = writer->sim->options.fast && (state || signal) ? 2 : n;
    n = !writer->sim->options.fast && signal ? 10 : n;
    if (event->text != NULL) {
        memcpy(words + n, event->text, strlen(event->text) + 1);
        n += (uint32_t)(strlen(event->text) + 4) / 4;
    }
    if (event->time >> 32 != mk->cpu[event->cpu].high) {
        write_time(mk, event->cpu, event->time - 1);
        mk->cpu[event->cpu].high = (uint32_t)(event->time >> 32);
    }
    nslots = n <= 2 ? 1 : (n + 1) / 2;
    for (uint32_t i = 0; i < nslots; i++) {
        uint32_t structure = nslots == 1       ? TRACE_STRUCT_S
                             : i == 0          ? TRACE_STRUCT_CB
                             : i + 1 == nslots ? TRACE_STRUCT_CE
                                               : TRACE_STRUCT_CC;

        write_slot(mk, event->cpu, event->time, header | structure, words[2 * i], words[2 * i + 1]);
    }
}

static void write_open(struct writer *writer, unsigned cpu, struct write_lane *lane, uint64_t time)
{
    struct mk *mk = writer->mk;

    mk->cpu[cpu].slots = 0;
    write_slot(mk, cpu, time, TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER),
               mk->cpu[cpu].sequence, 0);
    write_time(mk, cpu, time);
    for (unsigned class = 0; class < WRITE_CLASSES; class ++) {
        if (lane->dropped[class] > 0) {
            write_slot(mk, cpu, ++time,
                       TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED),
                       (uint32_t)lane->reason << 8 | class, lane->dropped[class]);
            lane->dropped[class] = 0;
        }
    }
}

/* ---- losses ------------------------------------------------------------------------ */

static void write_cover(struct writer *writer, unsigned cpu, uint64_t from, uint64_t to)
{
    struct sim_written *out = writer->out;

    out->covers[cpu] = mk_grown(out->covers[cpu], out->ncovers[cpu], sizeof(*out->covers[cpu]));
    out->covers[cpu][out->ncovers[cpu]++] = (struct sim_cover){from, to};
}

/* What is lost after the last buffer: from when on the CPU isn't covered. */
static void write_uncover(struct writer *writer, unsigned cpu, struct write_lane *lane)
{
    bool sharp = writer->quiet || lane->reason == KYMO_DROP_OVERWRITTEN;

    if (lane->covered) {
        write_cover(writer, cpu, lane->cover_from, sharp ? lane->last : lane->buffer_from);
    }
    lane->covered = false;
}

static void write_lose(struct writer *writer, unsigned cpu, struct write_lane *lane)
{
    const struct sim *sim = writer->sim;

    for (; lane->at < lane->end; lane->at++) {
        const struct sim_event *event = &sim->events[lane->at];

        if (event->cpu == cpu && !write_filtered(writer->out, event)) {
            lane->dropped[event->class] += !writer->quiet;
        }
    }
    lane->lost = true;
    write_uncover(writer, cpu, lane);
    /* A buffer that was overwritten or is missing had a number. */
    writer->mk->cpu[cpu].sequence += writer->quiet || lane->reason == KYMO_DROP_OVERWRITTEN;
}

static void write_buffer(struct writer *writer, unsigned cpu, struct write_lane *lane)
{
    struct sim *sim = writer->sim;
    bool open = false;

    for (; lane->at < lane->end; lane->at++) {
        struct sim_event *event = &sim->events[lane->at];
        uint64_t from = event->time - SIM_STEP / 2;

        if (event->cpu != cpu || write_filtered(writer->out, event)) {
            continue;
        }
        if (!open) {
            open = true;
            writer->mk->cpu[cpu].sequence++;
            write_open(writer, cpu, lane, from);
            if (!lane->covered) {
                lane->cover_from = lane->begun || lane->lost ? from : 0;
                lane->covered = true;
            }
            lane->begun = true;
            lane->lost = false;
            lane->buffer_from = from;
        }
        write_event(writer, event);
        event->in_file = true;
        lane->last = event->time;
    }
    if (open) {
        mk_flush(writer->mk, cpu);
    }
}

/* The first event after the next `most` ones of the CPU. */
static uint32_t write_end(const struct writer *writer, unsigned cpu, uint32_t at, unsigned most)
{
    for (; at < writer->sim->nevents && most > 0; at++) {
        const struct sim_event *event = &writer->sim->events[at];

        most -= event->cpu == cpu && !write_filtered(writer->out, event);
    }
    return at;
}

static void write_cpu(struct writer *writer, unsigned cpu)
{
    struct sim *sim = writer->sim;
    struct write_lane lane = {.at = sim->start, .reason = KYMO_DROP_OVERWRITTEN};
    bool ring = sim->options.losses && sim_chance(sim, 25);

    lane.end = write_end(writer, cpu, lane.at, sim_below(sim, 60));
    if (ring && write_end(writer, cpu, lane.end, 1) < sim->nevents) { /* its oldest are gone */
        write_lose(writer, cpu, &lane);
        writer->mk->cpu[cpu].sequence += 5;
        memset(lane.dropped, 0, sizeof(lane.dropped));
    }
    while (lane.at < sim->nevents) {
        lane.end = write_end(writer, cpu, lane.at, 1 + sim_below(sim, writer->most));
        if (sim->options.losses && sim_chance(sim, WRITE_LOST) &&
            (!writer->quiet || lane.end < sim->nevents)) {
            if (!lane.lost) {
                lane.reason = sim_chance(sim, 60) ? KYMO_DROP_OVERWRITTEN : KYMO_DROP_NOBUFFER;
            }
            write_lose(writer, cpu, &lane);
        } else {
            write_buffer(writer, cpu, &lane);
        }
    }
    for (unsigned class = 0; class < WRITE_CLASSES; class ++) {
        if (lane.dropped[class] > 0) {
            mk_tail(writer->mk, cpu, lane.reason, class, lane.dropped[class]);
        }
    }
    if (lane.covered) { /* buffers that are missing make the END mark worthless */
        write_cover(writer, cpu, lane.cover_from, writer->quiet ? lane.last : UINT64_MAX);
    } else if (!lane.begun && !lane.lost) { /* it made no event at all */
        write_cover(writer, cpu, 0, UINT64_MAX);
    }
}

void sim_write(struct sim *sim, struct sim_written *out)
{
    static char events[4096];
    char filters[128];
    struct mk_options options = {.ncpu = sim->options.cpus,
                                 .seed = sim->options.seed,
                                 .events = events,
                                 .calls = write_calls,
                                 .filters = filters,
                                 .checked = true};
    struct writer writer = {.sim = sim, .out = out};

    write_events(events, sizeof(events));
    write_filters(sim, out, filters, sizeof(filters));
    out->mk = writer.mk = mk_new(&options);
    writer.most = 5 + sim_below(sim, 80);
    writer.quiet = sim->options.losses && sim_chance(sim, 20);
    for (unsigned cpu = 0; cpu < sim->options.cpus; cpu++) {
        write_cpu(&writer, cpu);
    }
    mk_end(out->mk);
    mk_keep(out->mk);
}
