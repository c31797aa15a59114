/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/providers.md from trace/probes.def, trace/events.def, trace/sites.def and
 * kernel/abi/kercalls.def. Run by `make docs`; the build checks that the committed page is what
 * this prints, and test/d/scripts.py that a booted board has the page's probes and arguments.
 */
#include "host/gen/gen.h"
#include "trace/event_args.h"
#include "trace/sdt_types.h"

enum { ARGUMENTS = 10, ONE = 6, CALL_ARGUMENTS = 6 };

/* ---- the sites: what their arguments are called ---- */

struct site {
    const char *name;
    const char *arguments[ARGUMENTS];
};

#define NAME_A(type, name) #name,
#define LIST_ARGS(...) __VA_ARGS__
#define NAMES(...) TRACE_EACH(NAME_, TRACE_SEP_NONE, , __VA_ARGS__)

static const struct site sites[] = {
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) {#id, {NAMES(TRACE_ARGS(fast, wide))}},
#define EVENT_CONTROL(...)
#define EVENT_STATE(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef EVENT_STATE
#define SITE(id, args, doc) SITE_(id, LIST_##args)
#define SITE_(id, ...) {#id, {NAMES(__VA_ARGS__)}},
#include "trace/sites.def"
#undef SITE
    {"thread_state", {"pid", "tid", "priority", "policy", "state", "before"}},
};

static const struct site *site_of(const char *name)
{
    const struct site *s = sites;

    while (strcmp(s->name, name) != 0) {
        s++;
    }
    return s;
}

/* ---- probes ---- */

struct probe {
    const char *provider, *function, *name, *site;
    const char *types[ARGUMENTS + 1];
    unsigned words[ARGUMENTS + 1];
    const char *doc;
};

#define TYPE_A(type, word) #type,
#define WORD_A(type, word) word,

static const struct probe probes[] = {
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) \
    PROBE_(prov, func, probe, id, doc, LIST_##args)
#define PROBE_(prov, func, probe, id, doc, ...) \
    {#prov, \
     func, \
     probe, \
     #id, \
     {TRACE_EACH(TYPE_, TRACE_SEP_NONE, , __VA_ARGS__)}, \
     {TRACE_EACH(WORD_, TRACE_SEP_NONE, , __VA_ARGS__)}, \
     doc},
#include "trace/probes.def"
#undef PROBE
#define IDENTITY \
    { \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9 \
    }
#define SDT(id, site, CLASS, fast, wide, doc) \
    {"sdt", \
     #CLASS, \
     #id, \
     #site, \
     {TRACE_EACH(SDT_TYPE_, TRACE_SEP_NONE, , TRACE_ARGS(fast, wide))}, \
     IDENTITY, \
     doc},
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) SDT(id, id, CLASS, fast, wide, doc)
#define EVENT_STATE(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    SDT(id, thread_state, CLASS, fast, wide, doc)
#define EVENT_CONTROL(...)
#include "trace/events.def"
};
#define PROBES (sizeof(probes) / sizeof(*probes))

static void print_arguments(const struct probe *p)
{
    const struct site *site = site_of(p->site);

    for (unsigned i = 0; p->types[i] != NULL; i++) {
        const char *name = p->words[i] == ONE && strcmp(p->provider, "sdt") != 0
                               ? "1"
                               : site->arguments[p->words[i]];
        printf("%s`%s %s`", i ? "<br>" : "", p->types[i], name);
    }
}

static void print_probe(const struct probe *p)
{
    printf("| ");
    if (p->function[0] != '\0') {
        gen_code(p->function);
    }
    printf(" | `%s` | ", p->name);
    print_arguments(p);
    printf(" | `%s` | ", p->site);
    gen_cell(p->doc);
    fputs(" |\n", stdout);
}

/* ---- kernel calls ---- */

struct call {
    const char *name;
    const char *arguments[CALL_ARGUMENTS + 1];
    const char *doc;
};

#define CALL_VAL(name) #name,
#define CALL_IN(name, bytes) "*" #name,
#define CALL_OUT(name, bytes) "*" #name,
#define CALL_INOUT(name, bytes) "*" #name,
#define CALL_STR(name) "*" #name,
#define CALL_MSG(name) "*" #name,
#define CALL_NONE NULL,
#define CALL_LIST_A(...) TRACE_EACH(CALL_, TRACE_SEP_NONE, , __VA_ARGS__)

static const struct call calls[] = {
#define KERCALL(number, NAME, handler, flags, args, enter, wide, exit, doc) \
    {#handler, {CALL_LIST_##args}, doc},
#include "kernel/abi/kercalls.def"
};

static void print_call(const struct call *call)
{
    printf("| `%s` | ", call->name);
    for (unsigned i = 0; call->arguments[i] != NULL; i++) {
        printf("%s`%s`", i ? ", " : "", call->arguments[i]);
    }
    fputs(" | ", stdout);
    gen_cell(call->doc);
    fputs(" |\n", stdout);
}

/* ---- the page ---- */

static const char head[] =
    "# Providers\n"
    "\n"
    "Generated from `trace/probes.def`, `trace/events.def`, `trace/sites.def` and\n"
    "`kernel/abi/kercalls.def` by `make docs`; change the tables, not this page. The language is "
    "in\n"
    "[d.md](d.md), how a probe gets into the kernel in [probes.md](probes.md), `fbt` (every "
    "function\n"
    "of the kernel) in [fbt.md](fbt.md). Ready scripts, each with a sample of its output beside "
    "it:\n"
    "`host/scripts/`. `kymo dtrace -lv` lists what a running board has.\n"
    "\n"
    "A probe is `provider:module:function:name`. The module of all that is in the kernel is\n"
    "`kernel`; a function stands here only where the probe has one. *Arguments* are `args[0]`,\n"
    "`args[1]` … with their C types, and what the site calls them; `arg0` … are the same as "
    "64-bit\n"
    "integers. Processes are `pid_t`, threads `id_t`, numbered from 1 in their process. *Site* is\n"
    "the row of the tables whose instruction is patched.\n"
    "\n"
    "Every probe fires on the CPU where it happens. `pid`, `tid`, `execname` … are those of the\n"
    "thread that runs there, which need not be the one that the arguments name.\n";

static const char profile[] =
    "\n"
    "## dtrace\n"
    "\n"
    "| probe | arguments | meaning |\n"
    "|---|---|---|\n"
    "| `BEGIN` | | tracing starts; no other probe fires before it |\n"
    "| `END` | | tracing ends; no other probe fires after it |\n"
    "| `ERROR` | `arg1` the enabling, `arg2` the action, `arg3` the offset of the instruction, "
    "`arg4`"
    " the kind, `arg5` the address | a clause was abandoned: a load that faulted, a division by 0 "
    "… "
    "|\n"
    "\n"
    "## profile\n"
    "\n"
    "`profile-N` fires on every CPU, `tick-N` on the first. N is a rate per second, or an "
    "interval\n"
    "with the suffix `ns`, `us`, `ms`, `s`, `m`, `h`, `d` (`nsec`, `usec`, `msec`, `sec`, `min`,\n"
    "`hour`, `day`) or a rate with `hz`; at least 200 us. A rate that nobody has used yet is made\n"
    "when a description names it exactly.\n"
    "\n"
    "| probe | arguments | meaning |\n"
    "|---|---|---|\n"
    "| `profile-N` | `arg0` 0<br>`arg1` where the program goes on, 0 if the CPU is idle |"
    " on every CPU |\n"
    "| `tick-N` | the same | on CPU 0 |\n"
    "\n"
    "The kernel has no tick and isn't interrupted in its work: a timer runs only while the probe "
    "is\n"
    "enabled, and fires at the kernel's exit. So `arg0`, the kernel's address elsewhere, is always "
    "0.\n";

static const char syscall_head[] =
    "\n"
    "## syscall\n"
    "\n"
    "Two probes a kernel call, the call's name as function. `entry`: `uintptr_t args[0]` … "
    "`args[5]`\n"
    "are the call's arguments, `*` marks addresses in the caller's memory (`copyin()`,\n"
    "`copyinstr()`); the library functions of QNX make these calls, so `MsgSend()` is `msg_sendv`\n"
    "with lengths below 0 for one part. `return`: `intptr_t args[0]` and `args[1]` are the "
    "result,\n"
    "-1 with `errno`. It fires when the thread goes back to its program, however long the call\n"
    "blocked it: in a call that hands the CPU over, other calls' probes fire between the two. A "
    "call\n"
    "that does not come back (a thread that ends) has no return. The calls themselves:\n"
    "[kercalls.md](kercalls.md).\n"
    "\n"
    "| function | arguments | meaning |\n"
    "|---|---|---|\n";

static const struct {
    const char *name, *about;
} providers[] = {
    {"sched",
     "The scheduler. A thread's state changes once, and several of these may be about it: "
     "a thread\n"
     "that is woken up and gets the CPU at once has `wakeup` and `on-cpu`. A thread that ends is "
     "gone\n"
     "when it leaves its CPU: `pid` is then the idle thread's, whose program is called `kymo`."},
    {"proc", "Processes and their threads."},
    {"msg", "Messages and pulses. A rcvid here is the one that the server gets."},
    {"intr", "Interrupts, as the kernel takes them: devices' and timers', not kernel calls."},
    {"timer",
     "The kernel's timers: programs', those of timeouts and sleeps, and D's own (`profile`)."},
    {"lockstat",
     "Waiting for locks: programs' mutexes, and the kernel's lock. A mutex that nobody\n"
     "waits for never enters the kernel, so it is not seen."},
    {"sysinfo", "Counters: `args[0]` is 1."},
    {"sdt",
     "Every row of the event table ([events.md](events.md)), with the arguments of the wider\n"
     "form. Function: the event's class."},
};

int main(void)
{
    fputs(head, stdout);
    fputs(profile, stdout);
    for (unsigned i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
        printf("\n## %s\n\n%s\n\n", providers[i].name, providers[i].about);
        fputs("| function | name | arguments | site | meaning |\n|---|---|---|---|---|\n", stdout);
        for (unsigned j = 0; j < PROBES; j++) {
            if (strcmp(probes[j].provider, providers[i].name) == 0) {
                print_probe(&probes[j]);
            }
        }
    }
    fputs(syscall_head, stdout);
    for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        print_call(&calls[i]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
