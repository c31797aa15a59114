/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --csv: RFC 4180, the columns of row.h. The arguments are one column, as `kymo print -n` has
 * them: name:value, with a space between. Texts are quoted, and a byte in them that is not
 * printable ASCII is \xNN. An unknown value is an empty column.
 */
#include "host/print/row.h"

void csv_header(struct out *out)
{
    out_str(out, "ns,cycles,cpu,class,event,number,pid,tid,process,thread,injected,args,dump\r\n");
}

/* Prints a text inside of quotes: a quote is doubled. */
static void print_csv_bytes(struct out *out, const char *text, size_t len)
{
    while (len > 0) {
        const char *quote = memchr(text, '"', len);
        size_t plain = quote == NULL ? len : (size_t)(quote - text);

        out_text(out, text, plain);
        if (quote == NULL) {
            return;
        }
        out_str(out, "\"\"");
        text += plain + 1;
        len -= plain + 1;
    }
}

static void print_csv_text(struct out *out, const char *text)
{
    out_char(out, ',');
    if (text != NULL) {
        out_char(out, '"');
        print_csv_bytes(out, text, strlen(text));
        out_char(out, '"');
    }
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
        print_csv_bytes(out, (const char *)event->words, record->text_len);
    }
    for (unsigned i = 0; record->args == RECORD_WORDS && i < event->nwords; i++) {
        out_str(out, i == 0 ? "d" : " d");
        out_u64(out, i);
        out_char(out, ':');
        out_hex32(out, kev_word(event, i));
    }
    for (unsigned i = 0; record->args == RECORD_FIELDS && i < record->nfields; i++) {
        const struct kev_field *field = &record->fields[i];
        out_str(out, i == 0 ? "" : " ");
        print_csv_bytes(out, field->arg->name, strlen(field->arg->name));
        out_char(out, ':');
        if (field->arg->type == 'N') {
            print_csv_bytes(out, field->text, field->len);
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
    print_csv_text(out, row.record.class);
    print_csv_text(out, row.record.event);
    out_char(out, ',');
    out_u64(out, row.record.number);
    csv_id(out, owner->known, owner->pid);
    csv_id(out, owner->known, owner->tid);
    print_csv_text(out, row.process);
    print_csv_text(out, row.thread);
    out_str(out, event->injected ? ",1,\"" : ",0,\"");
    print_csv_args(out, &row.record, event);
    out_str(out, event->dumped ? "\",1\r\n" : "\",0\r\n");
}
