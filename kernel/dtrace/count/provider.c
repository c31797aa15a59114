/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider cpc: cpc:::EVENT-MODE-COUNT fires on each CPU each time its counter has counted
 * COUNT events in the mode. A probe is created when a description names it exactly, and never
 * deleted, so there are at most PROBES_MOST. While it is enabled it uses one of each CPU's counters
 * exclusively. Control context, kernel lock. Tested by test/board/counters.py.
 */
#include "abi/compiler.h"
#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "kernel/arch/count.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/count/count.h"
#include "kernel/dtrace/count/own.h"
#include "kernel/dtrace/dtrace.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

enum { PROBES_MOST = 256 };

static struct counted *probes; /* [k] */
static unsigned probe_count;   /* [k] */
static bool listed;            /* [k] the usual probes have been created */

static const struct {
    const char *text;
    uint8_t modes;
} mode_names[] = {{"user", ARCH_COUNT_USER},
                  {"kernel", ARCH_COUNT_KERNEL},
                  {"all", ARCH_COUNT_USER | ARCH_COUNT_KERNEL}};

/* ---- enabling ---------------------------------------------------------------------- */

static int provider_enable(uint32_t probe, void *arg)
{
    struct counted *p = arg;
    unsigned n = count_take();

    (void)probe;
    p->cpus = 0;
    p->counter = (uint8_t)n;
    return n == COUNTER_NONE ? -EBUSY : 0;
}

static void provider_disable(uint32_t probe, void *arg)
{
    struct counted *p = arg;

    (void)probe;
    for (unsigned cpu = 0; cpu < arch_cpu_count(); cpu++) {
        if (p->cpus >> cpu & 1) {
            count_run(p, cpu, false);
        }
    }
    p->cpus = 0;
    if (p->counter != COUNTER_NONE) {
        count_give(p->counter);
    }
}

static int provider_changed(uint32_t probe, void *arg)
{
    struct counted *p = arg;

    for (unsigned cpu = 0; cpu < arch_cpu_count(); cpu++) {
        bool wanted = cpus[cpu].online && dtrace_probe_wanted(dtrace_probe_at(probe), cpu, false);
        if (wanted != (p->cpus >> cpu & 1)) {
            count_run(p, cpu, wanted);
            p->cpus ^= 1ull << cpu;
        }
    }
    return 0;
}

static void provider_provide(const char *module, const char *function, const char *name);

/* The names are the machine's own. */
static const struct dtrace_provider_ops provider_ops = {
    .attributes = {.name = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_EVOLVING,
                            DTRACE_EVOLVING},
                   .data = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_UNKNOWN, DTRACE_EVOLVING,
                            DTRACE_EVOLVING},
                   .dependency = {DTRACE_COMMON, DTRACE_UNKNOWN, DTRACE_UNKNOWN, DTRACE_CPU,
                                  DTRACE_COMMON}},
    .provide = provider_provide,
    .enable = provider_enable,
    .disable = provider_disable,
    .changed = provider_changed,
    .own = DTRACE_OWN_CURRENT,
};
static const struct dtrace_provider provider = {"cpc", &provider_ops};

/* ---- names ------------------------------------------------------------------------- */

/* Returns the text after "word-", or NULL if the text doesn't begin so. */
static const char *cpc_text_after(const char *text, const char *word)
{
    while (*word && *text == *word) {
        text++;
        word++;
    }
    return *word || *text != '-' ? NULL : text + 1;
}

/* Returns a number without a leading 0, or 0 if the text is not a 32-bit number. */
static uint32_t cpc_number(const char *text)
{
    uint64_t n = 0;

    if (*text == '0') {
        return 0;
    }
    for (; '0' <= *text && *text <= '9' && n <= UINT32_MAX; text++) {
        n = n * 10 + (unsigned)(*text - '0');
    }
    return *text || n > UINT32_MAX ? 0 : (uint32_t)n;
}

static bool is_there(const char *name)
{
    for (const struct counted *p = probes; p; p = p->next) {
        if (__builtin_strcmp(p->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static COLD void probe_make(const char *name, unsigned event, unsigned modes, uint32_t count)
{
    if (probe_count >= PROBES_MOST || is_there(name)) {
        return;
    }
    struct counted *p = dtrace_probe_room() ? dtrace_port_keep(sizeof(*p)) : NULL;
    if (!p) {
        return;
    }
    for (unsigned i = 0; name[i]; i++) { /* it fits, and the memory is zeroed */
        p->name[i] = name[i];
    }
    p->event = (uint8_t)event;
    p->modes = (uint8_t)modes;
    p->count = count;
    p->counter = COUNTER_NONE;
    p->probe = dtrace_probe_add(&provider, "", "", p->name, p);
    p->next = probes;
    probes = p;
    probe_count++;
}

/* Creates one probe for each available event, so that a list of probes shows the events. */
static COLD void list_usual(void)
{
    static const char rest[] = KYMO_D_COUNT_LISTED;
    char name[sizeof(probes->name)];

    listed = true;
    for (unsigned event = 0; arch_count_name(event); event++) {
        const char *from = arch_count_name(event);
        unsigned n = (unsigned)__builtin_strlen(from);
        kernel_assert(n + sizeof(rest) <= sizeof(name));
        __builtin_memcpy(name, from, n);
        __builtin_memcpy(name + n, rest, sizeof(rest));
        if (count_event_counts(event)) {
            probe_make(name, event, ARCH_COUNT_USER | ARCH_COUNT_KERNEL, KYMO_D_COUNT_USUAL);
        }
    }
}

static void provider_provide(const char *module, const char *function, const char *name)
{
    if (!count_facts()->interrupts) {
        return;
    }
    if (!listed) {
        list_usual();
    }
    for (unsigned event = 0; *module == '\0' && *function == '\0' && arch_count_name(event);
         event++) {
        const char *mode = cpc_text_after(name, arch_count_name(event));
        for (unsigned m = 0; mode && m < sizeof(mode_names) / sizeof(*mode_names); m++) {
            const char *text = cpc_text_after(mode, mode_names[m].text);
            uint32_t count = text ? cpc_number(text) : 0;
            if (count >= KYMO_D_COUNT_LEAST && count_event_counts(event)) {
                probe_make(name, event, mode_names[m].modes, count);
            }
        }
    }
}

COLD void dtrace_count_init(void)
{
    dtrace_provider_register(&provider);
}
