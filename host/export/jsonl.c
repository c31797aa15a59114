/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --jsonl: one JSON object a line, each with a "kind": the capture, scope, events and losses in
 * their order, and the end. A file without the last line is not complete.
 */
#include "host/export/export.h"

static int jsonl_begin(struct export *export)
{
    const struct kev_facts *facts = export->facts;
    struct out *out = export->out;

    out_str(out, "{\"kind\":\"capture\"");
    export_json_capture(out, facts);
    out_str(out, ",\"cycles_per_second\":");
    out_u64(out, facts->cycles_per_second);
    out_str(out, facts->clock_known ? ",\"clock_known\":true" : ",\"clock_known\":false");
    out_str(out, ",\"skew_cycles\":");
    out_u64(out, facts->skew_cycles);
    out_str(out, ",\"start\":\"");
    out_hex(out, facts->start, 16);
    out_str(out, "\"}\n");
    return 0;
}

static void jsonl_when(struct out *out, const struct kev_item *item)
{
    export_json_number(out, "ns", item->ns);
    out_str(out, ",\"cycles\":\"");
    out_hex(out, item->cycles, 16);
    out_char(out, '"');
    export_json_known(out, "cpu", item->cpu, -1);
}

static void jsonl_event(struct export *export, const struct kev_item *item)
{
    struct kev_capture *capture = export->capture;
    struct out *out = export->out;
    const char *process =
        item->pid == KEV_NOBODY ? NULL : kev_capture_name(capture, item->pid, KEV_NOBODY);

    out_str(out, "{\"kind\":\"event\"");
    jsonl_when(out, item);
    export_json_member(out, "class", item->class_name);
    export_json_member(out, "event", item->name);
    export_json_number(out, "number", item->code);
    export_json_known(out, "pid", item->pid, KEV_NOBODY);
    export_json_known(out, "tid", item->tid, KEV_NOBODY);
    export_json_member(out, "process", process);
    export_json_member(out, "thread",
                       item->tid == KEV_NOBODY ? NULL
                                               : kev_capture_name(capture, item->pid, item->tid));
    out_str(out, (item->flags & KEV_FLAG_INJECTED) != 0 ? ",\"injected\":true,\"args\":"
                                                        : ",\"injected\":false,\"args\":");
    export_json_args(out, capture);
    out_str(out, (item->flags & KEV_FLAG_DUMP) != 0 ? ",\"dump\":true}\n" : ",\"dump\":false}\n");
}

static void jsonl_loss(struct out *out, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;

    out_str(out, item->kind == KEV_ITEM_LOSS ? "{\"kind\":\"loss\"" : "{\"kind\":\"scope\"");
    if (item->kind == KEV_ITEM_LOSS) {
        jsonl_when(out, item);
    } else {
        export_json_known(out, "cpu", item->cpu, -1);
    }
    export_json_member(out, "what", export_loss_kind(loss->kind));
    export_json_member(out, "class", loss->class_name);
    export_json_known(out, "from_ns", loss->from_ns, KEV_EVER);
    export_json_known(out, "to_ns", loss->to_ns, KEV_NEVER);
    export_json_known(out, "events", (int64_t)loss->events, 0);
    export_json_known(out, "buffers", (int64_t)loss->buffers, 0);
    export_json_member(out, "reason", loss->reason);
    export_json_member(out, "text", loss->text);
    out_str(out, "}\n");
}

static int jsonl_item(struct export *export, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        jsonl_event(export, item);
    } else if (item->kind == KEV_ITEM_LOSS || item->kind == KEV_ITEM_SCOPE) {
        jsonl_loss(export->out, item);
    }
    return 0;
}

static int jsonl_end(struct export *export)
{
    struct out *out = export->out;

    out_str(out, "{\"kind\":\"end\"");
    out_char(out, ',');
    export_json_counts(out, export);
    out_str(out,
            export->fault == KEV_FAULT_NONE ? ",\"complete\":true}\n" : ",\"complete\":false}\n");
    return 0;
}

const struct export_format export_jsonl = {
    .name = "jsonl", .begin = jsonl_begin, .item = jsonl_item, .end = jsonl_end};
