/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --json: one object a line (see row.h). A value that may need more than 53 bits and is not a
 * count is a string of hexadecimal digits, because many readers of JSON hold numbers as doubles:
 * `cycles`, addresses (P) and 64-bit patterns (X). Every other value is a number. Texts
 * are as host/json_text.h has them, so a line is valid JSON whatever the capture holds.
 */
#include "host/print/row.h"

static void json_id(struct out *out, bool known, int32_t value)
{
    if (known) {
        out_i64(out, value);
    } else {
        out_str(out, "null");
    }
}

static void print_json_hex(struct out *out, uint64_t value, unsigned digits)
{
    out_char(out, '"');
    out_hex(out, value, digits);
    out_char(out, '"');
}

static void json_args(struct out *out, const struct record *record, const struct kev_event *event)
{
    if (record->args == RECORD_TEXT) {
        out_str(out, "\"str\":");
        out_json(out, (const char *)event->words, record->text_len);
    }
    for (unsigned i = 0; record->args == RECORD_WORDS && i < event->nwords; i++) {
        out_str(out, i == 0 ? "\"d" : ",\"d");
        out_u64(out, i);
        out_str(out, "\":");
        out_u64(out, kev_word(event, i));
    }
    for (unsigned i = 0; record->args == RECORD_FIELDS && i < record->nfields; i++) {
        const struct kev_field *field = &record->fields[i];
        out_str(out, i == 0 ? "" : ",");
        out_json_text(out, field->arg->name);
        out_char(out, ':');
        switch (field->arg->type) {
        case 'N':
            out_json(out, field->text, field->len);
            break;
        case 'D':
        case 'E':
            line_signed(out, field);
            break;
        case 'X':
        case 'P':
        case 'I':
            print_json_hex(out, field->value, field->wide ? 16 : 8);
            break;
        default:
            out_u64(out, field->value);
            break;
        }
    }
}

void json_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style)
{
    const struct owner *owner = &style->owner;
    struct row row;

    row_fill(&row, kev, event, style);
    out_str(out, "{\"ns\":");
    out_i64(out, row.ns);
    out_str(out, ",\"cycles\":");
    print_json_hex(out, event->time, 16);
    out_str(out, ",\"cpu\":");
    out_u64(out, event->cpu);
    out_str(out, ",\"class\":");
    out_json_text(out, row.record.class);
    out_str(out, ",\"event\":");
    out_json_text(out, row.record.event);
    out_str(out, ",\"number\":");
    out_u64(out, row.record.number);
    out_str(out, ",\"pid\":");
    json_id(out, owner->known, owner->pid);
    out_str(out, ",\"tid\":");
    json_id(out, owner->known, owner->tid);
    out_str(out, ",\"process\":");
    out_json_text(out, row.process);
    out_str(out, ",\"thread\":");
    out_json_text(out, row.thread);
    out_str(out,
            event->injected ? ",\"injected\":true,\"args\":{" : ",\"injected\":false,\"args\":{");
    json_args(out, &row.record, event);
    out_str(out, event->dumped ? "},\"dump\":true}\n" : "},\"dump\":false}\n");
}
