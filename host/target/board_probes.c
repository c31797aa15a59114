/* SPDX-License-Identifier: BSD-2-Clause */
/* See board_probes.h. The tables are those that trace/dtrace/site/sites.c and
 * kernel/dtrace/syscall.c use. */
#include "host/target/board_probes.h"

#include "trace/event_args.h"
#include "trace/sdt_types.h"

#include <string.h>

enum { ARGUMENTS = 10 };

struct row {
    const char *provider, *function, *name;
    const char *types[ARGUMENTS]; /* NULL: no more */
};

#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define ARGS(...) LIST(__VA_ARGS__)
#define TYPES(...) LIST(__VA_ARGS__)
#define WORDS "uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t"

static const struct row board_probes_row_table[] = {
#define A(type, name) SDT_TYPE_##type
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    {"sdt", #CLASS, #id, {TRACE_ARGS(fast, wide)}},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef A
#define A(type, word) #type
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) {#prov, func, probe, args},
#define PROBE_TYPED(prov, func, probe, id, NEW, OLD, args, typed, doc) {#prov, func, probe, typed},
#include "trace/probes.def"
#undef PROBE
#undef PROBE_TYPED
#define KERCALL(number, NAME, handler, ...) \
    {"syscall", #handler, "entry", {WORDS}}, \
        {"syscall", #handler, "return", {"intptr_t", "intptr_t"}},
#include "abi/kercalls.def"
#undef KERCALL
};
enum { ROWS = sizeof(board_probes_row_table) / sizeof(*board_probes_row_table) };

unsigned board_probes_each(const char *provider, const char *module, const char *function,
                           const char *name, bool (*fn)(void *arg, const struct dt_probe_info *),
                           void *arg)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < ROWS && dtrace_glob(module, "kernel"); i++) {
        const struct row *r = &board_probes_row_table[i];
        const struct dt_probe_info info = {.id = i + 1,
                                           .provider = r->provider,
                                           .module = "kernel",
                                           .function = r->function,
                                           .name = r->name};
        if (dtrace_glob(provider, r->provider) && dtrace_glob(function, r->function) &&
            dtrace_glob(name, r->name)) {
            n++;
            if (!fn(arg, &info)) {
                break;
            }
        }
    }
    return n;
}

const char *board_probe_type(uint32_t id, unsigned n)
{
    return id >= 1 && id <= ROWS && n < ARGUMENTS ? board_probes_row_table[id - 1].types[n] : NULL;
}
