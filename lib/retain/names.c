/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of processes and threads (abi/retain.h, struct kymo_retain_name), as the events of a state
 * dump: a process's name and text address, a thread's name. One buffer before all others. No kernel
 * made these events: _NTO_TRACE_PROCESS_INJECTED in their headers marks this. Only entries with a
 * right CRC are used; the others are counted.
 */
#include <string.h>

#include "lib/retain/internal.h"

/* trace/events.def: numbers of PR_TH and SYSTEM. */
#define PROCCREATE_NAME 192 /* ppid, pid, name */
#define PROCTHREAD_NAME 320 /* pid, tid, name */
#define MAPNAME 8           /* pid, text, its size, name */

#define EVENT_WORDS (5 + KYMO_RETAIN_NAME_MAX / 4)
#define EVENT_SLOTS ((EVENT_WORDS + 1) / 2)
/* The stamps of a buffer have one high word. */
#define STAMPS (2 * KYMO_RETAIN_NAMES_MOST + 2)

static bool good(const struct retain *retain, struct kymo_retain_name *name)
{
    size_t from = offsetof(struct kymo_retain_name, boots);

    name->name[sizeof(name->name) - 1] = '\0';
    return name->crc == retain_crc((const uint8_t *)name + from, sizeof(*name) - from) &&
           name->boots == retain->header.boots;
}

/* Reads entry i, if it exists and was still alive when the window begins. */
static bool read_entry(struct retain *retain, uint32_t i, struct kymo_retain_name *name)
{
    uint32_t at = KYMO_RETAIN_NAMES + i * (uint32_t)sizeof(*name);

    if (retain->read(retain->arg, at, name, sizeof(*name)) != 0) {
        retain->losses.names++;
        return false;
    }
    if (name->magic != KYMO_RETAIN_MAGIC) {
        return false; /* free, or being written */
    }
    if (!good(retain, name)) {
        retain->losses.names++;
        return false;
    }
    return name->ended == 0 || name->ended > retain->first_time;
}

/* Writes an event of n words followed by a text; returns its slots. */
static uint32_t put_event(struct trace_slot *slot, uint32_t what, uint32_t time, uint32_t n,
                          const uint32_t *words, const char *text)
{
    uint32_t all[EVENT_SLOTS * 2] = {0};

    memcpy(all, words, n * sizeof(*words));
    memcpy(&all[n], text, strlen(text));
    return retain_put(slot, what | _NTO_TRACE_PROCESS_INJECTED, time, all,
                      n * (uint32_t)sizeof(*words) + (uint32_t)strlen(text) + 1);
}

static uint32_t put_mapname(struct trace_slot *slot, uint32_t cpu, uint32_t time,
                            const struct kymo_retain_name *name)
{
    uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_SYSTEM, MAPNAME);
    uint32_t pid = (uint32_t)name->pid, low = (uint32_t)name->text,
             size = (uint32_t)name->text_size;

    if (name->text > UINT32_MAX || name->text_size > UINT32_MAX) {
        const uint32_t words[] = {pid, low, (uint32_t)(name->text >> 32), size,
                                  (uint32_t)(name->text_size >> 32)};
        return put_event(slot, what | TRACE_EVENT_64, time, 5, words, name->name);
    }
    return put_event(slot, what, time, 3, (const uint32_t[]){pid, low, size}, name->name);
}

/* Writes the events of an entry: *time is the next stamp. */
static uint32_t put_entry(struct trace_slot *slot, uint32_t cpu, uint32_t *time,
                          const struct kymo_retain_name *name)
{
    uint32_t pid = (uint32_t)name->pid, tid = (uint32_t)name->tid;

    if (tid != 0) {
        uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_PR_TH, PROCTHREAD_NAME);

        return name->name[0] == '\0'
                   ? 0
                   : put_event(slot, what, (*time)++, 2, (const uint32_t[]){pid, tid}, name->name);
    }
    uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_PR_TH, PROCCREATE_NAME);
    uint32_t n = put_event(slot, what, (*time)++, 2, (const uint32_t[]){(uint32_t)name->ppid, pid},
                           name->name);

    return name->text_size == 0 ? n : n + put_mapname(slot + n, cpu, (*time)++, name);
}

/* Returns a stamp `STAMPS` below the first one, within one high word. */
static uint64_t stamp_before(uint64_t first)
{
    uint64_t stamp = first - STAMPS;

    return stamp >> 32 == first >> 32 ? stamp : (first & ~(uint64_t)UINT32_MAX) - STAMPS;
}

uint32_t retain_names_buffer(struct retain *retain)
{
    uint64_t stamp = stamp_before(retain->first_time);
    uint32_t low = (uint32_t)stamp, cpu = retain->cpu, count = 2, time = low + 2;
    struct trace_slot *slots = retain->slots;
    struct kymo_retain_name name;

    if (retain->first_time < 2 * STAMPS) {
        return 0;
    }
    for (uint32_t i = 0; i < KYMO_RETAIN_NAMES_MOST; i++) {
        bool room = count + 2 * EVENT_SLOTS <= TRACE_BUFFER_SLOTS;

        if (read_entry(retain, i, &name)) {
            retain->losses.names += !room;
            count += room ? put_entry(&slots[count], cpu, &time, &name) : 0;
        }
    }
    slots[0] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER), low,
                                   retain->names_sequence, count};
    slots[1] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME), low + 1,
                                   (uint32_t)(stamp >> 32), low + 1};
    return count > 2 ? count : 0;
}
