/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a cut begins with: names of the processes and threads that live then, and who runs, as
 * events that no kernel made (bit 16 of their headers). They are in buffers of their own: what
 * begins with such an event tells nothing of what its CPU did. Then each CPU's first buffer of the
 * window is begun at the same time, so that a reader knows since when it was recorded. Stamps are
 * the last ones before the window, on the first CPU for all names.
 */
#include <string.h>

#include "host/cut/cut.h"
#include "kernel/abi/sys/states.h"

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

/* Who runs may be said if the cut has each change of it: all THRUNNING events of whom it has. */
static int running_inject(struct cut_file *file, const struct kymo_select *select,
                          const struct owners *owners, unsigned cpu, uint64_t time)
{
    struct owner owner = owners_running(owners, cpu);
    uint32_t words[2] = {(uint32_t)owner.pid, (uint32_t)owner.tid};
    struct kev_event event = {.time = time - 2,
                              .class = TRACE_CLASS_PR_TH,
                              .number = STATE_RUNNING,
                              .cpu = (uint8_t)cpu,
                              .words = words,
                              .nwords = 2,
                              .injected = true};

    if (time < 2 || !owner.known || !kymo_select_kind(select, &event) ||
        !kymo_select_owner(select, &owner, owners)) {
        return 0;
    }
    if (cut_event(file, &event) != 0) {
        return -1;
    }
    return 0;
}

static uint32_t names_count(const struct owners *owners)
{
    struct owner_name name;
    uint32_t at = 0, n = 0;

    while (owners_next_name(owners, &at, &name)) {
        n++;
    }
    return n;
}

int cut_prelude(struct cut_file *file, const struct kymo_select *select, const struct kev *kev,
                const struct owners *owners, uint64_t time)
{
    uint32_t words[WORDS_MOST], at = 0, n = names_count(owners);
    uint32_t skip = time >= n + 2 ? 0 : n + 2 - (uint32_t)time;
    struct kev_event event = {0};
    struct owner_name name;

    skip = skip < n ? skip : n;
    while (event.cpu + 1u < KEV_CPUS && !cpu_is_in(select, kev, event.cpu)) {
        event.cpu++;
    }
    for (uint32_t i = 0; owners_next_name(owners, &at, &name); i++) {
        if (i < skip) {
            continue;
        }
        event.time = time - 2 - (n - i);
        name_event(&event, words, &name, file);
        if (cut_event(file, &event) != 0) {
            return -1;
        }
    }
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (cpu_is_in(select, kev, cpu) && (running_inject(file, select, owners, cpu, time) != 0 ||
                                            cut_begin(file, cpu, time == 0 ? 0 : time - 1) != 0)) {
            return -1;
        }
    }
    return (int)skip;
}
