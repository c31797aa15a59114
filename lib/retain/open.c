/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a window of retained memory, checked to the last field: see retain.h. */
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

/* Returns whether [offset, offset + bytes) is in the window, behind the fixed areas. */
static bool inside(const struct kymo_retain_header *header, uint64_t offset, uint64_t bytes)
{
    return offset >= KYMO_RETAIN_FREE(header->names) && bytes <= header->window &&
           offset <= header->window - bytes;
}

static bool slots_good(uint32_t bytes)
{
    return bytes % TRACE_SLOT_BYTES == 0 && bytes / TRACE_SLOT_BYTES >= TRACE_BUFFER_SLOTS_LEAST &&
           bytes / TRACE_SLOT_BYTES <= TRACE_BUFFER_SLOTS_MOST;
}

static bool ring_good(const struct kymo_retain_header *header)
{
    const struct kymo_retain_ring *ring = &header->ring;
    uint64_t buffers = (uint64_t)ring->ncpu * ring->per_cpu;

    if (ring->per_cpu == 0) {
        return ring->ncpu == 0;
    }
    return ring->ncpu > 0 && ring->ncpu <= KYMO_RETAIN_CPUS &&
           ring->per_cpu <= RETAIN_BUFFERS_MOST && slots_good(ring->buffer_bytes) &&
           inside(header, ring->buffers, buffers * ring->buffer_bytes) &&
           inside(header, ring->marks, buffers * sizeof(struct kymo_retain_mark)) &&
           inside(header, ring->words,
                  (uint64_t)ring->ncpu * ring->table_step +
                      (uint64_t)ring->per_cpu * ring->word_step);
}

static bool header_good(const struct kymo_retain_header *header)
{
    size_t from = offsetof(struct kymo_retain_header, boots);

    return header->magic == KYMO_RETAIN_MAGIC && header->version == KYMO_RETAIN_VERSION &&
           header->bytes == sizeof(*header) &&
           header->crc == retain_crc((const uint8_t *)header + from, sizeof(*header) - from) &&
           (header->word_bits == 32 || header->word_bits == 64) &&
           header->page_bytes <= KYMO_RETAIN_PAGE_BYTES && header->window <= UINT32_MAX &&
           header->names <= KYMO_RETAIN_NAMES_MOST &&
           header->window >= KYMO_RETAIN_FREE(header->names) && ring_good(header);
}

/* In pieces: the page is larger than a stack. */
static bool page_good(struct retain *retain)
{
    uint8_t *piece = (uint8_t *)retain->slots;
    uint32_t crc = 0;

    if (retain->header.page_bytes == 0) {
        return false;
    }
    for (uint32_t done = 0; done < retain->header.page_bytes;) {
        uint32_t left = retain->header.page_bytes - done;
        uint32_t n = left < sizeof(retain->slots) ? left : sizeof(retain->slots);

        if (retain->read(retain->arg, KYMO_RETAIN_PAGE + done, piece, n) != 0) {
            return false;
        }
        crc = retain_crc_more(crc, piece, n);
        done += n;
    }
    return crc == retain->header.page_crc;
}

/* Returns the slots of the kernel's buffers, as its ring or else its system page has them. */
static uint32_t slots_of(struct retain *retain)
{
    uint32_t from = KYMO_RETAIN_PAGE + offsetof(struct kymo_syspage, buffer_slots), slots;

    if (retain->header.ring.per_cpu != 0) {
        return retain->header.ring.buffer_bytes / TRACE_SLOT_BYTES;
    }
    return retain->page_good && retain->read(retain->arg, from, &slots, sizeof(slots)) == 0 &&
                   slots <= TRACE_BUFFER_SLOTS_MOST && slots_good(slots * TRACE_SLOT_BYTES)
               ? slots
               : TRACE_BUFFER_SLOTS;
}

static bool panic_good(struct retain *retain)
{
    struct kymo_retain_panic *panic = (struct kymo_retain_panic *)(void *)retain->slots;

    if (retain->read(retain->arg, KYMO_RETAIN_PANIC, panic, sizeof(*panic)) != 0 ||
        panic->magic != KYMO_RETAIN_MAGIC ||
        panic->crc != retain_crc(panic->record, sizeof(panic->record))) {
        return false;
    }
    memcpy(&retain->panic, panic->record, sizeof(retain->panic));
    retain->panic.reason[sizeof(retain->panic.reason) - 1] = '\0';
    retain->panic.process[sizeof(retain->panic.process) - 1] = '\0';
    return true;
}

/* Returns whether the next boot saved the cursors before its own data overwrote them. */
static bool frozen_good(struct retain *retain)
{
    struct kymo_retain_frozen *frozen = (struct kymo_retain_frozen *)(void *)retain->slots;

    return retain->read(retain->arg, KYMO_RETAIN_FROZEN, frozen, sizeof(*frozen)) == 0 &&
           frozen->magic == KYMO_RETAIN_MAGIC && frozen->boots == retain->header.boots &&
           frozen->crc == retain_crc(frozen->cpu, sizeof(frozen->cpu));
}

int retain_open(struct retain *retain, retain_read_t read, void *arg)
{
    memset(retain, 0, sizeof(*retain));
    retain->read = read;
    retain->arg = arg;
    if (read(arg, KYMO_RETAIN_HEADER, &retain->header, sizeof(retain->header)) != 0 ||
        !header_good(&retain->header)) {
        return -1;
    }
    retain->page_good = page_good(retain);
    retain->buffer_slots = slots_of(retain);
    retain->panicked = panic_good(retain);
    retain->frozen = frozen_good(retain);
    retain_rewind(retain);
    return 0;
}
