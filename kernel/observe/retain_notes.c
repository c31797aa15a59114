/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes of D's consumers that log, beside the ring in retained memory: a ring's records can be
 * printed only with them, and the ring may have overwritten its own copy. They are stored
 * consecutively; when there is no room, those of destroyed consumers are dropped. A reset during a
 * write leaves the complete ones.
 *
 * Lock [k], or boot. Proof: test/boot/dlog.py; the finder: test/unit/test_retain.c.
 */
#include "abi/retain.h"
#include "kernel/arch/aspace.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/observe/retain.h"
#include "kernel/base/string.h"
#include "trace/crc32c.h"
#include "trace/dtrace/log_event.h"

_Static_assert(KYMO_RETAIN_NOTES_EVENT == DTRACE_LOG_NOTES &&
                   KYMO_RETAIN_NOTES_PART == DTRACE_LOG_NOTES_PART &&
                   KYMO_RETAIN_NOTES_MOST == DTRACE_LOG_NOTES_MAX,
               "abi/retain.h");

/* Reserved for entries that report missing room. */
#define RESERVE 1024u

static struct {
    uint8_t *area;  /* [k] NULL: the window is not this boot's */
    uint32_t boots; /* [k] */
    uint32_t used;  /* [k] bytes; a whole number of 8 */
} notes;

/* Ends the list at `used`. */
static void put_end(uint32_t used)
{
    if (used <= KYMO_RETAIN_NOTES_BYTES - sizeof(struct kymo_retain_note)) {
        ((struct kymo_retain_note *)(void *)(notes.area + used))->magic = 0;
    }
}

/* n 0: reports only that there was no room. */
static bool retain_notes_put(uint32_t id, uint32_t total, const void *bytes, uint32_t n)
{
    struct kymo_retain_note *note = (struct kymo_retain_note *)(void *)(notes.area + notes.used);
    uint32_t room = KYMO_RETAIN_NOTES_BYTES - (n ? RESERVE : 0);
    uint32_t need = (uint32_t)sizeof(*note) + ((n + 7) & ~7u);

    if (room < notes.used || need > room - notes.used) {
        return false;
    }
    put_end(notes.used + need);
    memcpy(note + 1, bytes, n);
    note->boots = notes.boots;
    note->id = id;
    note->total = total;
    note->bytes = n;
    note->data_crc = trace_crc(note + 1, n);
    note->zero = 0;
    note->crc = trace_crc(&note->boots, sizeof(*note) - offsetof(struct kymo_retain_note, boots));
    *(volatile uint32_t *)&note->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(note, need);
    notes.used += need;
    return true;
}

static void put_all(void)
{
    const void *bytes;
    uint32_t id, n;

    notes.used = 0;
    put_end(0);
    for (unsigned i = 0; dtrace_log_notes_of(i, &id, &bytes, &n); i++) {
        if (n > KYMO_RETAIN_NOTES_BYTES || !retain_notes_put(id, n, bytes, n)) {
            retain_notes_put(id, n, bytes, 0);
        }
    }
}

void retain_notes_begin(uint8_t *area, uint32_t boots)
{
    notes.area = area;
    notes.boots = boots;
    put_all();
}

void retain_note(uint32_t id, const void *bytes, uint32_t n)
{
    if (notes.area &&
        (!bytes || n > KYMO_RETAIN_NOTES_BYTES || !retain_notes_put(id, n, bytes, n))) {
        put_all();
    }
}
