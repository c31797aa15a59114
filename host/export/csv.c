/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --csv: RFC 4180, one line an event, loss or statement of scope. Texts are quoted, as
 * host/csv_text.h has them. An unknown value is an empty column.
 */
#include "host/export/export.h"

static int csv_begin(struct export *export)
{
    out_str(export->out, "kind,ns,cycles,cpu,class,event,number,pid,tid,process,thread,injected,"
                         "args,what,from_ns,to_ns,lost_events,lost_buffers,reason,text,dump\r\n");
    return 0;
}

static void csv_known(struct out *out, int64_t value, int64_t unknown)
{
    out_char(out, ',');
    if (value != unknown) {
        out_i64(out, value);
    }
}

static void csv_when(struct out *out, const struct kev_item *item)
{
    out_i64(out, item->ns);
    out_char(out, ',');
    out_hex(out, item->cycles, 16);
    csv_known(out, item->cpu, -1);
}

/* name:value, with a space between, in one column: events differ in what they have. */
static void export_csv_args(struct export *export)
{
    const struct kev_value *value;
    struct out *out = export->out;

    out_str(out, ",\"");
    for (unsigned i = 0; (value = kev_capture_value(export->capture, i)) != NULL; i++) {
        if (i == 0) {
            out_csv_begin(out, value->name, strlen(value->name));
        } else {
            out_char(out, ' ');
            out_csv_bytes(out, value->name, strlen(value->name));
        }
        out_char(out, ':');
        if (value->type == KEV_VALUE_TEXT || value->type == KEV_VALUE_BYTES) {
            out_csv_bytes(out, value->text, value->length);
        } else if (value->type == KEV_VALUE_SIGNED) {
            out_i64(out, value->integer);
        } else {
            out_hex(out, value->number, value->bits > 32 ? 16 : 8);
        }
    }
    out_char(out, '"');
}

static void export_csv_event(struct export *export, const struct kev_item *item)
{
    struct kev_capture *capture = export->capture;
    struct out *out = export->out;

    out_str(out, "event,");
    csv_when(out, item);
    out_csv_text(out, item->class_name);
    out_csv_text(out, item->name);
    out_char(out, ',');
    out_u64(out, item->code);
    csv_known(out, item->pid, KEV_NOBODY);
    csv_known(out, item->tid, KEV_NOBODY);
    out_csv_text(out,
                 item->pid == KEV_NOBODY ? NULL : kev_capture_name(capture, item->pid, KEV_NOBODY));
    out_csv_text(out,
                 item->tid == KEV_NOBODY ? NULL : kev_capture_name(capture, item->pid, item->tid));
    out_str(out, (item->flags & KEV_FLAG_INJECTED) != 0 ? ",1" : ",0");
    export_csv_args(export);
    out_str(out, (item->flags & KEV_FLAG_DUMP) != 0 ? ",,,,,,,,1\r\n" : ",,,,,,,,0\r\n");
}

static void csv_loss(struct out *out, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;

    if (item->kind == KEV_ITEM_LOSS) {
        out_str(out, "loss,");
        csv_when(out, item);
    } else {
        out_str(out, "scope,,");
        csv_known(out, item->cpu, -1);
    }
    out_csv_text(out, loss->class_name);
    out_str(out, ",,,,,,,,,");
    out_str(out, export_loss_kind(loss->kind));
    csv_known(out, loss->from_ns, KEV_EVER);
    csv_known(out, loss->to_ns, KEV_NEVER);
    csv_known(out, (int64_t)loss->events, 0);
    csv_known(out, (int64_t)loss->buffers, 0);
    out_csv_text(out, loss->reason);
    out_csv_text(out, loss->text);
    out_str(out, ",\r\n");
}

static int csv_item(struct export *export, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        export_csv_event(export, item);
    } else if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        csv_loss(export->out, item);
    }
    return 0;
}

static int csv_end(struct export *export)
{
    out_str(export->out, export->fault == KEV_FAULT_NONE ? "end,,,,,,,,,,,,,complete,,,"
                                                         : "end,,,,,,,,,,,,,incomplete,,,");
    out_u64(export->out, export->lost);
    out_str(export->out, ",,,,\r\n");
    return 0;
}

const struct export_format export_csv = {
    .name = "csv", .begin = csv_begin, .item = csv_item, .end = csv_end};
