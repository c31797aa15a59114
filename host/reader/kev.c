/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing a capture.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "lib/capture/check.h"

const struct kev_info *kev_info(const struct kev *kev)
{
    return &kev->info;
}

const uint8_t *kev_page(const struct kev *kev, uint32_t *bytes)
{
    *bytes = kev->syspage_len;
    return kev->syspage_len == 0 || kev->head_damaged ? NULL : kev->syspage;
}

const struct kev_damage *kev_damage(const struct kev *kev)
{
    return &kev->damage;
}

const struct kev_error *kev_ended_by(const struct kev *kev)
{
    return kev->ended_by.text[0] == '\0' ? NULL : &kev->ended_by;
}

void kev_hold(struct kev *kev, uint64_t released)
{
    kev->released = released;
    kev->run = NULL;
}

static void head_free(struct kev *kev)
{
    for (unsigned i = 0; i < kev->nattrs; i++) {
        free(kev->attrs[i].key);
        free(kev->attrs[i].value);
    }
    free(kev->attrs);
    free(kev->syspage);
    kev->attrs = NULL;
    kev->nattrs = 0;
    kev->syspage = NULL;
}

void kev_close(struct kev *kev)
{
    if (kev == NULL) {
        return;
    }
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        kev_lane_free(kev->lanes[i]);
    }
    head_free(kev);
    free(kev->index.entries);
    kev_gap_free(kev);
    kev_table_free(kev->table);
    kev_file_close(&kev->file);
    free(kev->log_words);
    free(kev);
}

/* Another kernel's first time is in no head of a buffer. */
static void start_foreign(struct kev *kev)
{
    uint64_t cpus = kev->options.cpus;
    struct kev_event event;
    struct kev_error error;

    kev->options.cpus = 0;
    if (kev_next(kev, &event, &error) == KEV_EVENT) {
        kev->info.start = event.time;
        kev->started = true;
    }
    kev->options.cpus = cpus;
    kev_rewind(kev);
}

/* "0x…", of a capture that was cut out of another one. */
static bool start_told(struct kev *kev)
{
    const char *text = kev_attr(kev, "CUT_START");
    char *end;

    if (text == NULL || strncmp(text, "0x", 2) != 0) {
        return false;
    }
    kev->info.start = strtoull(text + 2, &end, 16);
    return *end == '\0' && end > text + 2;
}

/* A CPU's first buffer, or NULL. DROPPED slots may stand before it: they have no time then. */
static const struct kev_entry *first_buffer(const struct kev *kev, unsigned cpu)
{
    uint32_t i = kev->lanes[cpu] == NULL ? KEV_NONE : kev->lanes[cpu]->first;

    while (i != KEV_NONE && kev->index.entries[i].kind != KEV_BUFFER) {
        i = kev->index.entries[i].next;
    }
    return i == KEV_NONE ? NULL : &kev->index.entries[i];
}

/* Following, CPUs that have not been heard of may have begun earlier still. */
static void start_find(struct kev *kev)
{
    bool found = false;

    kev->started = start_told(kev);
    if (!kev->started && !kev->info.kymo) {
        start_foreign(kev);
        return;
    }
    for (unsigned i = 0; i < KEV_CPUS && !kev->started; i++) {
        const struct kev_entry *entry = first_buffer(kev, i);

        if (entry != NULL && (!found || entry->time < kev->info.start)) {
            kev->info.start = entry->time;
            found = true;
        }
    }
    kev->started |= found;
}

static int kev_index(struct kev *kev, struct kev_error *error)
{
    int result = kev->info.next_capture != 0 ? 0 /* what grows is that one */
                 : kev->info.kymo            ? kev_index_kymo(kev, error)
                                             : kev_index_foreign(kev, error);

    kev->per_cpu |= kev->info.kymo;
    kev->info.size = kev->file.size;
    kev->damage_opened = kev->damage;
    if (result == 0 && !kev->started) {
        start_find(kev);
    }
    return result;
}

/* Recovering a file whose head is damaged: buffers are looked for from the start. */
static int head_recover(struct kev *kev, const struct kev_error *error)
{
    kev_note(kev, error->offset, "the header or the system page is damaged");
    kev->damage.places++;
    kev->head_damaged = true;
    kev->info.kymo = true;
    kev->checked = kev->info.checked = false;
    kev->check_unknown = kev->index.head_seen = true;
    kev->info.clock_known = kev->info.cycles_per_sec != 0;
    if (!kev->info.clock_known) {
        kev->info.cycles_per_sec = 1000000000u;
    }
    kev->info.ncpu = kev->info.ncpu == 0 || kev->slots_offset == 0 ? KEV_CPUS : kev->info.ncpu;
    kev->info.word_bits = kev->info.word_bits == 0 ? 32 : kev->info.word_bits;
    kev->buffer_slots = kev->buffer_slots == 0 ? TRACE_BUFFER_SLOTS : kev->buffer_slots;
    return kev_table_own_calls_both(kev->table);
}

static int head_try(struct kev *kev, struct kev_error *error)
{
    return kev_read_head(kev, error) == 0 && kev_read_syspage(kev, error) == 0
               ? kev_read_version(kev, error)
               : -1;
}

static int head_read(struct kev *kev, struct kev_error *error)
{
    int result = head_try(kev, error);

    /* Following a pipe whose writer has not written the head yet. */
    while (result != 0 && error->incomplete && kev->file.pipe >= 0) {
        head_free(kev);
        if (kev_file_wait(&kev->file, error) != 0) {
            break;
        }
        result = head_try(kev, error);
    }
    if (result != 0 && kev->table->no_memory) {
        kev_fail_memory(error, kev->file.path, "out of memory");
    }
    if (result != 0 && !error->no_memory && kev->options.recover &&
        !(kev->options.follow && error->incomplete)) {
        result = head_recover(kev, error);
    }
    kev->info.path = kev->file.path;
    kev->info.attrs = kev->attrs;
    kev->info.nattrs = kev->nattrs;
    kev->index.end = kev->slots_offset;
    kev->index.all = CAPTURE_SUM_FIRST;
    return result;
}

static struct kev *open_fail(struct kev *kev)
{
    kev_close(kev);
    return NULL;
}

struct kev *kev_open(const char *path, const struct kev_options *options, struct kev_error *error)
{
    struct kev *kev = calloc(1, sizeof(*kev));

    memset(error, 0, sizeof(*error));
    if (kev == NULL) {
        kev_fail_memory(error, path, "out of memory");
        return NULL;
    }
    kev->options = *options;
    kev->info.recovers = options->recover;
    if (kev->options.progress == NULL) {
        kev->options.progress = kev_progress;
        kev->options.progress_arg = (void *)"reading";
    }
    kev->popped = false;
    kev->refill = true;
    kev->released = KEV_HOLD_NONE;
    kev->file.fd = -1;
    kev->file.pipe = -1;
    kev->table = calloc(1, sizeof(*kev->table));
    if (kev->table == NULL || kev_table_builtin(kev->table) != 0) {
        kev_fail_memory(error, path, "out of memory");
        return open_fail(kev);
    }
    if (kev_file_open(&kev->file, path, options, error) != 0 || head_read(kev, error) != 0) {
        return open_fail(kev);
    }
    kev_table_measure(kev->table);
    return kev_index(kev, error) == 0 ? kev : open_fail(kev);
}

int kev_refresh(struct kev *kev, bool *ended, struct kev_error *error)
{
    uint32_t before = kev->index.count;

    if (kev_file_refresh(&kev->file, true, error) != 0) {
        return -1;
    }
    *ended = kev->file.spooled && kev->file.pipe < 0;
    kev->options.follow &= !*ended; /* from now on an end that is too early is one */
    if (kev_index(kev, error) != 0) {
        return -1;
    }
    kev->refill = true;
    kev->run = NULL;
    return (int)(kev->index.count - before);
}
