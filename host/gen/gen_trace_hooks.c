/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen_trace_hooks hooks|emit|fire|text FILE...: prints the event hooks as plain C, from the tables
 * trace/events.def and trace/sites.def, so that a debugger and grep find them. The build writes
 *
 *   hooks   build/gen/trace_hooks.h          the inline hooks; included by trace/hook.h
 *   emit    build/gen/trace_emit.inc.h       what puts an event into the log; by trace/hook.c
 *   fire    build/gen/trace_fire.inc.h       what serves log and D's probes; by trace/fire.c
 *   text    build/gen/trace_events.inc.h     the table that captures carry; by trace/event_text.c
 *
 * A wrong entry ends the program with its file, its line and the remedy (event_table.h). Proved by
 * test/host/gen/check and, for what is printed, by test/trace/rows_test.c.
 */
#include <stdio.h>
#include <string.h>

#include "host/gen/event_table.h"

enum { COLUMNS = 100 };

/* ---- pieces ---------------------------------------------------------------------- */

static const char *c_type(char type)
{
    switch (type) {
    case 'E':
    case 'X':
        return "uint64_t ";
    case 'P':
    case 'I':
        return "uintptr_t ";
    case 'N':
        return "const char *";
    default:
        return "uint32_t ";
    }
}

/* Appends item to the line that ends at *column, or begins a new one at column `indent`. */
static void print_item(unsigned *column, unsigned indent, const char *item, bool last)
{
    unsigned length = (unsigned)strlen(item) + 1;

    if (*column + 1 + length + (last ? 2 : 0) > COLUMNS) {
        printf("\n%*s", (int)indent, "");
        *column = indent;
    } else if (*column > indent) {
        putchar(' ');
        ++*column;
    }
    printf("%s%s", item, last ? "" : ",");
    *column += length;
}

/* "head(uint32_t pid, uint32_t tid)", broken as clang-format does. */
static void print_params(const char *head, const char *name, const struct table_list *list)
{
    unsigned indent = (unsigned)(strlen(head) + strlen(name)) + 1, column = indent;
    char item[200];

    printf("%s%s(", head, name);
    for (unsigned i = 0; i < list->n; i++) {
        const struct table_argument *a = &list->argument[i];
        snprintf(item, sizeof(item), "%s%s", c_type(a->type), a->name);
        print_item(&column, indent, item, i + 1 == list->n);
    }
    putchar(')');
}

/* A call of the function `name` with the event's arguments. */
static void hooks_print_call(unsigned indent, const char *function, const struct table_event *e)
{
    unsigned at = indent + (unsigned)(strlen(function) + strlen(e->name)) + 1, column = at;

    printf("%*s%s%s(", (int)indent, "", function, e->name);
    for (unsigned i = 0; i < e->wide.n; i++) {
        print_item(&column, at, e->wide.argument[i].name, i + 1 == e->wide.n);
    }
    printf(");\n");
}

/* All arguments as 64-bit words, with zeros after them. */
static void print_words(unsigned indent, const struct table_list *list, unsigned zeros)
{
    unsigned at = indent + (unsigned)strlen("const uint64_t words[] = {"), column = at;
    char item[200];

    printf("%*sconst uint64_t words[] = {", (int)indent, "");
    for (unsigned i = 0; i < list->n; i++) {
        const struct table_argument *a = &list->argument[i];
        snprintf(item, sizeof(item), "%s%s", a->type == 'N' ? "(uintptr_t)" : "", a->name);
        print_item(&column, at, item, zeros == 0 && i + 1 == list->n);
    }
    for (unsigned i = 0; i < zeros; i++) {
        print_item(&column, at, "0", i + 1 == zeros);
    }
    printf("};\n");
}

static void hooks_print_head(const char *used_by, const char *what)
{
    printf("/* SPDX-License-Identifier: BSD-2-Clause */\n"
           "/*\n"
           " * Generated from trace/events.def and trace/sites.def by host/gen/gen_trace_hooks.c:\n"
           " * change the tables, not this file. Included by %s only.\n"
           " *\n"
           "%s"
           " */\n",
           used_by, what);
}

/* trace_port_fire() wants five words at least. */
static unsigned hooks_missing_words(const struct table_event *e)
{
    return e->wide.n < 5 ? 5 - e->wide.n : 0;
}

static bool has_hook(const struct table_event *e)
{
    return e->kind == TABLE_EVENT;
}

/* Returns true if an event has only one or two words and its site alone decides whether it is on
 * (in class INT events are also filtered by interrupt): then it is logged at its site. */
static bool is_short(const struct table_event *e)
{
    if (!e->same || e->wide.n > 2 || strcmp(e->class, "INT") == 0) {
        return false;
    }
    for (unsigned i = 0; i < e->wide.n; i++) {
        if (e->wide.argument[i].type != 'D' && e->wide.argument[i].type != 'H') {
            return false;
        }
    }
    return true;
}

/* ---- hooks: build/gen/trace_hooks.h ---------------------------------------------- */

static void print_emit_declared(const struct table_event *e)
{
    if (!is_short(e)) {
        print_params("COLD void trace_emit_", e->name, &e->wide);
        printf(";\n");
        return;
    }
    print_params("TRACE_INLINE void trace_emit_", e->name, &e->wide);
    printf("\n{\n    trace_log2(TRACE_CLASS_%s, %u, %s, %s);\n}\n", e->class, e->number,
           e->wide.argument[0].name, e->wide.n > 1 ? e->wide.argument[1].name : "0");
}

static void print_hook(const struct table_event *e)
{
    printf("\n/* %s: %s. */\n", e->printed, e->about);
    print_emit_declared(e);
    print_params("COLD void trace_fire_", e->name, &e->wide);
    printf(";\n");
    if (e->dumped) {
        print_params("COLD void trace_dump_", e->name, &e->wide);
        printf(";\n");
    }
    print_params("TRACE_INLINE void trace_", e->name, &e->wide);
    printf("\n{\n"
           "    switch (TRACE_PORT_SITE(TRACE_EV_%s)) {\n"
           "    case TRACE_SITE_OFF:\n"
           "        break;\n"
           "    case TRACE_SITE_LOG:\n",
           e->name);
    hooks_print_call(8, "trace_emit_", e);
    printf("        break;\n"
           "    case TRACE_SITE_ALL:\n");
    hooks_print_call(8, "trace_fire_", e);
    printf("        break;\n"
           "    }\n"
           "}\n");
}

static void print_site(const struct table_event *e)
{
    printf("\n/* For D alone: %s. */\n", e->about);
    print_params("TRACE_INLINE void trace_site_", e->name, &e->wide);
    printf("\n{\n    if (TRACE_PORT_SITE_ON(TRACE_EV_%s)) {\n", e->name);
    print_words(8, &e->wide, hooks_missing_words(e));
    printf("        trace_port_fire(TRACE_EV_%s, words);\n    }\n}\n", e->name);
}

static void print_hooks(void)
{
    hooks_print_head(
        "trace/hook.h",
        " * trace_<name>() is the hook of an event: one patched instruction while it is off.\n"
        " * trace_emit_<name>() puts the event into the log, trace_fire_<name>() serves the log\n"
        " * and D's probes, trace_dump_<name>() puts what a state dump finds into the log.\n"
        " * trace_site_<name>() is the hook of what only D listens on.\n");
    printf("#ifndef BUILD_GEN_TRACE_HOOKS_H\n#define BUILD_GEN_TRACE_HOOKS_H\n\n"
           "#define TRACE_EVENT_WORDS %d /* most words of one event */\n",
           TABLE_WORDS);
    for (const struct table_event *e = table_events; e < table_events + table_count; e++) {
        if (has_hook(e)) {
            print_hook(e);
        } else if (e->kind == TABLE_SITE) {
            print_site(e);
        }
    }
    printf("\n#endif\n");
}

/* ---- emit: build/gen/trace_emit.inc.h -------------------------------------------- */

/* Whether pointer-sized words take two words each: if one of them has a high half. */
static void print_big(unsigned indent, const struct table_list *list)
{
    const char * or = "";
    bool pointers = false;

    printf("%*sstruct args a = {.big = ", (int)indent, "");
    for (unsigned i = 0; i < list->n; i++) {
        if (list->argument[i].type == 'P') {
            printf("%s%s", pointers ? " | " : "has_high_half(", list->argument[i].name);
            pointers = true;
        }
    }
    if (pointers) {
        putchar(')');
        or = " || ";
    }
    for (unsigned i = 0; i < list->n; i++) {
        if (list->argument[i].type == 'I') {
            printf("%s!code_fits(%s)", or, list->argument[i].name);
            or = " || ";
        }
    }
    printf("%s};\n", or [0] ? "" : "false");
}

static void print_put(unsigned indent, const struct table_argument *a)
{
    static const char types[] = "DHEXPI";
    static const char *const puts_[] = {"put32", "put32",       "put64",
                                        "put64", "put_pointer", "put_code"};

    if (a->type == 'N') {
        printf("%*sa.text = %s;\n", (int)indent, "", a->name);
    } else {
        printf("%*s%s(&a, %s);\n", (int)indent, "", puts_[strchr(types, a->type) - types], a->name);
    }
}

/* dumped: with the mark of a state dump. */
static void print_form(unsigned indent, const struct table_event *e, const struct table_list *list,
                       bool dumped)
{
    print_big(indent, list);
    for (unsigned i = 0; i < list->n; i++) {
        print_put(indent, &list->argument[i]);
    }
    printf("%*s%s(TRACE_CLASS_%s, %u%s, &a);\n", (int)indent, "", dumped ? "log_long" : "log_args",
           e->class, e->number, dumped ? " | TRACE_STATE_DUMP" : "");
}

static void print_emit(const struct table_event *e, bool dumped)
{
    printf("\n/* %s: %s. */\n", e->printed, dumped ? "of a state dump" : e->about);
    print_params(dumped ? "void trace_dump_" : "void trace_emit_", e->name, &e->wide);
    printf("\n{\n");
    if (strcmp(e->class, "INT") == 0) {
        printf("    if (!trace_filter_int(%u, interrupt)) {\n        return;\n    }\n", e->number);
    }
    if (e->same) {
        print_form(4, e, &e->wide, dumped);
    } else {
        printf("    if (trace_bit(trace_filter.row_wide, TRACE_EV_%s)) {\n", e->name);
        print_form(8, e, &e->wide, dumped);
        printf("    } else {\n");
        print_form(8, e, &e->fast, dumped);
        printf("    }\n");
    }
    printf("}\n");
}

static void print_emits(void)
{
    hooks_print_head(
        "trace/hook.c",
        " * trace_emit_<name>() of each event that is not logged at its site, and\n"
        " * trace_dump_<name>() of each that a state dump has: puts the arguments of its form\n"
        " * together and logs them.\n");
    for (const struct table_event *e = table_events; e < table_events + table_count; e++) {
        if (has_hook(e) && !is_short(e)) {
            print_emit(e, false);
        }
        if (e->dumped) {
            print_emit(e, true);
        }
    }
}

/* ---- fire: build/gen/trace_fire.inc.h -------------------------------------------- */

static void hooks_print_probe(const struct table_event *e)
{
    print_params("TRACE_INLINE void probe_", e->name, &e->wide);
    printf("\n{\n    if (trace_port_listens(TRACE_EV_%s)) {\n", e->name);
    print_words(8, &e->wide, hooks_missing_words(e));
    printf("        trace_port_fire(TRACE_EV_%s, words);\n    }\n}\n", e->name);
}

/* An interrupt that is filtered singly isn't the gate's: trace_emit_*() leaves it out. */
static void print_gated(const struct table_event *e)
{
    print_params("COLD static void gated_", e->name, &e->wide);
    printf("\n{\n");
    print_words(4, &e->wide, hooks_missing_words(e));
    printf("    if (");
    if (strcmp(e->class, "INT") == 0) {
        printf("!trace_filter_int(%u, interrupt) ||\n        ", e->number);
    }
    printf("!trace_gate_stops(TRACE_CLASS_%s, TRACE_EV_%s, %u, words)) {\n", e->class, e->name,
           e->number);
    hooks_print_call(8, "trace_emit_", e);
    printf("    }\n}\n");
}

/* An event may be limited to a process or thread: that of its arguments, or the one that runs. */
static void print_limit(const struct table_event *e)
{
    bool about_thread = strcmp(e->external, "THREAD") == 0;
    bool here = strcmp(e->external, "SYSTEM") == 0 || strcmp(e->external, "COMM") == 0;

    if (about_thread || here) {
        printf("    if (trace_bit(trace_filter.row_limited, TRACE_EV_%s) &&\n"
               "        !%s(_NTO_TRACE_%s, TRACE_EV_%s%s)) {\n"
               "        /* as if its class were off */\n"
               "    } else if (trace_gate_armed) {\n",
               e->name, about_thread ? "trace_threads_entry" : "trace_threads_entry_here",
               e->external, e->name, about_thread ? ", pid, tid" : "");
    } else {
        printf("    if (trace_gate_armed) {\n");
    }
}

static void print_fire(const struct table_event *e)
{
    printf("\n/* %s: %s. */\n", e->printed, e->about);
    hooks_print_probe(e);
    print_gated(e);
    print_params("COLD static void log_and_probe_", e->name, &e->wide);
    printf("\n{\n    uintptr_t irq = trace_stamp_begin();\n");
    print_limit(e);
    hooks_print_call(8, "gated_", e);
    printf("    } else {\n");
    hooks_print_call(8, "trace_emit_", e);
    printf("    }\n    trace_stamp_take();\n");
    hooks_print_call(4, "probe_", e);
    printf("    trace_stamp_end(irq);\n}\n");
    print_params("void trace_fire_", e->name, &e->wide);
    printf("\n{\n    if (trace_bit(trace_site_logged, TRACE_EV_%s)) {\n", e->name);
    hooks_print_call(8, "log_and_probe_", e);
    printf("    } else {\n");
    hooks_print_call(8, "probe_", e);
    printf("    }\n}\n");
}

static void print_fires(void)
{
    hooks_print_head(
        "trace/fire.c",
        " * Of each event: probe_<name>() fires D's probes, gated_<name>() logs it unless the\n"
        " * gate stops it, log_and_probe_<name>() does both, and trace_fire_<name>(), which the\n"
        " * hook calls, chooses by its listeners.\n");
    for (const struct table_event *e = table_events; e < table_events + table_count; e++) {
        if (has_hook(e)) {
            print_fire(e);
        }
    }
}

/* ---- text: build/gen/trace_events.inc.h ------------------------------------------ */

static void print_text_list(const struct table_list *list)
{
    for (unsigned i = 0; i < list->n; i++) {
        printf("%s%c:%s", i > 0 ? "," : " ", list->argument[i].type, list->argument[i].name);
    }
}

static void hooks_print_text(void)
{
    hooks_print_head("trace/event_text.c",
                     " * The events' part of the table that a capture carries: abi/syspage.h.\n");
    for (const struct table_event *e = table_events; e < table_events + table_count; e++) {
        if (e->kind == TABLE_SITE) {
            continue;
        }
        printf("\"%u %u %s", e->class_number, e->number, e->printed);
        print_text_list(&e->fast);
        if (e->same) {
            printf(" =");
        } else {
            print_text_list(&e->wide);
        }
        printf("\\n\"\n");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } outputs[] = {{"hooks", print_hooks},
                   {"emit", print_emits},
                   {"fire", print_fires},
                   {"text", hooks_print_text}};

    for (int i = 2; i < argc; i++) {
        table_read(argv[i]);
    }
    for (unsigned i = 0; argc > 2 && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        if (strcmp(outputs[i].name, argv[1]) == 0) {
            outputs[i].print();
            return fflush(stdout) == 0 ? 0 : 1;
        }
    }
    fputs("usage: gen_trace_hooks hooks|emit|fire|text FILE...\n", stderr);
    return 2;
}
