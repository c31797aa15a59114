/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --csv: RFC 4180, the columns of row.h. The arguments are one column, as `kymo print -n` has
 * them: name:value, with a space between. Texts are quoted, as host/csv_text.h has them. An unknown
 * value is an empty column.
 */
#include "host/print/row.h"

void csv_header(struct out *out)
{
    out_str(out, "ns,cycles,cpu,class,event,number,pid,tid,process,thread,injected,args,dump\r\n");
}

static void csv_id(struct out *out, bool known, int32_t value)
{
    out_char(out, ',');
    if (known) {
        out_i64(out, value);
    }
}

static void print_csv_args(struct out *out, const struct record *record,
                           const struct kev_event *event)
{
    if (record->args == RECORD_TEXT) {
        out_str(out, "str:");
        out_csv_bytes(out, (const char *)event->words, record->text_len);
    }
    for (unsigned i = 0; record->args == RECORD_WORDS && i < event->nwords; i++) {
        out_str(out, i == 0 ? "d" : " d");
        out_u64(out, i);
        out_char(out, ':');
        out_hex32(out, kev_word(event, i));
    }
    for (unsigned i = 0; record->args == RECORD_FIELDS && i < record->nfields; i++) {
        const struct kev_field *field = &record->fields[i];
        if (i == 0) {
            out_csv_begin(out, field->arg->name, strlen(field->arg->name));
        } else {
            out_char(out, ' ');
            out_csv_bytes(out, field->arg->name, strlen(field->arg->name));
        }
        out_char(out, ':');
        if (field->arg->type == 'N') {
            out_csv_bytes(out, field->text, field->len);
        } else if (field->arg->type == 'S') {
            out_hex32(out, (uint32_t)field->value);
        } else {
            line_value(out, field);
        }
    }
}

void csv_event(struct out *out, const struct kev *kev, const struct kev_event *event,
               const struct line_style *style)
{
    const struct owner *owner = &style->owner;
    struct row row;

    row_fill(&row, kev, event, style);
    out_i64(out, row.ns);
    out_char(out, ',');
    out_hex(out, event->time, 16);
    out_char(out, ',');
    out_u64(out, event->cpu);
    out_csv_text(out, row.record.class);
    out_csv_text(out, row.record.event);
    out_char(out, ',');
    out_u64(out, row.record.number);
    csv_id(out, owner->known, owner->pid);
    csv_id(out, owner->known, owner->tid);
    out_csv_text(out, row.process);
    out_csv_text(out, row.thread);
    out_str(out, event->injected ? ",1,\"" : ",0,\"");
    print_csv_args(out, &row.record, event);
    out_str(out, event->dumped ? "\",1\r\n" : "\",0\r\n");
}
