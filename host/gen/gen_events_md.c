/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/reference/events.md from trace/events.def. Run by `make docs`; the build checks that
 * the committed page is what this prints.
 */
#include <stdbool.h>

#include "host/gen/gen.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

struct row {
    const char *kind; /* CONTROL, STATE or empty */
    const char *class;
    unsigned number;
    const char *external, *id, *name, *fast, *wide, *doc;
};

#define A(type, name) type name
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define FAST(...) TEXT(__VA_ARGS__)
#define WIDE(...) TEXT(__VA_ARGS__)
#define SAME NULL
#define ROW(kind, id, class, number, ext, name, fast, wide, doc) \
    {kind, #class, number, #ext, #id, #name, fast, wide, doc},
#define EVENT_CONTROL(...) ROW("ring", __VA_ARGS__)
#define EVENT_STATE(...) ROW("state", __VA_ARGS__)
#define EVENT(...) ROW("", __VA_ARGS__)
/* clang-format off */
static const struct row events_md_rows[] = {
#include "trace/events.def"
};
/* clang-format on */
#define ROWS (sizeof(events_md_rows) / sizeof(events_md_rows[0]))

static const struct {
    const char *name;
    unsigned number;
    const char *about;
} classes[] = {
    {"CONTROL", TRACE_CLASS_CONTROL,
     "The kernel's log and the writers of captures make these. No filter stops them, and they "
     "count as slots."},
    {"INT", TRACE_CLASS_INT,
     "Interrupts: their first part in the kernel, and the delivery to attached processes."},
    {"PR_TH", TRACE_CLASS_PR_TH,
     "Processes and threads. The number of a state event is the thread's state. Thread numbers "
     "start at 1."},
    {"SYSTEM", TRACE_CLASS_SYSTEM,
     "Memory, names, code addresses and functions of programs, logs."},
    {"COMM", TRACE_CLASS_COMM,
     "Messages, pulses, signals. The sender is the thread that runs on "
     "the event's CPU."},
};

static const char events_md_page_head[] =
    "# Events\n"
    "\n"
    "This page is for those who choose events to record, and for those who read them in a "
    "capture.\n"
    "Generated from `trace/events.def` by `make docs`; change the table, not this page. Kernel\n"
    "calls' events are in [kercalls.md](kercalls.md), the bytes in [format.md](format.md), and\n"
    "the lines of `kymo print` in [lines.md](lines.md).\n"
    "\n"
    "*Number* is bits 0-9 of a slot's header; *external class* is the class that the commands\n"
    "of `TraceEvent()` take. *Fast* and *wide* are the words of the two forms; an empty *wide* is "
    "the same as fast.\n"
    "Types: D decimal, H hexadecimal (one word each); E decimal, X hexadecimal (two words); P\n"
    "pointer-sized (two words if the number has bit 9 set); I address of an instruction: like P,\n"
    "but a 64-bit kernel's own take one word ([format.md](format.md)); N string. A row with an\n"
    "empty number\n"
    "continues the row above it.\n";

static const char events_md_page_tail[] =
    "\n"
    "## USER (class 6)\n"
    "\n"
    "All 1024 numbers are the program's own (`TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, ...)` and\n"
    "its siblings): two words, up to 256 bytes of words, or a string.\n"
    "\n"
    "## Reasons of DROPPED\n"
    "\n"
    "`reason_class` is reason << 8 | internal class.\n"
    "\n"
    "| reason | name | meaning |\n"
    "|---:|---|---|\n"
#define R(number, name, text, doc) "| " #number " | " text " | " doc " |\n"
    KYMO_DROP_REASON_LIST(R)
#undef R
    ;

static void events_md_print_row(const struct row *row)
{
    struct gen_row out = {0};
    char number[16];

    snprintf(number, sizeof(number), "%u", row->number);
    gen_cell(&out, number);
    gen_cell(&out, row->name);
    gen_code(&out, row->fast);
    if (row->wide != NULL) {
        gen_code(&out, row->wide);
    } else {
        gen_cell(&out, "");
    }
    gen_cell(&out, row->external);
    gen_code(&out, row->id);
    gen_cell(&out, row->doc);
    gen_print(&out);
}

int main(void)
{
    fputs(events_md_page_head, stdout);
    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        printf("\n## %s (class %u)\n\n%s\n\n", classes[i].name, classes[i].number,
               classes[i].about);
        fputs("| number | name | fast | wide | external class | id | meaning |\n"
              "|---:|---|---|---|---|---|---|\n",
              stdout);
        for (unsigned j = 0; j < ROWS; j++) {
            if (strcmp(events_md_rows[j].class, classes[i].name) == 0) {
                events_md_print_row(&events_md_rows[j]);
            }
        }
    }
    fputs(events_md_page_tail, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
