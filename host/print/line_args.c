/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of an event: `name:value`, on the event's line if there are at most two, else one a
 * line with the name right-aligned to 26 columns, as traceprinter does. Called by line.c and
 * line_int.c.
 */
#include "host/print/line.h"

#define NAME_COLUMNS 26

void line_signed(struct out *out, const struct kev_field *field)
{
    bool narrow = field->arg->type == 'D' && !field->wide;

    out_i64(out, narrow ? (int32_t)field->value : (int64_t)field->value);
}

/* Inline, for line_fields(), which prints most of them. */
static inline __attribute__((always_inline)) void put_value(struct out *out,
                                                            const struct kev_field *field)
{
    uint32_t tag = (uint32_t)field->value;
    char text[sizeof(tag)];

    switch (field->arg->type) {
    case 'D':
    case 'E':
        line_signed(out, field);
        break;
    case 'N':
        out_text(out, field->text, field->len);
        break;
    case 'S': /* a tag of up to four characters, and the number that they are */
        memcpy(text, &tag, sizeof(text));
        out_text(out, text, strnlen(text, sizeof(text)));
        out_str(out, " (");
        out_hex32(out, tag);
        out_char(out, ')');
        break;
    case LINE_TYPE_MESSAGE: /* the printable ones of four characters, and all of them as a number */
        out_char(out, '"');
        for (unsigned i = 0; i < 4; i++) {
            char c = (char)(field->value >> 8 * i);
            if (c >= ' ' && c < 0x7f) {
                out_char(out, c);
            }
        }
        out_str(out, "\" (");
        out_hex(out, field->value, field->value >> 32 != 0 ? 16 : 8);
        out_char(out, ')');
        break;
    case 'H':
        out_hex(out, field->value, field->value >> 32 != 0 ? 16 : 8);
        break;
    default:
        out_hex(out, field->value, field->wide ? 16 : 8);
        break;
    }
}

void line_value(struct out *out, const struct kev_field *field)
{
    put_value(out, field);
}

static bool line_args_is_named(const struct kev_field *field, const char *name)
{
    return field->arg->type == 'D' && strcmp(field->arg->name, name) == 0;
}

void line_id_name(struct out *out, const struct kev_field *fields, unsigned n, unsigned i,
                  const struct owners *owners)
{
    const char *name = NULL;

    if (owners == NULL) {
        return;
    }
    if (line_args_is_named(&fields[i], "pid") || line_args_is_named(&fields[i], "ppid")) {
        name = owners_process(owners, (int32_t)fields[i].value);
    } else if (line_args_is_named(&fields[i], "tid")) {
        for (unsigned j = 0; j < n && name == NULL; j++) {
            name = !line_args_is_named(&fields[j], "pid")
                       ? NULL
                       : owners_thread(owners, (int32_t)fields[j].value, (int32_t)fields[i].value);
        }
    }
    if (name != NULL) {
        out_char(out, '(');
        out_text(out, name, strlen(name));
        out_char(out, ')');
    }
}

void line_fields(struct out *out, const struct kev_field *fields, unsigned n,
                 const struct line_style *style)
{
    for (unsigned i = 0; i < n; i++) {
        const struct kev_arg *arg = fields[i].arg;
        size_t len = arg->name_len != 0 ? arg->name_len : strlen(arg->name);

        if (n > 2 && !style->one_line) {
            out_char(out, '\n');
            out_pad(out, len < NAME_COLUMNS ? NAME_COLUMNS - len : 0);
        } else {
            out_char(out, ' ');
        }
        out_short(out, arg->name, sizeof(arg->name), len);
        out_char(out, ':');
        put_value(out, &fields[i]);
        if (style->symbols != NULL && arg->type == 'P') {
            print_symbols_put(style->symbols, out, fields[i].value);
        }
        if (style->owners != NULL) {
            line_id_name(out, fields, n, i, style->owners);
        }
    }
    out_char(out, '\n');
}
