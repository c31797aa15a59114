/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/reference/providers.md from trace/probes.def, trace/events.def, trace/sites.def and
 * abi/kercalls.def. Run by `make docs`; the build checks that the committed page is what
 * this prints, and test/dtrace/scripts.py that a booted board has the page's probes and arguments.
 */
#include "host/gen/gen.h"

#include <stdbool.h>

#include "trace/event_args.h"
#include "trace/sdt_types.h"

enum { ARGUMENTS = 10, ONE = 6, CALL_ARGUMENTS = 6 };

/* ---- the sites: what their arguments are called ------------------------------------ */

struct site {
    const char *name;
    const char *arguments[ARGUMENTS];
};

#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define ARGS(...) LIST(__VA_ARGS__)
#define A(type, name) #name

static const struct site providers_md_site_table[] = {
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) {#id, {TRACE_ARGS(fast, wide)}},
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
#define SITE(id, args, doc) {#id, args},
#include "trace/sites.def"
#undef SITE
    {"thread_state", {"pid", "tid", "priority", "policy", "state", "before"}},
    {"user_event", {"event", "d1", "d2", "data", "kind", "", "", "count", "first_two"}},
};

static const struct site *providers_md_site_of(const char *name)
{
    const struct site *s = providers_md_site_table;

    while (strcmp(s->name, name) != 0) {
        s++;
    }
    return s;
}

/* ---- probes ------------------------------------------------------------------------ */

struct argument {
    const char *type; /* NULL: no more */
    unsigned word;
};

struct probe {
    const char *provider, *function, *name, *site;
    struct argument arguments[ARGUMENTS + 1]; /* sdt: each is the word of its own number */
    const char *typed[ARGUMENTS + 1];         /* TYPES of args[]; none: they are the words */
    const char *doc;
};

#undef A
#define A(type, word) LIST(#type, word)
#define TYPES(...) LIST(__VA_ARGS__)

static const struct probe providers_md_probe_table[] = {
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) \
    {#prov, func, probe, #id, args, {NULL}, doc},
#define PROBE_TYPED(prov, func, probe, id, NEW, OLD, args, typed, doc) \
    {#prov, func, probe, #id, args, typed, doc},
#include "trace/probes.def"
#undef PROBE
#undef PROBE_TYPED
#undef A
#define A(type, name) LIST(SDT_TYPE_##type, 0)
#define SDT(id, site, CLASS, fast, wide, doc) \
    {"sdt", #CLASS, #id, #site, LIST(TRACE_ARGS(fast, wide)), {NULL}, doc},
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) SDT(id, id, CLASS, fast, wide, doc)
#define EVENT_STATE(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    SDT(id, thread_state, CLASS, fast, wide, doc)
#define EVENT_CONTROL(...)
#include "trace/events.def"
};
#define PROBES (sizeof(providers_md_probe_table) / sizeof(*providers_md_probe_table))

static unsigned providers_md_word_of(const struct probe *p, unsigned argument)
{
    return strcmp(p->provider, "sdt") == 0 ? argument : p->arguments[argument].word;
}

static const char *providers_md_word_name(const struct probe *p, unsigned word)
{
    bool one = word == ONE && strcmp(p->provider, "sdt") != 0;

    return one ? "1" : providers_md_site_of(p->site)->arguments[word];
}

static void append_item(char *cell, const char *type, size_t length, const char *name)
{
    char item[GEN_TEXT];

    snprintf(item, sizeof(item), "%s`%.*s%s%s`", cell[0] != '\0' ? ", " : "", (int)length, type,
             name[0] != '\0' ? " " : "", name);
    gen_append(cell, item);
}

/* A translated argument has no name; the others have that of their word. */
static void append_typed(char *cell, const struct probe *p)
{
    for (unsigned i = 0; p->typed[i] != NULL; i++) {
        const char *type = p->typed[i];
        size_t length = strcspn(type, "<");
        unsigned word = type[length] == '<' ? (unsigned)(type[length + 1] - '0') : i;
        bool made = type[length] == '<' && type[length - 1] == '*';

        append_item(cell, type, length,
                    made ? "" : providers_md_word_name(p, providers_md_word_of(p, word)));
    }
}

static void print_arguments(struct gen_row *out, const struct probe *p)
{
    char *cell = gen_new_cell(out), words[GEN_TEXT] = "";

    for (unsigned i = 0; p->arguments[i].type != NULL; i++) {
        append_item(words, p->arguments[i].type, strlen(p->arguments[i].type),
                    providers_md_word_name(p, providers_md_word_of(p, i)));
    }
    if (p->typed[0] != NULL) {
        append_typed(cell, p);
        gen_append(cell, "; `arg0` …: ");
    }
    gen_append(cell, words[0] != '\0' ? words : "-");
}

static void providers_md_print_probe(const struct probe *p)
{
    struct gen_row out = {0};

    if (p->function[0] != '\0') {
        gen_code(&out, p->function);
    } else {
        gen_cell(&out, "");
    }
    gen_code(&out, p->name);
    print_arguments(&out, p);
    gen_code(&out, p->site);
    gen_cell(&out, p->doc);
    gen_print(&out);
}

/* ---- kernel calls ------------------------------------------------------------------ */

struct call {
    const char *name;
    const char *arguments[CALL_ARGUMENTS + 1];
    const char *doc;
};

#undef A
#define A(...) LIST(__VA_ARGS__)
#define VAL(name) #name
#define IN(name, bytes) "*" #name
#define OUT(name, bytes) "*" #name
#define INOUT(name, bytes) "*" #name
#define STR(name) "*" #name
#define MSG(name) "*" #name
#define NONE NULL

static const struct call providers_md_call_table[] = {
#define KERCALL(number, NAME, handler, flags, args, enter, wide, exit, doc) {#handler, args, doc},
#include "abi/kercalls.def"
};

static void providers_md_print_call(const struct call *call)
{
    struct gen_row out = {0};
    char list[GEN_TEXT] = "";

    for (unsigned i = 0; call->arguments[i] != NULL; i++) {
        gen_append(list, i > 0 ? ", " : "");
        gen_append(list, call->arguments[i]);
    }
    gen_code(&out, call->name);
    if (list[0] != '\0') {
        gen_code(&out, list);
    } else {
        gen_cell(&out, "");
    }
    gen_cell(&out, call->doc);
    gen_print(&out);
}

/* ---- the page ---------------------------------------------------------------------- */

static const char providers_md_page_head[] =
    "# Providers\n"
    "\n"
    "This page is for those who look for a probe, and for its arguments. Generated from "
    "`trace/probes.def`,\n"
    "`trace/events.def`, `trace/sites.def` and `abi/kercalls.def` by `make docs`; change the "
    "tables, not this page. The\n"
    "language is described in [d.md](../guide/d.md), the way of a probe into the kernel in\n"
    "[probes.md](../inside/probes.md), `fbt` (every function of the kernel) in "
    "[fbt.md](../inside/fbt.md), `pid` (any\n"
    "instruction of a program) in [userprobes.md](../guide/userprobes.md), `cpc` (every so "
    "many events that a CPU counts)\n"
    "in [counters.md](../guide/counters.md). `host/scripts/` has ready scripts, each with a "
    "sample of its output. Every\n"
    "probe of a running board: `kymo dtrace -lv`.\n"
    "\n"
    "A probe is `provider:module:function:name`. The module of all probes of the kernel is "
    "`kernel`; only some probes have\n"
    "a function. *Arguments* are `args[0]`, `args[1]` … with their C types and their names "
    "at the site; `arg0` … are the\n"
    "same values as 64-bit integers, but where the table names them apart: there `args[]` "
    "has Solaris's structs first,\n"
    "which the compiler makes of a pid and a tid ([d.md](../guide/d.md)), and Kymo's words after "
    "them. Processes are `pid_t`,\n"
    "threads `id_t`, numbered from 1 in their process. *Site* is the table entry whose "
    "instruction is patched. A row with\n"
    "an empty name continues the row above it. More probes are made of these: "
    "[derived.md](derived.md).\n"
    "\n"
    "Every probe fires on the CPU where the event happens. `pid`, `tid`, `execname` … are "
    "those of the thread that runs\n"
    "there, which need not be the thread that the arguments name.\n";

static const char providers_md_profile_text[] =
    "\n"
    "## dtrace\n"
    "\n"
    "| probe | arguments | meaning |\n"
    "|---|---|---|\n"
    "| `BEGIN` | | tracing starts; no other probe fires before it |\n"
    "| `END` | | tracing ends; no other probe fires after it |\n"
    "| `ERROR` | `arg1` the enabling, `arg2` the action, | a clause was abandoned: |\n"
    "| | `arg3` the instruction's offset, `arg4` the kind, `arg5` the address | a faulting load, a "
    "division by 0 … |\n"
    "\n"
    "## profile\n"
    "\n"
    "`profile-N` fires on every CPU, `tick-N` on one: CPU 0, or CPU n with `-x cpu=n`. N is "
    "a rate per second, an interval\n"
    "with the suffix `ns`, `us`, `ms`, `s`, `m`, `h`, `d` (`nsec`, `usec`, `msec`, `sec`, "
    "`min`, `hour`, `day`), or a rate\n"
    "with the suffix `hz`; the interval is at least 200 us. A description that names a new "
    "rate creates its probe.\n"
    "\n"
    "| probe | arguments | meaning |\n"
    "|---|---|---|\n"
    "| `profile-N` | `arg0` where the kernel was, `arg1` where the program was: one is 0; | on "
    "every "
    "CPU |\n"
    "| | `arg2` by how many ns the sample is late, `arg3` how many were left out before it | |\n"
    "| `tick-N` | the same | on one CPU |\n"
    "\n"
    "A timer runs only while a probe is enabled. Its interrupt comes where the kernel masks "
    "all others: above BASEPRI on a\n"
    "Cortex-M, as FIQ on AArch64, as NMI on x86-64. It records where the CPU was, the thread "
    "and a piece of the kernel's\n"
    "stack, no more. The probe fires at the kernel's exit, and then `pid`, `tid`, "
    "`execname`, `stack()` and `ustack()` are\n"
    "those of the sample; `timestamp` is that of the probe firing. A CPU that idles is in "
    "the kernel, in\n"
    "`arch_wait_for_interrupt`, and `pid` is 1; it is also 1 if the thread has ended since. "
    "`copyin()` is a fault if\n"
    "another process runs by then.\n"
    "\n"
    "There is one sample at a time on a CPU. `arg3` counts the intervals without one: the "
    "kernel had not been left yet, or\n"
    "clauses had taken more than half of the CPU. So `count()` plus `sum(arg3)` is the time "
    "in intervals. `kymo dtrace -lv`\n"
    "says whether a machine has such an interrupt; without it the kernel's timer takes its "
    "place, `arg0` is 0, and a sample\n"
    "that came due in the kernel is taken where the program continues, `arg2` ns late.\n";

static const char syscall_head[] =
    "\n"
    "## syscall\n"
    "\n"
    "Each kernel call has two probes, with the call's name as function. `entry`: "
    "`uintptr_t args[0]` … `args[5]` are the\n"
    "call's arguments; `*` marks addresses in the caller's memory (`copyin()`, `copyinstr()`). "
    "These calls are made by\n"
    "QNX's library functions: `MsgSend()` is `msg_sendv` with negative lengths for one part. "
    "`return`: `intptr_t args[0]` and\n"
    "`args[1]` are the result, -1 with `errno`. It fires when the thread returns to its program, "
    "however long the call\n"
    "blocked; if a call hands the CPU over, probes of other calls fire between the two. A call "
    "that does not return (a\n"
    "thread that ends) has no `return`. The calls themselves: [kercalls.md](kercalls.md).\n"
    "\n"
    "| function | arguments | meaning |\n"
    "|---|---|---|\n";

static const struct {
    const char *name, *about;
} providers[] = {
    {"sched",
     "The scheduler. Several probes may fire for one change of a thread's state: a thread that is\n"
     "woken and gets the CPU at once has `wakeup` and `on-cpu`. `off-cpu` fires as the last of "
     "the\n"
     "thread that leaves, when the next one is known; a thread that ends no longer exists then, "
     "and\n"
     "`pid` and `arg0` are the idle thread's, whose program is called `kymo`."},
    {"proc", "Processes and their threads."},
    {"msg", "Messages and pulses. A rcvid is the one that the server gets. `send` fires in the "
            "client when\n"
            "the message is sent, `receive` in the server when its `MsgReceive()` returns with it: "
            "a server\n"
            "that ends before that has not received it."},
    {"intr", "Interrupts of devices and timers as the kernel takes them, not kernel calls."},
    {"timer",
     "The kernel's timers: those of programs, of timeouts and sleeps, and of D (`profile`)."},
    {"lockstat",
     "Waiting for locks: programs' mutexes, and the kernel's lock. A mutex without waiters never\n"
     "enters the kernel, so it has no probe."},
    {"sysinfo", "Counters: `args[0]` is 1."},
    {"user",
     "Events that programs insert by `TraceEvent()` or the functions of `<sys/trace.h>` "
     "([app.md](../guide/app.md)).\n"
     "`event` is the program's own number, 0 to 1023. The probes fire whatever the event log "
     "records, also while it is\n"
     "stopped; events that kernel code inserts fire, too. A text's bytes and a combine event's "
     "words are a copy in the\n"
     "kernel's memory: `stringof()` and loads, not `copyin()`. `first_two` are the first two "
     "words as one number, the first\n"
     "one in its lower half; a word that isn't there is 0. They identify a static probe\n"
     "([userprobes.md](../guide/userprobes.md))."},
    {"sdt",
     "Every entry of the event table ([events.md](events.md)), with the arguments of the wider\n"
     "form. The function is the event's class."},
};

int main(void)
{
    fputs(providers_md_page_head, stdout);
    fputs(providers_md_profile_text, stdout);
    for (unsigned i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
        printf("\n## %s\n\n%s\n\n", providers[i].name, providers[i].about);
        fputs("| function | name | arguments | site | meaning |\n|---|---|---|---|---|\n", stdout);
        for (unsigned j = 0; j < PROBES; j++) {
            if (strcmp(providers_md_probe_table[j].provider, providers[i].name) == 0) {
                providers_md_print_probe(&providers_md_probe_table[j]);
            }
        }
    }
    fputs(syscall_head, stdout);
    for (unsigned i = 0; i < sizeof(providers_md_call_table) / sizeof(*providers_md_call_table);
         i++) {
        providers_md_print_call(&providers_md_call_table[i]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
