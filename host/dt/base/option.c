/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options: set on the command line, by pragmas and by setopt(). options.def has them all.
 */
#include "host/dt/base/session.h"

#include <string.h>

#define UNSET DT_OPTION_UNSET

enum kind {
    FLAG,
    NUMBER,
    SIZE,
    RATE,
    CFLAG,
    POLICY,
    RESIZE,
    ENCODING,
    VERSION,
    STDC,
    EVALTIME,
    LINKMODE,
    LINKTYPE,
    ATTRIBUTES,
    TEXT,
    LIST,
};
enum when { COMMAND, COMPILE, RUNTIME, DYNAMIC };
enum who { ANYONE, USER };

static const struct row {
    const char *name;
    enum kind kind;
    enum when when;
    uint64_t initial;
    enum who who;
} rows[] = {
#define OPTION(name, kind, when, initial, who) {#name, kind, when, initial, who},
#include "host/dt/options.def"
};

static const char bad_name[] = "Invalid option name";
static const char bad_value[] = "Invalid value for specified option";
static const char too_late[] = "Operation illegal when tracing is active";

void dt_options_start(struct dt_session *d)
{
    for (unsigned i = 0; i < DT_O_COUNT; i++) {
        d->options.values[i] = rows[i].initial;
    }
}

const char *dt_option_name(unsigned number)
{
    return number < DT_O_COUNT ? rows[number].name : NULL;
}

static unsigned option_find_row(const char *name)
{
    unsigned i = 0;

    while (i < DT_O_COUNT && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* The words of enumerations, by kind, in the order of their values. Unlike flags these are
 * distinguished apart by case. */
static bool word_value(enum kind kind, const char *text, uint64_t *value)
{
    static const char *const words[][5] = {
        [POLICY] = {"switch", "fill", "ring"},
        [RESIZE] = {"auto", "manual"},
        [ENCODING] = {"ascii", "utf8"},
        [STDC] = {"a", "c", "s", "t"},
        [EVALTIME] = {"exec", "preinit", "postinit", "main"},
        [LINKMODE] = {"kernel", "primary", "dynamic", "static"},
        [LINKTYPE] = {"elf", "dof"},
    };

    for (uint64_t i = 0; words[kind][i]; i++) {
        if (strcmp(words[kind][i], text) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool option_parse_value(const struct row *row, const char *text, uint64_t *value)
{
    struct dt_attributes_short attributes;
    unsigned version;

    switch (row->kind) {
    case CFLAG:
        *value = 1;
        return text == NULL;
    case FLAG:
    case NUMBER:
        return dt_value_number(text ? text : "1", value);
    case SIZE:
        return dt_value_size(text ? text : "1", value);
    case RATE:
        return dt_value_rate(text ? text : "1", value);
    case VERSION:
        if (!text || !dt_value_version(text, &version) || !dt_version_is_known(version)) {
            return false;
        }
        *value = version;
        return true;
    case ATTRIBUTES:
        if (!text || !dt_value_attributes(text, &attributes)) {
            return false;
        }
        *value = (uint64_t)attributes.name << 16 | attributes.data << 8 | attributes.class;
        return true;
    case TEXT:
    case LIST:
        *value = 1;
        return text != NULL;
    default:
        return text && word_value(row->kind, text, value);
    }
}

static void option_keep_text(struct dt_session *d, unsigned i, const char *text)
{
    struct dt_text_list *item, **end;

    d->options.texts[i] = dt_strdup(d, text);
    if (rows[i].kind != LIST) {
        return;
    }
    /* -D, -U and -I stay in one list, in the order given: the preprocessor's. */
    const char *prefix = i == DT_O_define   ? "-D"
                         : i == DT_O_undef  ? "-U"
                         : i == DT_O_incdir ? "-I"
                                            : NULL;
    end = &d->options.lists[prefix ? DT_O_define : i];
    item = dt_alloc(d, sizeof(*item));
    item->text = dt_sprintf(d, "%s%s", prefix ? prefix : "", text);
    while (*end) {
        end = &(*end)->next;
    }
    *end = item;
}

bool dt_option_is_users(const char *name)
{
    unsigned i = option_find_row(name);

    return i == DT_O_COUNT || rows[i].who == USER;
}

/* Returns NULL, or why an option of a program that is not the user's is refused. -w on the command
 * line permits what the program asks for. */
static const char *option_why_distrusted(const struct dt_session *d, unsigned i,
                                         enum dt_option_origin origin)
{
    if (rows[i].who == ANYONE || origin == DT_FROM_COMMAND ||
        (origin != DT_FROM_CAPTURE && !d->distrusted)) {
        return NULL;
    }
    if (i == DT_O_destructive) {
        return d->options.values[i]
                   ? NULL
                   : "the program may be destructive on this machine: -w allows it";
    }
    return i == DT_O_libdir ? "a program from a capture or a target can't name folders: give -L"
                            : "a program from a capture or a target can't set it";
}

const char *dt_option_set(struct dt_session *d, const char *name, const char *text,
                          enum dt_option_origin origin)
{
    unsigned i = option_find_row(name);
    uint64_t value;

    if (i == DT_O_COUNT) {
        return bad_name;
    }
    if (origin == DT_FROM_PRAGMA && rows[i].when == COMMAND) {
        return "The option can be set on the command line only";
    }
    if (origin == DT_FROM_SETOPT && rows[i].when != DYNAMIC) {
        return too_late;
    }
    const char *why = option_why_distrusted(d, i, origin);
    if (why) {
        return why;
    }
    if (!option_parse_value(&rows[i], text, &value) ||
        (value == 0 && (i == DT_O_iregs || i == DT_O_tregs))) {
        return bad_value;
    }
    d->options.values[i] = value;
    if (text) {
        option_keep_text(d, i, text);
    }
    if (i == DT_O_strsize) {
        d->string->size = value;
    }
    return NULL;
}

void dt_option_put(struct dt_session *d, const char *name, uint64_t value)
{
    unsigned i = option_find_row(name);

    if (i != DT_O_COUNT) {
        d->options.values[i] = value;
    }
    if (i == DT_O_strsize) {
        d->string->size = value;
    }
}

/* ---- what rates may be ------------------------------------------------------------- */

#define SECOND 1000000000u

/* Limits of rates, in ns. */
static const struct limit {
    unsigned option;
    const char *name;
    uint64_t least, most;
} limits[] = {
    {DT_O_cleanrate, "cleaning rate", SECOND / 5000, (uint64_t)SECOND * 60},
    {DT_O_statusrate, "status rate", 1, (uint64_t)SECOND * 10},
};
enum { LIMITS = sizeof(limits) / sizeof(*limits) };

static uint64_t option_limit_value(unsigned option, uint64_t value)
{
    for (unsigned i = 0; i < LIMITS; i++) {
        if (limits[i].option == option) {
            value = value < limits[i].least ? limits[i].least : value;
            value = value > limits[i].most ? limits[i].most : value;
        }
    }
    return value;
}

void dt_option_notes(const struct dt_session *d, FILE *out)
{
    for (unsigned i = 0; i < LIMITS; i++) {
        uint64_t asked = d->options.values[limits[i].option];
        uint64_t got = option_limit_value(limits[i].option, asked);
        if (got != asked) {
            const char *way = got > asked ? "reduced" : "increased";

            if (got <= SECOND && SECOND % got == 0) {
                fprintf(out, "dtrace: %s %s to %llu hz\n", limits[i].name, way,
                        (unsigned long long)(SECOND / got));
            } else if (got % SECOND == 0) {
                fprintf(out, "dtrace: %s %s to once every %llu seconds\n", limits[i].name, way,
                        (unsigned long long)(got / SECOND));
            } else {
                fprintf(out, "dtrace: %s %s to once every %llu nanoseconds\n", limits[i].name, way,
                        (unsigned long long)got);
            }
        }
    }
}

uint64_t dtrace_option(const struct dt_session *d, const char *name)
{
    unsigned i = option_find_row(name);

    return i == DT_O_COUNT ? DT_OPTION_UNSET : option_limit_value(i, d->options.values[i]);
}

bool dt_option_on(const struct dt_session *d, const char *name)
{
    uint64_t value = dtrace_option(d, name);

    return value != 0 && value != DT_OPTION_UNSET;
}

unsigned dt_session_version(const struct dt_session *d)
{
    uint64_t version = d->options.values[DT_O_version];

    return version == DT_OPTION_UNSET ? DT_VERSION_NEWEST : (unsigned)version;
}
