/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables that a Kymo capture carries in its system page, as text (abi/syspage.h). They
 * replace the compiled-in rows: an old capture stays readable. Lines that make no sense are
 * damage: each is bounded and checked.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/syspage.h"

#define FIELDS_MAX 8

struct text {
    const char *at;
    const char *end;
};

struct field {
    const char *at;
    size_t len;
};

/* Names are printed unchanged, so each byte that is no visible character becomes '?'. */
static void table_name_copy(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        to[i] = from[i] > ' ' && from[i] < 0x7f ? from[i] : '?';
    }
    to[len] = '\0';
}

/* "D:pid,P:ip", or with spaces as table_builtin.c has it: arguments; "-" is none. What does not
 * parse is left out. */
void kev_list_parse(struct kev_list *list, const char *text, size_t len)
{
    const char *end = text + len;

    list->n = 0;
    while (text < end && list->n < KEV_ARGS_MAX) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma == NULL ? end : comma;

        while (text < stop && *text == ' ') {
            text++;
        }

        if (stop - text > 2 && (text[1] == ':' || text[1] == ' ') &&
            strchr("DHEXPINS", text[0]) != NULL) {
            struct kev_arg *arg = &list->args[list->n++];
            size_t name = (size_t)(stop - text) - 2;

            name = name < sizeof(arg->name) - 1 ? name : sizeof(arg->name) - 1;
            arg->type = text[0];
            table_name_copy(arg->name, text + 2, name);
        }
        text = stop + 1;
    }
}

/* Splits the next line at spaces; the last wanted field takes the rest. 0 at the end. */
static unsigned line_split(struct text *text, struct field *fields, unsigned want)
{
    const char *eol;
    unsigned n = 0;

    if (text->at >= text->end) {
        return 0;
    }
    eol = memchr(text->at, '\n', (size_t)(text->end - text->at));
    eol = eol == NULL ? text->end : eol;
    while (text->at < eol && n < want) {
        const char *space = memchr(text->at, ' ', (size_t)(eol - text->at));

        space = space == NULL || n + 1 == want ? eol : space;
        fields[n].at = text->at;
        fields[n].len = (size_t)(space - text->at);
        n++;
        text->at = space < eol ? space + 1 : eol;
    }
    text->at = eol + 1;
    return n == 0 ? 1 : n;
}

static bool field_number(const struct field *field, unsigned *number)
{
    unsigned value = 0;

    if (field->len == 0 || field->len > 6) {
        return false;
    }
    for (size_t i = 0; i < field->len; i++) {
        if (field->at[i] < '0' || field->at[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(field->at[i] - '0');
    }
    *number = value;
    return true;
}

static void table_text_field_name(const struct field *field, char name[40])
{
    table_name_copy(name, field->at, field->len < 39 ? field->len : 39);
}

/* "class number NAME fast wide" */
static bool event_line(struct kev *kev, const struct field *f, unsigned n)
{
    unsigned class, number;
    char name[40];
    struct kev_desc *desc;

    if (n != 5 || !field_number(&f[0], &class) || !field_number(&f[1], &number) || f[2].len == 0) {
        return false;
    }
    table_text_field_name(&f[2], name);
    desc = kev_table_add(kev->table, class, number, name);
    if (desc == NULL) {
        return false;
    }
    kev_list_parse(&desc->fast, f[3].at, f[3].len);
    desc->wide = desc->fast;
    if (f[4].len != 1 || f[4].at[0] != '=') {
        kev_list_parse(&desc->wide, f[4].at, f[4].len);
    }
    return true;
}

static void call_types(struct kev_list *list, unsigned number)
{
    for (unsigned i = 0; i < list->n; i++) {
        if (list->args[i].type == 'P') {
            list->args[i].type = kev_call_word_type(number, list->args[i].name);
        }
    }
}

/* "number NAME enter_fast enter_wide exit_fast exit_wide" */
static bool call_line(struct kev *kev, const struct field *f, unsigned n)
{
    struct kev_list lists[4];
    unsigned number;
    char name[40];

    if (n != 6 || !field_number(&f[0], &number) || number >= KEV_CALLS || f[1].len == 0) {
        return false;
    }
    table_text_field_name(&f[1], name);
    for (unsigned i = 0; i < 4; i++) {
        kev_list_parse(&lists[i], f[2 + i].at, f[2 + i].len);
        if (i > 0 && f[2 + i].len == 1 && f[2 + i].at[0] == '=') {
            lists[i] = lists[i - 1];
        }
        call_types(&lists[i], number);
    }
    return kev_table_call(kev->table,
                          kev->own_calls_apart ? trace_kercall_class(number) : TRACE_CLASS_KER_CALL,
                          number, name, lists) == 0;
}

static bool name_line(struct kev_table *table, char **names, unsigned count, const struct field *f,
                      unsigned n)
{
    unsigned number;
    char name[40];

    if (n != 2 || !field_number(&f[0], &number)) {
        return false;
    }
    if (number >= count) {
        return true;
    }
    table_text_field_name(&f[1], name);
    free(names[number]);
    names[number] = kev_copy(name, strlen(name));
    table->no_memory |= names[number] == NULL;
    return names[number] != NULL;
}

static bool state_line(struct kev *kev, const struct field *f, unsigned n)
{
    return name_line(kev->table, kev->table->states, KEV_STATES, f, n);
}

static bool irq_line(struct kev *kev, const struct field *f, unsigned n)
{
    return name_line(kev->table, kev->table->irqs, KEV_IRQS, f, n);
}

static bool error_line(struct kev *kev, const struct field *f, unsigned n)
{
    return name_line(kev->table, kev->table->errors, KEV_ERRORS, f, n);
}

static uint32_t page_word(const struct kev *kev, size_t offset)
{
    const uint8_t *p = kev->syspage + offset;

    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int table_text_read_lines(struct kev *kev, size_t where, unsigned want, const char *what,
                                 bool (*line)(struct kev *, const struct field *, unsigned),
                                 struct kev_error *error)
{
    const char *start = (const char *)kev->syspage + page_word(kev, where);
    struct text text = {start, start + page_word(kev, where + 4)};
    struct field fields[FIELDS_MAX];

    for (;;) {
        const char *at = text.at;
        unsigned n = line_split(&text, fields, want);

        if (n == 0 || *at == '\0') {
            return 0;
        }
        if (!line(kev, fields, n)) {
            uint64_t page = kev->slots_offset - kev->syspage_len;

            return kev_fail(kev, error, page + (uint64_t)(at - (const char *)kev->syspage),
                            "a line of the %s table is malformed", what);
        }
    }
}

int kev_table_text(struct kev *kev, struct kev_error *error)
{
    if (table_text_read_lines(kev, offsetof(struct kymo_syspage, events_off), 5, "event",
                              event_line, error) ||
        table_text_read_lines(kev, offsetof(struct kymo_syspage, kercalls_off), 6, "kernel call",
                              call_line, error) ||
        table_text_read_lines(kev, offsetof(struct kymo_syspage, states_off), 2, "state",
                              state_line, error) ||
        table_text_read_lines(kev, offsetof(struct kymo_syspage, irqs_off), 2, "interrupt",
                              irq_line, error)) {
        return -1;
    }
    if (page_word(kev, offsetof(struct kymo_syspage, version)) < 3) {
        return 0;
    }
    return table_text_read_lines(kev, offsetof(struct kymo_syspage, errors_off), 2, "error",
                                 error_line, error);
}
