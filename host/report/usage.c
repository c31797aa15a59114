/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stretches behind the views of a page (docs/reference/report-data.md): who ran where, who
 * waited how, messages, interrupts. They are the stretches that `kymo stat` accounts (host/stat/,
 * which calls the functions of struct stat_watch), so the sums over a whole capture are its
 * figures. A second pass over the capture; memory does not grow with the events. Proof:
 * test/host/report/views.py.
 */
#include <stdlib.h>
#include <string.h>

#include "host/memory_stream.h"
#include "host/report/report.h"
#include "host/stat/stat.h"
#include "host/when.h"

#define NOT_KNOWN 255 /* a CPU */

enum message { MESSAGE_SENT, MESSAGE_RECEIVED, MESSAGE_REPLIED, MESSAGE_ERROR };
enum interrupt { INTERRUPT_ENTERED, INTERRUPT_HANDLED };

/* A CPU's work is an interrupt's until something else is seen there. */
struct cause {
    bool is_interrupt;
    uint32_t line;
    uint64_t since;
};

struct woken {           /* a thread that an interrupt made READY */
    bool pending, calls; /* calls: it is in a kernel call */
    uint32_t line, epoch;
    uint64_t since;
};

struct usage {
    struct pack *pack;
    const struct report *report;
    const struct report_threads *threads;
    struct kev *kev;
    struct stat *stat;
    uint64_t known_since; /* the common clock goes since then, if it goes */
    bool goes;
    struct stream known, ran, moves, waited, woken, messages, served, interrupts;
    struct cause causes[KEV_CPUS];
    struct woken *wakes; /* by the thread's index */
};

static int64_t report_usage_ns_of(const struct usage *usage, uint64_t time)
{
    return kymo_when_ns(time, kev_info(usage->kev)->start, kev_info(usage->kev)->cycles_per_sec);
}

static uint32_t index_of(const struct usage *usage, const struct thread *thread, int64_t ns)
{
    return thread == NULL ? REPORT_NOBODY
                          : threads_find(usage->threads, thread->pid, thread->tid, ns);
}

static void row_put(struct usage *usage, struct stream *stream, uint64_t from, uint64_t to,
                    uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t values[4] = {a, b, c, d};

    stream_row(usage->pack, stream, report_usage_ns_of(usage, to), report_usage_ns_of(usage, from),
               values);
}

/* ---- what the account tells -------------------------------------------------------- */

static void epoch_began(void *arg, uint64_t now, bool goes)
{
    struct usage *usage = arg;

    if (usage->goes) {
        row_put(usage, &usage->known, usage->known_since, now, 0, 0, 0, 0);
    }
    usage->known_since = now;
    usage->goes = goes;
}

static void cpu_ran(void *arg, unsigned cpu, const struct thread *thread, uint64_t from,
                    uint64_t to)
{
    struct usage *usage = arg;

    row_put(usage, &usage->ran, from, to, index_of(usage, thread, report_usage_ns_of(usage, from)),
            cpu, 0, 0);
}

static void thread_moved(void *arg, const struct thread *thread, int from, unsigned cpu,
                         uint64_t now)
{
    struct usage *usage = arg;

    row_put(usage, &usage->moves, now, now, index_of(usage, thread, report_usage_ns_of(usage, now)),
            from < 0 ? NOT_KNOWN : (uint32_t)from, cpu, 0);
}

static void thread_waited(void *arg, const struct thread *thread, unsigned state, uint64_t from,
                          uint64_t to)
{
    struct usage *usage = arg;

    row_put(usage, &usage->waited, from, to,
            index_of(usage, thread, report_usage_ns_of(usage, from)), state, 0, 0);
}

static void report_usage_message_put(struct usage *usage, const struct thread *client, uint64_t now,
                                     enum message what)
{
    const struct open_send *send = &client->send;
    int64_t ns = report_usage_ns_of(usage, send->sent);

    row_put(usage, &usage->messages, send->sent, now, index_of(usage, client, ns),
            (uint32_t)send->pair->to->pid, what,
            index_of(usage, send->server, report_usage_ns_of(usage, now)));
}

static void report_usage_message_sent(void *arg, const struct thread *client, int32_t to,
                                      uint64_t now)
{
    struct usage *usage = arg;

    row_put(usage, &usage->messages, now, now,
            index_of(usage, client, report_usage_ns_of(usage, now)), (uint32_t)to, MESSAGE_SENT,
            REPORT_NOBODY);
}

static void report_usage_message_received(void *arg, const struct thread *client)
{
    report_usage_message_put(arg, client, client->send.received, MESSAGE_RECEIVED);
}

static void report_usage_message_replied(void *arg, const struct thread *client, uint64_t now,
                                         bool error)
{
    report_usage_message_put(arg, client, now, error ? MESSAGE_ERROR : MESSAGE_REPLIED);
}

static void client_served(void *arg, const struct thread *client, const struct thread *server,
                          uint64_t from, uint64_t to)
{
    struct usage *usage = arg;
    int64_t ns = report_usage_ns_of(usage, from);

    row_put(usage, &usage->served, from, to, index_of(usage, client, ns),
            index_of(usage, server, ns), 0, 0);
}

static void interrupt_entered(void *arg, uint32_t line, unsigned cpu, uint64_t now)
{
    struct usage *usage = arg;

    row_put(usage, &usage->interrupts, now, now, line, cpu, 0, INTERRUPT_ENTERED);
}

static void interrupt_handled(void *arg, uint32_t line, unsigned cpu, unsigned depth, uint64_t from,
                              uint64_t to)
{
    struct usage *usage = arg;

    row_put(usage, &usage->interrupts, from, to, line, cpu, depth, INTERRUPT_HANDLED);
}

/* ---- from an interrupt to the thread that it woke ---------------------------------- */

/*
 * The rule of the timeline (host/timeline/others.c): a thread that waited is READY by the interrupt
 * that came last on that CPU if nothing else was seen there since, and if no kernel call was
 * interrupted whose doing it could be, but for waits that only interrupts end.
 */
static bool wakes_thread(const struct usage *usage, const struct thread *thread, unsigned on)
{
    const struct stat *stat = usage->stat;
    const struct thread *current = stat->cpus[on].current;
    bool waits = thread->state > STATE_READY;
    bool calls = current != NULL && !stat_is_idle(stat, current->pid, current->tid) &&
                 usage->wakes[current->index].calls;

    return usage->causes[on].is_interrupt && waits &&
           (!calls || thread->state == STATE_NANOSLEEP || thread->state == STATE_INTR);
}

static void state_follow(struct usage *usage, const struct kev_event *event, unsigned state)
{
    const struct cause *cause = &usage->causes[event->cpu];
    const struct thread *thread =
        thread_find(usage->stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));
    struct woken *woken;

    if (thread == NULL) { /* it is met with this event */
        usage->causes[event->cpu].is_interrupt &= state != STATE_RUNNING;
        return;
    }
    woken = &usage->wakes[thread->index];
    if (state == STATE_READY && wakes_thread(usage, thread, event->cpu)) {
        *woken = (struct woken){true, woken->calls, cause->line, usage->stat->epoch, cause->since};
    } else if (state == STATE_RUNNING && woken->pending) {
        if (stat_known_since(usage->stat, woken->epoch)) {
            row_put(usage, &usage->woken, woken->since, event->time,
                    index_of(usage, thread, report_usage_ns_of(usage, event->time)), woken->line,
                    event->cpu, 0);
        }
        woken->pending = false;
    } else if (state != STATE_READY) {
        woken->pending = false;
    }
    usage->causes[event->cpu].is_interrupt &= state != STATE_RUNNING;
}

/* Before the account takes the event: the states are those that it finds. */
static void event_follow(struct usage *usage, const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    struct cause *cause = &usage->causes[event->cpu];
    const struct thread *current = usage->stat->cpus[event->cpu].current;

    if (event->injected) {
        return;
    }
    switch (event->class) {
    case TRACE_CLASS_INT:
        if (number == 1) {
            *cause = (struct cause){true, kev_word(event, 0), event->time};
        }
        break;
    case TRACE_CLASS_PR_TH:
        if (number < STATE_MAX) {
            state_follow(usage, event, number);
        }
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        if (current != NULL) {
            usage->wakes[current->index].calls =
                (number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT)) == TRACE_KERCALL_ENTER;
        }
        cause->is_interrupt = false;
        break;
    case TRACE_CLASS_COMM: /* messages: no interrupt's doing; pulses may be */
        cause->is_interrupt &= number != 0 && number != 2 && number < 10;
        break;
    case TRACE_CLASS_USER:
        cause->is_interrupt = false;
        break;
    default:
        break;
    }
}

/* ---- the pass ---------------------------------------------------------------------- */

static bool streams_new(struct usage *usage)
{
    static const unsigned none[4] = {0}, thread_cpu[4] = {3, 1, 0, 0}, moves[4] = {3, 1, 1, 0},
                          woken[4] = {3, 2, 1, 0}, messages[4] = {3, 4, 1, 3},
                          served[4] = {3, 3, 0, 0}, interrupts[4] = {2, 1, 1, 1};

    return stream_new(&usage->known, "known", NULL, true, none) &&
           stream_new(&usage->ran, "ran", "bk", true, thread_cpu) &&
           stream_new(&usage->moves, "moves", "bkk", false, moves) &&
           stream_new(&usage->waited, "waited", "bk", true, thread_cpu) &&
           stream_new(&usage->woken, "woken", "ekk", true, woken) &&
           stream_new(&usage->messages, "messages", "bkkk", true, messages) &&
           stream_new(&usage->served, "served", "bk", true, served) &&
           stream_new(&usage->interrupts, "interrupts", "kkkk", true, interrupts);
}

static void streams_end(struct usage *usage, bool write)
{
    struct stream *all[] = {&usage->known, &usage->ran,      &usage->moves,  &usage->waited,
                            &usage->woken, &usage->messages, &usage->served, &usage->interrupts};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (write) {
            stream_write(usage->pack, all[i]);
        }
        stream_free(all[i]);
    }
}

/* The reader's complaints are not printed here: the first pass has printed them (cmd.c). */
static void account_read(struct usage *usage)
{
    struct kev_event event;
    struct kev_error error = {0};
    uint64_t n = 0;

    while (!usage->pack->failed && kev_next(usage->kev, &event, &error) == KEV_EVENT) {
        event_follow(usage, &event);
        stat_event(usage->stat, &event);
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"accounting", event.offset, kev_info(usage->kev)->size);
        }
    }
    kymo_progress_end();
    usage->pack->failed |= error.no_memory;
    stat_finish(usage->stat);
    if (usage->goes) {
        epoch_began(usage, usage->stat->last, false);
    }
}

static void report_usage_account_json(const struct usage *usage, struct bytes *json)
{
    const struct stat *stat = usage->stat;
    const char *filters = filter_doubt(stat), *losses = stat_doubt(stat);
    int64_t changed =
        stat->filter.changed ? report_usage_ns_of(usage, stat->filter.changed_at) : -1;

    bytes_text(json, "\"usage\":{\"filters\":");
    bytes_json(json, filters, filters == NULL ? 0 : strlen(filters));
    bytes_text(json, ",\"losses\":");
    bytes_json(json, losses, losses == NULL ? 0 : strlen(losses));
    bytes_text(json, ",\"changed\":");
    bytes_number(json, changed);
    bytes_text(json, ",\"notCounted\":");
    bytes_number(json, (int64_t)stat->overflow);
    bytes_text(json, ",\"lines\":[");
    for (unsigned line = 0, n = 0; line < STAT_IRQS; line++) {
        const char *name = kev_irq_name(usage->kev, line);

        if (stat->irqs[line].count > 0 && name != NULL) {
            bytes_text(json, n++ == 0 ? "[" : ",[");
            bytes_number(json, line);
            bytes_text(json, ",");
            bytes_json(json, name, strlen(name));
            bytes_text(json, "]");
        }
    }
    bytes_text(json, "]}");
}

/* The output of `kymo stat`, as lines, and as JSON. */
static void summary_json(struct stat *stat, struct bytes *json)
{
    const struct stat_style style = {.bold = false};
    char *text = NULL;
    size_t length = 0;
    FILE *to = memory_stream(&text, &length);

    if (to == NULL) {
        json->failed = true;
        return;
    }
    text_show(to, stat, &style);
    json->failed |= fclose(to) != 0;
    bytes_text(json, "\"summary\":[");
    for (const char *at = text; at != NULL && *at != '\0';) {
        size_t line = strcspn(at, "\n");

        bytes_text(json, at == text ? "" : ",\n");
        bytes_json(json, at, line);
        at += line + (at[line] == '\n');
    }
    bytes_text(json, "]");
    free(text);
    to = memory_stream(&text, &length);
    if (to == NULL) {
        json->failed = true;
        return;
    }
    json_show(to, stat);
    if (fclose(to) != 0) {
        json->failed = true;
        return;
    }
    bytes_text(json, ",\n\"stat\":");
    bytes_text(json, text);
    free(text);
}

bool usage_summary(const struct report *report, struct bytes *json)
{
    struct kev_options options = {.recover = report->recover};
    struct kev_error error = {0};
    struct kev_event event;
    struct kev *kev = kev_open(report->input, &options, &error);
    struct stat *stat = kev == NULL ? NULL : stat_new(kev);
    uint64_t n = 0;

    while (stat != NULL && kev_next(kev, &event, &error) == KEV_EVENT) {
        stat_event(stat, &event);
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"accounting", event.offset, kev_info(kev)->size);
        }
    }
    kymo_progress_end();
    if (stat != NULL) {
        stat_finish(stat);
        summary_json(stat, json);
        stat_free(stat);
    }
    bool good = stat != NULL && !error.no_memory;
    free(stat);
    if (kev != NULL) {
        kev_close(kev);
    }
    return good;
}

bool usage_write(struct report *report, struct pack *pack, struct bytes *json)
{
    struct usage usage = {.pack = pack, .report = report, .threads = report->threads};
    struct kev_options options = {.recover = report->recover,
                                  .memory = report->memory,
                                  .memory_bytes = report->by_descriptor
                                                      ? kev_capture_facts(report->capture)->bytes
                                                      : report->memory_bytes,
                                  .by_descriptor = report->by_descriptor,
                                  .descriptor = report->descriptor};
    const struct stat_watch watch = {&usage,
                                     epoch_began,
                                     cpu_ran,
                                     thread_moved,
                                     thread_waited,
                                     report_usage_message_sent,
                                     report_usage_message_received,
                                     report_usage_message_replied,
                                     client_served,
                                     interrupt_entered,
                                     interrupt_handled};
    struct kev_error error;
    bool good = streams_new(&usage);

    usage.wakes = calloc(STAT_THREADS + 1, sizeof(*usage.wakes));
    good = good && usage.wakes != NULL;

    usage.kev = good ? kev_open(report->input, &options, &error) : NULL;
    if (good && usage.kev == NULL) {
        snprintf(report->fault, sizeof(report->fault), "%.500s", error.text);
    }
    usage.stat = usage.kev == NULL ? NULL : stat_new(usage.kev);
    good = usage.stat != NULL;
    if (good) {
        usage.stat->watch = &watch;
        account_read(&usage);
        report_usage_account_json(&usage, json);
        if (report->levels) {
            bytes_text(json, ",\n");
            summary_json(usage.stat, json);
        }
        stat_free(usage.stat);
        free(usage.stat);
    }
    if (usage.kev != NULL) {
        kev_close(usage.kev);
    }
    streams_end(&usage, good);
    free(usage.wakes);
    return good;
}
