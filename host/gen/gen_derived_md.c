/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/reference/derived.md from trace/derived.def. Run by `make docs`; the build checks
 * that the committed page is what this prints, test/dtrace/causes.py that each probe has its
 * arguments on a booted board.
 */
#include "host/gen/gen.h"

enum { ARGUMENTS = 10 };

struct derived {
    const char *provider, *name, *base, *predicate;
    struct {
        const char *type, *name;
    } arguments[ARGUMENTS + 1];
    const char *doc;
};

#define ARGS(...) \
    { \
        __VA_ARGS__ \
    }
#define A(type, name, value) \
    { \
        type, #name \
    }

static const struct derived derived_md_probe_rows[] = {
#define DERIVED(prov, func, probe, base_prov, base_func, base_probe, test, args, doc) \
    {#prov, probe, #base_prov ":kernel:" base_func ":" base_probe, test, args, doc},
#include "trace/derived.def"
#undef DERIVED
};
enum { ROWS = sizeof(derived_md_probe_rows) / sizeof(*derived_md_probe_rows) };

static const char derived_md_page_head[] =
    "# Derived probes\n"
    "\n"
    "This page is for those who miss a probe in [providers.md](providers.md): it lists the probes\n"
    "that the compiler makes of those that the target has.\n"
    "Generated from `trace/derived.def` by `make docs`; change the table, not this page.\n"
    "\n"
    "Such a probe is another one (*made of*) with a predicate in front of the clause's own, and\n"
    "other arguments: it costs the target nothing while it is off, and fires where and when the\n"
    "other one does, on captures, too. `probeprov`, `probename` and the others are its own; the\n"
    "column ID, and `id`, are those of what it is made of, and `-l` shows `-`.\n"
    "\n"
    "A description whose provider is one of the target's means the target's probes: `proc:::` has\n"
    "none of these, `proc:::start` is one, and `pro*:::` has both. Static probes of programs are\n"
    "found likewise ([userprobes.md](../guide/userprobes.md)).\n";

static const struct {
    const char *name, *about;
} providers[] = {
    {"plockstat",
     "Mutexes of programs, in the thread that calls: `ustack()` says who. `pthread_mutex_lock()`\n"
     "asks the kernel only for a mutex that another thread owns, `pthread_mutex_unlock()` gives\n"
     "it one that a thread waits for; `SyncMutexLock()` and `SyncMutexUnlock()` always do. A "
     "mutex\n"
     "that is free when it is asked for never enters the kernel and has no probe. No mutex spins,\n"
     "so there is no `mutex-spin`."},
    {"proc", "Processes."},
    {"sched", "The scheduler."},
    {"sysinfo", "Counters: `args[0]` is 1."},
    {"vminfo", "Memory of programs; `args[0]` is how much. A heap has its size from its start."},
};

static void derived_md_print_row(const struct derived *p)
{
    struct gen_row out = {0};
    char *cell;

    gen_cell(&out, "");
    gen_code(&out, p->name);
    cell = gen_new_cell(&out);
    for (unsigned i = 0; p->arguments[i].type != NULL; i++) {
        char item[GEN_TEXT];

        snprintf(item, sizeof(item), "%s`%s %s`", i > 0 ? ", " : "", p->arguments[i].type,
                 p->arguments[i].name);
        gen_append(cell, item);
    }
    gen_append(cell, p->arguments[0].type == NULL ? "-" : "");
    cell = gen_new_cell(&out);
    gen_append(cell, "`");
    gen_append(cell, p->base);
    gen_append(cell, "`");
    if (p->predicate != NULL) {
        gen_append(cell, " `/");
        gen_append(cell, p->predicate);
        gen_append(cell, "/`");
    }
    gen_cell(&out, p->doc);
    gen_print(&out);
}

int main(void)
{
    fputs(derived_md_page_head, stdout);
    for (unsigned i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
        printf("\n## %s\n\n%s\n\n", providers[i].name, providers[i].about);
        fputs("| function | name | arguments | made of | meaning |\n|---|---|---|---|---|\n",
              stdout);
        for (unsigned j = 0; j < ROWS; j++) {
            if (strcmp(derived_md_probe_rows[j].provider, providers[i].name) == 0) {
                derived_md_print_row(&derived_md_probe_rows[j]);
            }
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
