/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of a capture as JSON, and the words for losses (docs/reference/export.md).
 */
#include <inttypes.h>
#include <stdio.h>

#include "host/export/export.h"
#include "host/symbols/item.h"
#include "trace/slot.h"

#define FUNCTION_ENTER 10
#define FUNCTION_EXIT 11

static void member_name(struct out *out, const char *name)
{
    out_str(out, ",\"");
    out_bytes(out, name, strlen(name));
    out_str(out, "\":");
}

void export_json_member(struct out *out, const char *name, const char *text)
{
    member_name(out, name);
    out_json_text(out, text);
}

void export_json_number(struct out *out, const char *name, int64_t value)
{
    member_name(out, name);
    out_i64(out, value);
}

void export_json_counts(struct out *out, const struct export *export)
{
    out_str(out, "\"events\":");
    out_u64(out, export->count.events);
    export_json_number(out, "control", (int64_t) export->count.control);
    export_json_number(out, "added", (int64_t) export->count.added);
    export_json_number(out, "losses", (int64_t) export->losses);
    export_json_number(out, "lost_events", (int64_t) export->lost);
}

void export_json_known(struct out *out, const char *name, int64_t value, int64_t unknown)
{
    member_name(out, name);
    if (value == unknown) {
        out_str(out, "null");
    } else {
        out_i64(out, value);
    }
}

void export_json_args(struct out *out, struct kev_capture *capture)
{
    const struct kev_value *value;

    out_char(out, '{');
    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        if (i > 0) {
            out_char(out, ',');
        }
        out_json_text(out, value->name);
        out_char(out, ':');
        if (value->type == KEV_VALUE_TEXT) {
            out_json(out, value->text, value->length);
        } else if (value->type == KEV_VALUE_BYTES) {
            out_json_bytes(out, value->text, value->length);
        } else if (value->type == KEV_VALUE_SIGNED) {
            out_i64(out, value->integer);
        } else if (value->type == KEV_VALUE_ADDRESS || value->bits > 32) {
            out_char(out, '"');
            out_hex(out, value->number, value->bits > 32 ? 16 : 8);
            out_char(out, '"');
        } else {
            out_u64(out, value->number);
        }
    }
    out_char(out, '}');
}

const char *export_loss_kind(uint32_t kind)
{
    switch (kind) {
    case KEV_LOSS_COUNTED:
        return "counted";
    case KEV_LOSS_MISSING:
        return "missing";
    case KEV_LOSS_CUT_SHORT:
        return "cut_short";
    case KEV_LOSS_DAMAGED:
        return "damaged";
    case KEV_SCOPE_FILTER:
        return "filter";
    case KEV_SCOPE_GATE:
        return "gate";
    case KEV_SCOPE_PAUSES:
        return "pauses";
    case KEV_SCOPE_OVERWRITTEN:
        return "overwritten";
    case KEV_SCOPE_CUT:
        return "cut";
    case KEV_SCOPE_FOREIGN:
        return "foreign";
    case KEV_SCOPE_SELECTION:
        return "selection";
    case KEV_SCOPE_RETAINED:
        return "retained";
    default:
        return "unknown";
    }
}

bool export_slice_name(struct export *export, const struct kev_item *item, char *to, size_t room)
{
    const struct kev_value *value = NULL;
    char function[SYMBOLS_NAME_MOST];
    uint64_t address;

    if (export->symbols != NULL &&
        symbols_name_item(export->symbols, export->capture, item, &address, function)) {
        snprintf(to, room, "%s", function);
        return true;
    }
    if (item->class_id == TRACE_CLASS_SYSTEM &&
        (item->code == FUNCTION_ENTER || item->code == FUNCTION_EXIT)) {
        value = kev_capture_value_of(export->capture, "thisfn");
    } else if (item->class_id == TRACE_CLASS_INT) {
        value = kev_capture_value_of(export->capture, "interrupt");
    }
    if (value == NULL && item->name == NULL) {
        snprintf(to, room, "%" PRIu32, item->code);
    } else if (value == NULL) {
        snprintf(to, room, "%s", item->name);
    } else if (item->class_id == TRACE_CLASS_SYSTEM) {
        snprintf(to, room, "0x%0*" PRIx64, value->bits > 32 ? 16 : 8, value->number);
    } else {
        snprintf(to, room, "%s %" PRId64 "%s%s", item->name == NULL ? "INT" : item->name,
                 value->integer, value->text == NULL ? "" : " ",
                 value->text == NULL ? "" : value->text);
    }
    return value != NULL;
}

void export_json_capture(struct out *out, const struct kev_facts *facts)
{
    export_json_member(out, "path", facts->path);
    export_json_member(out, "board", facts->board);
    export_json_member(out, "processor", facts->processor);
    export_json_member(out, "release", facts->release);
    export_json_member(out, "image", facts->image);
    export_json_member(out, "build_id", facts->build_id);
    export_json_number(out, "cpus", facts->cpus);
}
