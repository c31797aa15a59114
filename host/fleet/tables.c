/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as rows of CSV, which DuckDB and ClickHouse read alike: a text is quoted and its quotes
 * are doubled, an unknown value is \N. Texts of the capture are escaped as in `kymo export --csv`;
 * a formula stays as it is.
 *
 * Memory grows with threads and open messages only: a file that has FLEET_ROWS rows goes to the
 * sink, and a new one is begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/sys/states.h"
#include "host/event_numbers.h"
#include "host/export/follow.h"
#include "host/fleet/fleet.h"
#include "host/fleet/values.h"
#include "host/id_tree.h"
#include "host/kymo.h"

#define FLEET_ROWS 2000000 /* of a file */

struct file { /* of rows of one table */
    struct out *out;
    unsigned part;
    uint64_t rows;
    char path[PATH_MAX];
};

struct message { /* that has no reply yet */
    struct id_node node;
    int64_t sent, received; /* KEV_NEVER: not seen */
    int32_t server;         /* pid */
    int32_t server_tid;     /* KEV_NOBODY: not known */
};

struct writer {
    struct fleet_capture *capture;
    const struct fleet_sink *sink;
    struct flow *flow;
    struct file files[FLEET_TABLES];
    struct out *args;        /* an event's values; what does not fit goes to its file in memory */
    struct id_tree messages; /* by the flow's id */
    int64_t first, last;     /* ns of events */
    uint64_t rows;           /* of the table of events */
    struct fleet_times times;
    bool failed; /* a file, or no memory: reported */
};

static struct writer *writer_of(const struct export *export)
{
    return export->state;
}

/* ---- values ------------------------------------------------------------------------ */

/* The time of the row at `ns`. */
static void fleet_tables_time_put(struct writer *writer, struct out *out, int64_t ns)
{
    fleet_maybe_put(out, fleet_time_at(&writer->times, ns), KEV_NEVER);
}

/* The values of the event last given, as a JSON object. */
static void args_put(struct writer *writer, struct out *out)
{
    struct out *args = writer->args;
    char bytes[4096];
    off_t at = 0;
    ssize_t n;

    export_json_args(args, writer->capture->export.capture);
    out_str(out, ",\"");
    if (lseek(args->fd, 0, SEEK_CUR) > 0) {
        while ((n = pread(args->fd, bytes, sizeof(bytes), at)) > 0) {
            fleet_quoted_put(out, bytes, (size_t)n);
            at += n;
        }
        writer->failed |= args->error != 0 || ftruncate(args->fd, 0) != 0;
        lseek(args->fd, 0, SEEK_SET);
    }
    fleet_quoted_put(out, args->bytes, args->used);
    out_char(out, '"');
    args->used = 0;
}

/* ---- files ------------------------------------------------------------------------- */

static void file_open(struct writer *writer, unsigned table)
{
    struct file *file = &writer->files[table];

    if (snprintf(file->path, sizeof(file->path), "%s/%s-%u.csv", writer->sink->folder,
                 fleet_tables[table].name, file->part) >= (int)sizeof(file->path)) {
        errno = ENAMETOOLONG;
    } else {
        file->out->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    file->rows = 0;
    if (file->out->fd < 0) {
        kymo_error("%s: %s", file->path, strerror(errno));
        writer->failed = true;
    }
}

static void file_close(struct writer *writer, unsigned table)
{
    struct file *file = &writer->files[table];

    if (file->out == NULL || file->out->fd < 0) {
        return;
    }
    out_flush(file->out);
    if (close(file->out->fd) != 0 && file->out->error == 0) {
        file->out->error = errno;
    }
    file->out->fd = -1;
    if (file->out->error != 0 && !writer->failed) {
        kymo_error("%s: %s", file->path, strerror(file->out->error));
        writer->failed = true;
    }
    if (!writer->failed &&
        writer->sink->take(writer->sink->arg, table, file->part, file->path) != 0) {
        writer->failed = true;
    }
    file->part++;
}

/* Begins a row: what the sink puts first, then the capture. */
static struct out *row_begin(struct writer *writer, unsigned table)
{
    struct file *file = &writer->files[table];

    if (file->rows == FLEET_ROWS && !writer->failed) {
        file_close(writer, table);
        file_open(writer, table);
    }
    file->rows++;
    out_str(file->out, writer->sink->prefix);
    out_str(file->out, writer->capture->id);
    return file->out;
}

/* ---- rows -------------------------------------------------------------------------- */

static const char *fleet_tables_process_name(const struct writer *writer, int32_t pid)
{
    return pid == KEV_NOBODY ? NULL
                             : kev_capture_name(writer->capture->export.capture, pid, KEV_NOBODY);
}

static void fleet_tables_names_put(const struct writer *writer, struct out *out, int32_t pid,
                                   int32_t tid)
{
    fleet_text_put(out, fleet_tables_process_name(writer, pid));
    fleet_text_put(out, tid == KEV_NOBODY
                            ? NULL
                            : kev_capture_name(writer->capture->export.capture, pid, tid));
}

static void fleet_tables_event_put(struct writer *writer, const struct kev_item *item)
{
    struct out *out = row_begin(writer, FLEET_EVENTS);

    fleet_int_put(out, (int64_t)writer->rows++);
    fleet_int_put(out, item->ns);
    fleet_tables_time_put(writer, out, item->ns);
    fleet_int_put(out, item->cpu);
    fleet_text_put(out, item->class_name);
    fleet_text_put(out, item->name);
    fleet_int_put(out, item->code);
    fleet_maybe_put(out, item->pid, KEV_NOBODY);
    fleet_maybe_put(out, item->tid, KEV_NOBODY);
    fleet_tables_names_put(writer, out, item->pid, item->tid);
    args_put(writer, out);
    out_char(out, '\n');
}

static void fleet_tables_state_put(void *arg, const struct flow_thread *thread,
                                   const struct flow_state *state, int64_t to, bool ended)
{
    struct writer *writer = writer_of(arg);
    struct out *out;

    (void)ended;
    if (!export_flow_shows(state, to)) {
        return;
    }
    out = row_begin(writer, FLEET_STATES);
    fleet_int_put(out, thread->pid);
    fleet_int_put(out, thread->tid);
    fleet_tables_names_put(writer, out, thread->pid, thread->tid);
    fleet_text_put(out, flow_state_name((unsigned)state->state));
    fleet_maybe_put(out, state->state == STATE_RUNNING ? state->cpu : -1, -1);
    fleet_maybe_put(out, thread->priority, -1);
    fleet_int_put(out, state->since);
    fleet_tables_time_put(writer, out, state->since);
    fleet_int_put(out, to - state->since);
    out_char(out, '\n');
}

static struct message *message_find(const struct writer *writer, uint64_t id)
{
    return (struct message *)id_tree_find(&writer->messages, id);
}

/* A message is over at `ns`. */
static void fleet_tables_message_put(struct writer *writer, const struct flow_thread *client,
                                     uint64_t id, const char *outcome, int64_t ns)
{
    struct message *message = message_find(writer, id);
    struct out *out;

    if (message == NULL) {
        return;
    }
    out = row_begin(writer, FLEET_MESSAGES);
    fleet_int_put(out, client->pid);
    fleet_int_put(out, client->tid);
    fleet_text_put(out, fleet_tables_process_name(writer, client->pid));
    fleet_int_put(out, message->server);
    fleet_maybe_put(out, message->server_tid, KEV_NOBODY);
    fleet_text_put(out, fleet_tables_process_name(writer, message->server));
    fleet_text_put(out, outcome);
    fleet_int_put(out, message->sent);
    fleet_tables_time_put(writer, out, message->sent);
    fleet_maybe_put(out, message->received, KEV_NEVER);
    fleet_maybe_put(out, ns == KEV_NEVER ? ns : ns - message->sent, KEV_NEVER);
    out_char(out, '\n');
    id_tree_remove(&writer->messages, &message->node);
    free(message);
}

static void message_abandon(void *arg, const struct flow_thread *client, int64_t ns,
                            enum flow_ending ending)
{
    (void)ns;
    (void)ending;
    fleet_tables_message_put(writer_of(arg), client, client->message, "unknown", KEV_NEVER);
}

static void message_step(struct writer *writer, const struct kev_item *item,
                         const struct flow_step *step)
{
    struct message *message;

    switch (step->message) {
    case FLOW_SENT:
        message = calloc(1, sizeof(*message));
        if (message == NULL) {
            kymo_error("out of memory");
            writer->failed = true;
            return;
        }
        *message = (struct message){.sent = step->ns,
                                    .received = KEV_NEVER,
                                    .server = step->party->server,
                                    .server_tid = KEV_NOBODY};
        id_tree_add(&writer->messages, &message->node, step->message_id);
        break;
    case FLOW_RECEIVED:
        message = message_find(writer, step->message_id);
        if (message != NULL) {
            message->received = step->ns;
            message->server_tid = step->party->tid;
        }
        break;
    case FLOW_REPLIED:
        fleet_tables_message_put(writer, step->party, step->message_id,
                                 item->code == NUMBER_comm_msg_error ? "error" : "reply", step->ns);
        break;
    default:
        break;
    }
}

static void fleet_tables_loss_put(struct writer *writer, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;
    bool is_loss = item->kind == KEV_ITEM_LOSS;
    struct out *out = row_begin(writer, FLEET_LOSSES);

    fleet_text_put(out, is_loss ? "loss" : "scope");
    fleet_text_put(out, export_loss_kind(loss->kind));
    fleet_maybe_put(out, is_loss ? item->ns : KEV_NEVER, KEV_NEVER);
    fleet_tables_time_put(writer, out, is_loss ? item->ns : KEV_NEVER);
    fleet_maybe_put(out, item->cpu, -1);
    fleet_text_put(out, loss->class_name);
    fleet_maybe_put(out, loss->from_ns, KEV_EVER);
    fleet_maybe_put(out, loss->to_ns, KEV_NEVER);
    fleet_maybe_put(out, (int64_t)loss->events, 0);
    fleet_maybe_put(out, (int64_t)loss->buffers, 0);
    fleet_text_put(out, loss->reason);
    fleet_text_put(out, loss->text);
    out_char(out, '\n');
}

static void capture_put(struct writer *writer)
{
    const struct export *export = &writer->capture->export;
    const struct kev_facts *facts = export->facts;
    static const char *const attributes[] = {"RETAINED", "PANIC", "PANIC_REASON", "PANIC_WHERE"};
    struct out *out = row_begin(writer, FLEET_CAPTURES);
    const char *value;

    fleet_text_put(out, writer->capture->file);
    fleet_text_put(out, facts->board);
    fleet_text_put(out, facts->processor);
    fleet_text_put(out, facts->release);
    fleet_text_put(out, facts->image);
    fleet_text_put(out, facts->build_id);
    fleet_maybe_put(out, writer->times.recorded, KEV_NEVER);
    fleet_maybe_put(out, writer->times.booted, KEV_NEVER);
    fleet_maybe_put(out, writer->times.started, KEV_NEVER);
    fleet_text_put(out, writer->times.clock);
    fleet_int_put(out, facts->cpus);
    fleet_int_put(out, (int64_t)writer->capture->bytes);
    fleet_int_put(out, writer->last - writer->first);
    fleet_int_put(out, (int64_t) export->count.events);
    fleet_int_put(out, (int64_t) export->losses);
    fleet_int_put(out, (int64_t) export->lost);
    fleet_int_put(out, export->fault == KEV_FAULT_NONE);
    for (unsigned i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        value = kev_capture_attribute(export->capture, attributes[i]);
        fleet_text_put(out, value != NULL && strcmp(value, "none") == 0 ? NULL : value);
    }
    out_char(out, '\n');
}

/* ---- the format -------------------------------------------------------------------- */

static struct out *out_new(int fd)
{
    struct out *out = calloc(1, sizeof(*out));

    if (out == NULL) {
        kymo_error("out of memory");
        return NULL;
    }
    out->fd = fd;
    return out;
}

static int fleet_tables_begin_all(struct export *export)
{
    static const struct flow_ops ops = {.span = fleet_tables_state_put, .abandon = message_abandon};
    struct writer *writer = writer_of(export);
    int memory = memfd_create("kymo-values", MFD_CLOEXEC);

    writer->args = out_new(memory);
    if (memory < 0 || writer->args == NULL) {
        kymo_error("no file in memory: %s", strerror(errno));
        return -1;
    }
    for (unsigned i = 0; i < FLEET_TABLES; i++) {
        writer->files[i].out = out_new(-1);
        if (writer->files[i].out == NULL) {
            return -1;
        }
        file_open(writer, i);
    }
    writer->flow = export_flow_new(export, &ops);
    return writer->flow == NULL || writer->failed ? -1 : 0;
}

static int tables_item(struct export *export, const struct kev_item *item)
{
    struct writer *writer = writer_of(export);
    struct flow_step step;

    if (item->kind == KEV_ITEM_EVENT) {
        if (writer->rows == 0) {
            writer->first = item->ns;
        }
        writer->last = item->ns;
        if (export_flow_take(writer->flow, item, &step) != 0) {
            return -1;
        }
        fleet_tables_event_put(writer, item);
        message_step(writer, item, &step);
    } else if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        fleet_tables_loss_put(writer, item);
    }
    for (unsigned i = 0; i < FLEET_TABLES; i++) {
        if (writer->files[i].out->error != 0) {
            file_close(writer, i); /* says why */
        }
    }
    return writer->failed || fleet_stopped != 0 ? -1 : 0;
}

static int tables_end(struct export *export)
{
    struct writer *writer = writer_of(export);

    flow_end(writer->flow);
    capture_put(writer);
    for (unsigned i = 0; i < FLEET_TABLES; i++) {
        file_close(writer, i);
    }
    return writer->failed || fleet_stopped != 0 ? -1 : 0;
}

static void tables_discard(struct export *export)
{
    struct writer *writer = writer_of(export);
    struct id_node *message;

    if (writer->flow != NULL) {
        flow_free(writer->flow);
    }
    for (unsigned i = 0; i < FLEET_TABLES; i++) {
        if (writer->files[i].out != NULL && writer->files[i].out->fd >= 0) {
            close(writer->files[i].out->fd);
        }
        free(writer->files[i].out);
    }
    while ((message = id_tree_take(&writer->messages)) != NULL) {
        free(message);
    }
    if (writer->args != NULL && writer->args->fd >= 0) {
        close(writer->args->fd);
    }
    free(writer->args);
}

static const struct export_format tables_format = {.name = "parquet",
                                                   .begin = fleet_tables_begin_all,
                                                   .item = tables_item,
                                                   .end = tables_end,
                                                   .discard = tables_discard};

int fleet_tables_write(struct fleet_capture *capture, const struct fleet_sink *sink, bool *broken)
{
    struct writer *writer = calloc(1, sizeof(*writer));
    int status = KYMO_FAILURE;

    *broken = true;
    if (writer == NULL) {
        kymo_error("out of memory");
        return status;
    }
    writer->capture = capture;
    writer->sink = sink;
    fleet_times_find(&capture->export, &writer->times);
    capture->export.format = &tables_format;
    capture->export.state = writer;
    status = export_format_run(&capture->export, broken);
    free(writer);
    return status;
}
