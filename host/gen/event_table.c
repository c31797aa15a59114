/* SPDX-License-Identifier: BSD-2-Clause */
/* See event_table.h. Proved by test/host/gen/check, which has each kind of wrong entry. */
#include "host/gen/event_table.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/slot.h"

enum { FIELDS = 20 };

struct table_event table_events[TABLE_EVENTS];
unsigned table_count;

static const char *event_table_file_name; /* that is being read */
static unsigned event_table_line_number;  /* of the entry that is being read */

__attribute__((noreturn, format(printf, 1, 2))) static void
event_table_refuse_line(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s:%u: ", event_table_file_name, event_table_line_number);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* ---- text ------------------------------------------------------------------------ */

static char *event_table_copy_text(const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    return strndup(from, (size_t)(end - from));
}

/* After a string that begins here. */
static const char *event_table_skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\0' || *at == '\n') {
            event_table_refuse_line("a string without its end; write the closing \"");
        }
        at += *at == '\\' && at[1] != '\0';
    }
    return at + 1;
}

/* The fields between the parentheses that begin at *text, which is moved past them. */
static unsigned event_table_split_fields(const char **text, char *fields[FIELDS])
{
    const char *at = *text + 1, *from = at;
    unsigned n = 0, depth = 1;

    while (depth > 0) {
        if (*at == '\0') {
            event_table_refuse_line("an entry without its end; write the missing )");
        }
        if (*at == '"') {
            at = event_table_skip_string(at);
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if ((*at == ',' && depth == 1) || depth == 0) {
            if (n == FIELDS) {
                event_table_refuse_line("more than %d fields; see the head of the table", FIELDS);
            }
            fields[n++] = event_table_copy_text(from, at);
            from = at + 1;
        }
        at++;
    }
    *text = at;
    return n == 1 && fields[0][0] == '\0' ? 0 : n;
}

static bool event_table_is_name(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return n > 0 && text[n] == '\0' && !isdigit((unsigned char)text[0]);
}

static void check_name(const char *what, const char *text)
{
    if (!event_table_is_name(text)) {
        event_table_refuse_line("%s \"%s\" is no C name; use letters, digits and _", what, text);
    }
}

/* ---- arguments ------------------------------------------------------------------- */

/* Adds an argument: A(type, name). */
static void event_table_add_argument(struct table_list *list, const char *text)
{
    struct table_argument *argument = &list->argument[list->n];
    char *fields[FIELDS];

    if (list->n == TABLE_ARGUMENTS) {
        event_table_refuse_line("more than %d arguments; leave some out", TABLE_ARGUMENTS);
    }
    const char *open = text + 1;
    if (text[0] != 'A' || *open != '(' || event_table_split_fields(&open, fields) != 2 ||
        *open != '\0') {
        event_table_refuse_line("\"%s\" is no argument; write A(type, name)", text);
    }
    if (strlen(fields[0]) != 1 || !strchr("DHEXPIN", fields[0][0])) {
        event_table_refuse_line(
            "unknown type \"%s\" of argument %s; the types are D H E X P I N (see the head of "
            "trace/events.def)",
            fields[0], fields[1]);
    }
    check_name("argument", fields[1]);
    for (unsigned i = 0; i < list->n; i++) {
        if (strcmp(list->argument[i].name, fields[1]) == 0) {
            event_table_refuse_line("two arguments have the name %s; rename one", fields[1]);
        }
        if (list->argument[i].type == 'N') {
            event_table_refuse_line(
                "a string (type N) must be the last argument; move %s to the end",
                list->argument[i].name);
        }
    }
    argument->type = fields[0][0];
    argument->name = fields[1];
    list->n++;
}

/* A list with its wrapper: FAST(...), WIDE(...), ARGS(...). */
static void read_list(struct table_list *list, const char *wrapper, const char *text)
{
    char *fields[FIELDS];
    size_t length = strlen(wrapper);

    if (strncmp(text, wrapper, length) != 0 || text[length] != '(') {
        event_table_refuse_line("\"%s\" is where a list is wanted; write %s(A(type, name), ...)",
                                text, wrapper);
    }
    text += length;
    unsigned n = event_table_split_fields(&text, fields);
    if (n == 0) {
        event_table_refuse_line("%s() is empty; name at least one argument", wrapper);
    }
    for (unsigned i = 0; i < n; i++) {
        event_table_add_argument(list, fields[i]);
    }
}

static const struct table_argument *event_table_find(const struct table_list *list,
                                                     const char *name)
{
    for (unsigned i = 0; i < list->n; i++) {
        if (strcmp(list->argument[i].name, name) == 0) {
            return &list->argument[i];
        }
    }
    return NULL;
}

static void check_subset(const struct table_event *e)
{
    for (unsigned i = 0; i < e->fast.n; i++) {
        const struct table_argument *fast = &e->fast.argument[i];
        const struct table_argument *wide = event_table_find(&e->wide, fast->name);
        if (!wide || wide->type != fast->type) {
            event_table_refuse_line(
                "the wide form of %s lacks A(%c, %s); a fast argument must be in both", e->name,
                fast->type, fast->name);
        }
    }
}

static void check_words(const struct table_event *e)
{
    unsigned words = 0;

    for (unsigned i = 0; i < e->wide.n; i++) {
        words += strchr("EXPI", e->wide.argument[i].type) ? 2 : e->wide.argument[i].type != 'N';
    }
    if (words > TABLE_WORDS) {
        event_table_refuse_line("%s may take %u words; at most %d go into an event", e->name, words,
                                TABLE_WORDS);
    }
}

/* The arguments of an event that trace/filter.h and trace/threads.h use. */
static void check_asked(const struct table_event *e)
{
    static const struct {
        const char *class, *external, *argument;
    } asked[] = {
        {"INT", NULL, "interrupt"},
        {"PR_TH", "THREAD", "pid"},
        {"PR_TH", "THREAD", "tid"},
    };

    for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        const struct table_argument *a = event_table_find(&e->wide, asked[i].argument);
        if (strcmp(e->class, asked[i].class) == 0 &&
            (!asked[i].external || strcmp(e->external, asked[i].external) == 0) &&
            (!a || (a->type != 'D' && a->type != 'H'))) {
            event_table_refuse_line(
                "%s needs the argument A(D, %s): events of its class are filtered by it", e->name,
                asked[i].argument);
        }
    }
}

/* ---- entries --------------------------------------------------------------------- */

static unsigned read_number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (!isdigit((unsigned char)text[0]) || *end != '\0' || n > TRACE_EVENT_MASK ||
        (n & TRACE_EVENT_64)) {
        event_table_refuse_line("\"%s\" is no event number; use 0 to %d", text, TRACE_EVENT_64 - 1);
    }
    return (unsigned)n;
}

static unsigned read_class(const struct table_event *e)
{
    static const struct {
        const char *name;
        unsigned number;
        bool control;
    } classes[] = {
        {"CONTROL", TRACE_CLASS_CONTROL, true}, {"INT", TRACE_CLASS_INT, false},
        {"PR_TH", TRACE_CLASS_PR_TH, false},    {"SYSTEM", TRACE_CLASS_SYSTEM, false},
        {"COMM", TRACE_CLASS_COMM, false},
    };

    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strcmp(classes[i].name, e->class) == 0 &&
            classes[i].control == (e->kind == TABLE_EVENT_CONTROL)) {
            return classes[i].number;
        }
    }
    event_table_refuse_line("no event of this kind can have the class \"%s\"; use %s", e->class,
                            e->kind == TABLE_EVENT_CONTROL ? "CONTROL"
                                                           : "INT, PR_TH, SYSTEM or COMM");
}

static void check_external(const struct table_event *e)
{
    static const char *const externals[][2] = {
        {"CONTROL", "CONTROL"},       {"INT", "INTENTER"},         {"INT", "INTEXIT"},
        {"INT", "INT_HANDLER_ENTER"}, {"INT", "INT_HANDLER_EXIT"}, {"PR_TH", "PROCESS"},
        {"PR_TH", "THREAD"},          {"SYSTEM", "SYSTEM"},        {"COMM", "COMM"},
    };
    char known[200] = "";

    for (unsigned i = 0; i < sizeof(externals) / sizeof(externals[0]); i++) {
        if (strcmp(externals[i][0], e->class) != 0) {
            continue;
        }
        if (strcmp(externals[i][1], e->external) == 0) {
            return;
        }
        strcat(strcat(known, known[0] ? ", " : ""), externals[i][1]);
    }
    event_table_refuse_line("class %s has no external class \"%s\"; use %s", e->class, e->external,
                            known);
}

static void check_unique(const struct table_event *e)
{
    for (const struct table_event *other = table_events; other < e; other++) {
        bool same_number = other->kind != TABLE_SITE && e->kind != TABLE_SITE &&
                           other->class_number == e->class_number && other->number == e->number;
        if (strcmp(other->name, e->name) == 0) {
            event_table_refuse_line("the name %s is taken by line %u; choose another", e->name,
                                    other->line);
        }
        if (same_number) {
            event_table_refuse_line("number %u of class %s is taken by %s; choose another",
                                    e->number, e->class, other->name);
        }
    }
}

static const char *read_about(const char *text)
{
    size_t length = strlen(text);

    if (length < 2 || text[0] != '"' || event_table_skip_string(text) != text + length) {
        event_table_refuse_line("\"%s\" is where the meaning is wanted; write it in quotes", text);
    }
    if (strstr(text, "*/")) {
        event_table_refuse_line(
            "the meaning becomes a C comment; write it without the two characters * and /");
    }
    return event_table_copy_text(text + 1, text + length - 1);
}

static void read_event(struct table_event *e, char *fields[FIELDS], unsigned n)
{
    if (n != 8) {
        event_table_refuse_line(
            "%u fields where 8 are wanted; write EVENT(name, CLASS, number, EXT, NAME, "
            "FAST(...), WIDE(...) or SAME, \"meaning\")",
            n);
    }
    e->name = fields[0];
    e->class = fields[1];
    e->external = fields[3];
    e->printed = fields[4];
    check_name("name", e->name);
    check_name("printed name", e->printed);
    e->class_number = read_class(e);
    e->number = read_number(fields[2]);
    check_external(e);
    read_list(&e->fast, "FAST", fields[5]);
    e->same = strcmp(fields[6], "SAME") == 0;
    if (e->same) {
        e->wide = e->fast;
    } else {
        read_list(&e->wide, "WIDE", fields[6]);
    }
    check_subset(e);
    check_words(e);
    check_asked(e);
    e->about = read_about(fields[7]);
}

static void read_site(struct table_event *e, char *fields[FIELDS], unsigned n)
{
    if (n != 3) {
        event_table_refuse_line(
            "%u fields where 3 are wanted; write SITE(name, ARGS(...), \"meaning\")", n);
    }
    e->name = fields[0];
    check_name("name", e->name);
    read_list(&e->wide, "ARGS", fields[1]);
    if (e->wide.n > 5) {
        event_table_refuse_line("a site has at most 5 arguments; leave %u out", e->wide.n - 5);
    }
    e->about = read_about(fields[2]);
}

static void event_table_read_entry(const char *macro, char *fields[FIELDS], unsigned n)
{
    static const char *const kinds[] = {"EVENT", "EVENT_STATE", "EVENT_CONTROL", "SITE"};
    struct table_event *e = &table_events[table_count];
    bool dumped = strcmp(macro, "EVENT_DUMPED") == 0;
    unsigned kind = 0;

    while (!dumped && kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind], macro) != 0) {
        kind++;
    }
    if (kind == sizeof(kinds) / sizeof(kinds[0])) {
        event_table_refuse_line(
            "unknown entry \"%s\"; use EVENT, EVENT_DUMPED, EVENT_STATE, EVENT_CONTROL or SITE",
            macro);
    }
    if (table_count == TABLE_EVENTS) {
        event_table_refuse_line(
            "more than %d entries; raise TABLE_EVENTS in host/gen/event_table.h", TABLE_EVENTS);
    }
    e->kind = (enum table_kind)kind;
    e->dumped = dumped;
    e->line = event_table_line_number;
    if (e->kind == TABLE_SITE) {
        read_site(e, fields, n);
    } else {
        read_event(e, fields, n);
    }
    check_unique(e);
    table_count++;
}

/* ---- files ----------------------------------------------------------------------- */

static char *event_table_read_file(const char *path)
{
    static char text[1 << 17];
    FILE *in = fopen(path, "r");
    size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

    if (!in || ferror(in) || n == sizeof(text) - 1) {
        fprintf(stderr, "%s: %s\n", path, n > 0 ? "longer than 128 KB" : "can't be read");
        exit(1);
    }
    fclose(in);
    text[n] = '\0';
    return text;
}

/* After blanks, comments and what is the preprocessor's. */
static const char *event_table_skip_blanks(const char *at)
{
    for (;; at++) {
        if (*at == '\n') {
            event_table_line_number++;
        } else if (*at == '#') {
            at += strcspn(at, "\n");
            event_table_line_number += *at == '\n';
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end) {
                event_table_refuse_line("a comment without its end; write the missing */");
            }
            for (; at < end + 1; at++) {
                event_table_line_number += *at == '\n';
            }
        } else if (!isspace((unsigned char)*at)) {
            return at;
        }
        if (*at == '\0') {
            return at;
        }
    }
}

void table_read(const char *path)
{
    const char *at = event_table_read_file(path);

    event_table_file_name = path;
    event_table_line_number = 1;
    while (*(at = event_table_skip_blanks(at)) != '\0') {
        char *fields[FIELDS];
        size_t n = strcspn(at, "( \t\n");
        char *macro = event_table_copy_text(at, at + n);
        const char *from = at + n;
        if (*from != '(') {
            event_table_refuse_line(
                "\"%s\" is no entry; write EVENT(...), or SITE(...) in trace/sites.def", macro);
        }
        at = from;
        n = event_table_split_fields(&at, fields);
        event_table_read_entry(macro, fields, (unsigned)n);
        for (; from < at; from++) {
            event_table_line_number += *from == '\n';
        }
    }
}
