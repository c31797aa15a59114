/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a cut: names of the processes and threads that live then, where the texts of
 * programs are, and the running threads, as events that no kernel made (bit 16 of their headers).
 * They are in buffers of their own: what begins with such an event tells nothing of what its CPU
 * did. Then each CPU's first buffer of the window is begun, if the CPU was being recorded then:
 * readers take the CPU's events for complete from there on. Stamps are the last ones before the
 * window; all names are on the selection's first CPU.
 */
#include <string.h>

#include "host/cut/cut.h"
#include "abi/sys/states.h"

#define PROCCREATE_NAME 192
#define PROCTHREAD_NAME 320
#define WORDS_MOST (2 + TRACE_TEXT_BYTES / 4)

/* Words as the file has them: the text's bytes in their order, numbers swapped if need be. */
static void name_event(struct kev_event *event, uint32_t words[WORDS_MOST],
                       const struct owner_name *name, const struct cut_file *file)
{
    size_t len = strnlen(name->name, TRACE_TEXT_BYTES - 1);
    bool process = name->tid == OWNER_NONE;

    memset(words, 0, WORDS_MOST * sizeof(*words));
    words[0] = (uint32_t)(process ? name->ppid : name->pid);
    words[1] = (uint32_t)(process ? name->pid : name->tid);
    if (file->swapped) {
        words[0] = __builtin_bswap32(words[0]);
        words[1] = __builtin_bswap32(words[1]);
    }
    memcpy(words + 2, name->name, len);
    event->class = TRACE_CLASS_PR_TH;
    event->number = process ? PROCCREATE_NAME : PROCTHREAD_NAME;
    event->words = words;
    event->nwords = (uint32_t)(2 + 2 * ((len + 8) / 8));
    event->combined = true;
    event->injected = true;
    event->swapped = file->swapped;
}

static bool cpu_is_in(const struct kymo_select *select, const struct kev *kev, unsigned cpu)
{
    return cpu < kev_info(kev)->ncpu && (select->cpus == 0 || (select->cpus >> cpu & 1) != 0);
}

/* Running threads may be recorded if the cut has every change: all THRUNNING events of those it
 * includes. */
static enum cut_result running_inject(struct cut_file *file, const struct cut_prelude *prelude,
                                      unsigned cpu)
{
    struct owner owner = owners_running(prelude->owners, cpu);
    uint32_t words[2] = {(uint32_t)owner.pid, (uint32_t)owner.tid};
    struct kev_event event = {.time = prelude->time - 2,
                              .class = TRACE_CLASS_PR_TH,
                              .number = STATE_RUNNING,
                              .cpu = (uint8_t)cpu,
                              .words = words,
                              .nwords = 2,
                              .injected = true};

    if (prelude->time < 2 || !owner.known || !kymo_select_kind(prelude->select, &event) ||
        !kymo_select_owner(prelude->select, &owner, prelude->owners)) {
        return CUT_TAKEN;
    }
    return cut_event(file, &event);
}

/* The names at hand, one after the other. */
struct names {
    uint32_t owner, map;
    uint32_t words[WORDS_MOST];
};

static bool names_next(const struct cut_prelude *prelude, struct names *names,
                       const struct cut_file *file, struct kev_event *event)
{
    struct owner_name name;

    if (owners_next_name(prelude->owners, &names->owner, &name)) {
        *event = (struct kev_event){0};
        name_event(event, names->words, &name, file);
        return true;
    }
    return cut_maps_next(prelude->maps, &names->map, event);
}

static uint32_t names_count(const struct cut_prelude *prelude, const struct cut_file *file)
{
    struct names names = {0};
    struct kev_event event;
    uint32_t n = 0;

    while (names_next(prelude, &names, file, &event)) {
        n++;
    }
    return n;
}

/* On one CPU, one stamp each, the last one 3 before the window. */
static int names_inject(struct cut_file *file, const struct cut_prelude *prelude, unsigned cpu)
{
    uint32_t n = names_count(prelude, file);
    uint64_t room = prelude->time < 2 ? 0 : prelude->time - 2;
    uint32_t skip = room >= n ? 0 : n - (uint32_t)room;
    struct names names = {0};
    struct kev_event event;
    int unnamed = 0;

    for (uint32_t i = 0; names_next(prelude, &names, file, &event); i++) {
        enum cut_result result = CUT_LEFT_OUT;

        event.cpu = (uint8_t)cpu;
        event.time = room - (n - i);
        if (i >= skip) {
            result = cut_event(file, &event);
        }
        if (result == CUT_NO_MEMORY) {
            return -1;
        }
        unnamed += result == CUT_LEFT_OUT;
    }
    return unnamed;
}

/* A CPU that was not being recorded when the window begins: a reader takes a first buffer of number
 * 1 for one that the recording began with. */
static int late_begin(struct cut_file *file, const struct cut_prelude *prelude, unsigned cpu)
{
    uint32_t first = kev_info(prelude->kev)->cpu[cpu].first_sequence;

    return first < 2 ? 0 : cut_start(file, cpu, first);
}

int cut_prelude_write(struct cut_file *file, const struct cut_prelude *prelude)
{
    unsigned first = 0;
    int unnamed;

    while (first + 1u < KEV_CPUS && !cpu_is_in(prelude->select, prelude->kev, first)) {
        first++;
    }
    unnamed = names_inject(file, prelude, first);
    for (unsigned cpu = 0; cpu < KEV_CPUS && unnamed >= 0; cpu++) {
        uint64_t begin = prelude->time == 0 ? 0 : prelude->time - 1;
        int result = 0;

        if (!cpu_is_in(prelude->select, prelude->kev, cpu)) {
            continue;
        }
        if ((prelude->covered >> cpu & 1) == 0) {
            result = late_begin(file, prelude, cpu);
        } else if (running_inject(file, prelude, cpu) == CUT_NO_MEMORY ||
                   cut_begin(file, cpu, begin) != 0) {
            result = -1;
        }
        unnamed = result == 0 ? unnamed : -1;
    }
    return unnamed;
}
