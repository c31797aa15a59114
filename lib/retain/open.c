/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a window of retained memory, with all fields checked: see retain.h. */
#include <string.h>

#include "abi/syspage.h"
#include "lib/retain/retain.h"
#include "lib/retain/sum.h"

int retain_memory_read(void *arg, uint32_t offset, void *to, uint32_t bytes)
{
    const struct retain_memory *memory = arg;

    if (bytes > memory->bytes || offset > memory->bytes - bytes) {
        return -1;
    }
    memcpy(to, memory->window + offset, bytes);
    return 0;
}

/* Returns whether [offset, offset + bytes) is in the window, after the areas. */
static bool retain_is_inside(const struct kymo_retain_header *header, uint64_t offset,
                             uint64_t bytes)
{
    return offset >= header->areas.free && bytes <= header->window &&
           offset <= header->window - bytes;
}

/* Returns whether the area is absent, or in the window with at least and at most so many bytes. */
static bool area_good(const struct kymo_retain_header *header, const struct kymo_retain_area *area,
                      uint64_t least, uint64_t most)
{
    return area->bytes == 0 ||
           (area->bytes >= least && area->bytes <= most && area->bytes <= header->window &&
            area->at <= header->window - area->bytes);
}

/* The contents of an area are checked where it is read. */
static bool areas_good(const struct kymo_retain_header *header)
{
    const struct kymo_retain_areas *areas = &header->areas;
    size_t cpus = offsetof(struct kymo_retain_frozen, cpu);

    return area_good(header, &areas->panic, sizeof(struct kymo_retain_panic),
                     sizeof(struct kymo_retain_panic)) &&
           area_good(header, &areas->boots, sizeof(struct kymo_retain_boots), UINT32_MAX) &&
           area_good(header, &areas->frozen, cpus, sizeof(struct kymo_retain_frozen)) &&
           area_good(header, &areas->d, sizeof(struct kymo_retain_d),
                     KYMO_RETAIN_D_MOST * sizeof(struct kymo_retain_d)) &&
           area_good(header, &areas->live, 1, UINT32_MAX) &&
           area_good(header, &areas->page, 1, KYMO_RETAIN_PAGE_MOST) &&
           area_good(header, &areas->notes, sizeof(struct kymo_retain_note),
                     KYMO_RETAIN_NOTES_AREA) &&
           area_good(header, &areas->names, sizeof(struct kymo_retain_name),
                     KYMO_RETAIN_NAMES_MOST * sizeof(struct kymo_retain_name));
}

static bool slots_good(uint32_t bytes)
{
    return bytes % TRACE_SLOT_BYTES == 0 && bytes / TRACE_SLOT_BYTES >= TRACE_BUFFER_SLOTS_LEAST &&
           bytes / TRACE_SLOT_BYTES <= RETAIN_SLOTS_MOST;
}

static bool ring_good(const struct kymo_retain_header *header)
{
    const struct kymo_retain_ring *ring = &header->ring;
    uint64_t buffers = (uint64_t)ring->ncpu * ring->per_cpu;

    if (ring->per_cpu == 0) {
        return ring->ncpu == 0;
    }
    return ring->ncpu > 0 && ring->ncpu <= RETAIN_CPUS_MOST &&
           ring->per_cpu <= RETAIN_BUFFERS_MOST && slots_good(ring->buffer_bytes) &&
           retain_is_inside(header, ring->buffers, buffers * ring->buffer_bytes) &&
           retain_is_inside(header, ring->marks, buffers * sizeof(struct kymo_retain_mark)) &&
           retain_is_inside(header, ring->words,
                            (uint64_t)ring->ncpu * ring->table_step +
                                (uint64_t)ring->per_cpu * ring->word_step);
}

static bool retain_header_good(const struct kymo_retain_header *header)
{
    size_t from = offsetof(struct kymo_retain_header, boots);

    return header->crc == retain_crc((const uint8_t *)header + from, header->bytes - from) &&
           (header->word_bits == 32 || header->word_bits == 64) && header->window <= UINT32_MAX &&
           areas_good(header) && ring_good(header) &&
           (header->areas.page.bytes == 0 || header->page_bytes <= header->areas.page.bytes);
}

/* Reads the header of this layout version or of the previous one, which had its areas at fixed
 * offsets. */
static bool retain_read_header(struct retain *retain)
{
    struct kymo_retain_header *header = &retain->header;
    size_t most = KYMO_RETAIN_V3_HEADER_BYTES, rest = sizeof(*header) - most;

    if (retain->read(retain->arg, KYMO_RETAIN_HEADER, header, (uint32_t)most) != 0 ||
        header->magic != KYMO_RETAIN_MAGIC) {
        return false;
    }
    if (header->version == KYMO_RETAIN_V3) {
        header->areas = (struct kymo_retain_areas)KYMO_RETAIN_V3_AREAS;
        return header->bytes == most && retain_header_good(header);
    }
    return header->version == KYMO_RETAIN_VERSION && header->bytes == sizeof(*header) &&
           retain->read(retain->arg, KYMO_RETAIN_HEADER + (uint32_t)most, &header->areas,
                        (uint32_t)rest) == 0 &&
           retain_header_good(header);
}

bool retain_area_read(struct retain *retain, const struct kymo_retain_area *area, uint32_t at,
                      void *to, uint32_t bytes)
{
    return bytes <= area->bytes && at <= area->bytes - bytes &&
           retain->read(retain->arg, area->at + at, to, bytes) == 0;
}

/* Returns the checksum of the area's [from, to), read through retain->slots: an area may be larger
 * than a stack. */
static bool sum_area(struct retain *retain, const struct kymo_retain_area *area, uint32_t from,
                     uint32_t to, uint32_t *crc)
{
    uint8_t *piece = (uint8_t *)retain->slots;

    for (*crc = 0; from < to;) {
        uint32_t n = to - from < sizeof(retain->slots) ? to - from : sizeof(retain->slots);

        if (!retain_area_read(retain, area, from, piece, n)) {
            return false;
        }
        *crc = retain_crc_more(*crc, piece, n);
        from += n;
    }
    return true;
}

static bool page_good(struct retain *retain)
{
    const struct kymo_retain_header *header = &retain->header;
    uint32_t crc;

    return header->page_bytes != 0 && header->areas.page.bytes != 0 &&
           sum_area(retain, &header->areas.page, 0, header->page_bytes, &crc) &&
           crc == header->page_crc;
}

/* Returns the slots of the kernel's buffers, from its ring or else from its system page. */
static uint32_t retain_buffer_slots(struct retain *retain)
{
    uint32_t from = offsetof(struct kymo_syspage, buffer_slots), slots;

    if (retain->header.ring.per_cpu != 0) {
        return retain->header.ring.buffer_bytes / TRACE_SLOT_BYTES;
    }
    return retain->page_good &&
                   retain_area_read(retain, &retain->header.areas.page, from, &slots, 4) &&
                   slots <= RETAIN_SLOTS_MOST && slots_good(slots * TRACE_SLOT_BYTES)
               ? slots
               : TRACE_BUFFER_SLOTS;
}

static bool all_zero(const void *data, size_t bytes)
{
    const uint8_t *at = data;

    while (bytes > 0 && at[bytes - 1] == 0) {
        bytes--;
    }
    return bytes == 0;
}

/* A boot that claims the window clears the panic's record; a panic fills it, then seals it. So a
 * record that is neither all 0 nor right was damaged, or cut off by a reset. Kernels of layout
 * version 3 promise only the magic. */
static void judge_panic(struct retain *retain)
{
    const struct kymo_retain_area *area = &retain->header.areas.panic;
    struct kymo_retain_panic *panic = (struct kymo_retain_panic *)(void *)retain->slots;

    if (area->bytes == 0) {
        return;
    }
    if (!retain_area_read(retain, area, 0, panic, sizeof(*panic))) {
        retain->panic_damaged = true;
        return;
    }
    retain->panicked = panic->crc == retain_crc(panic->record, sizeof(panic->record));
    retain->panic_damaged = !retain->panicked && (retain->header.version == KYMO_RETAIN_V3
                                                      ? panic->magic != 0
                                                      : !all_zero(panic, sizeof(*panic)));
    memcpy(&retain->panic, panic->record, sizeof(retain->panic));
    retain->panic.reason[sizeof(retain->panic.reason) - 1] = '\0';
    retain->panic.process[sizeof(retain->panic.process) - 1] = '\0';
}

/* Did the next boot save the cursors before its own data overwrote them? Its magic comes last, and
 * a claim clears it: a boot that was reset before has left what it wanted to save as it was. */
static void judge_frozen(struct retain *retain)
{
    const struct kymo_retain_area *area = &retain->header.areas.frozen;
    uint32_t head[offsetof(struct kymo_retain_frozen, cpu) / 4], crc;

    if (!retain_area_read(retain, area, 0, head, sizeof(head)) || head[0] == 0) {
        return;
    }
    retain->frozen = head[0] == KYMO_RETAIN_MAGIC && head[1] == retain->header.boots &&
                     sum_area(retain, area, sizeof(head), area->bytes, &crc) && crc == head[2];
    retain->frozen_damaged = !retain->frozen;
}

/* Returns how many bytes of the window can be read: all, or those up to where an image ends. */
static uint32_t retain_readable(struct retain *retain)
{
    uint32_t low = 0, high = (uint32_t)retain->header.window;
    uint8_t byte;

    if (high > 0 && retain->read(retain->arg, high - 1, &byte, 1) == 0) {
        return high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (retain->read(retain->arg, middle, &byte, 1) == 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int retain_open(struct retain *retain, retain_read_t read, void *arg)
{
    memset(retain, 0, sizeof(*retain));
    retain->read = read;
    retain->arg = arg;
    if (!retain_read_header(retain)) {
        return -1;
    }
    retain->readable = retain_readable(retain);
    retain->page_good = page_good(retain);
    retain->buffer_slots = retain_buffer_slots(retain);
    judge_panic(retain);
    judge_frozen(retain);
    retain_rewind(retain);
    return 0;
}
