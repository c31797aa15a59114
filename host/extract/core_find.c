/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The retained memory in an image: wherever its magic stands, in front of a header whose CRC is
 * right. If the image says where it was in memory, it must be where its header says: a copy of it
 * elsewhere, in a program's buffer, is none. See core.h; what a header is worth: lib/retain.
 */
#include <string.h>

#include "host/extract/core.h"

/* Headers of other layouts have these version numbers. */
#define VERSIONS 255u
#define HEADER_LEAST 64u
#define HEADER_MOST 4096u

static const uint32_t core_find_magic_word = KYMO_RETAIN_MAGIC;

/* Why what begins like a header is none; the first of each kind is reported. */
static void core_find_note_rejected(struct core_search *search, const struct core_part *part,
                                    uint64_t at, uint64_t offset)
{
    struct kymo_retain_header header;
    uint64_t left = part->size - at;

    memset(&header, 0, sizeof(header));
    memcpy(&header, part->bytes + at, left < sizeof(header) ? (size_t)left : sizeof(header));
    if (header.version != KYMO_RETAIN_VERSION && header.version != KYMO_RETAIN_V3) {
        if (header.version - 1 < VERSIONS && header.bytes - HEADER_LEAST < HEADER_MOST &&
            !search->version) {
            search->version = true;
            search->version_offset = offset;
            search->version_found = header.version;
        }
        return;
    }
    if (header.bytes !=
        (header.version == KYMO_RETAIN_V3 ? KYMO_RETAIN_V3_HEADER_BYTES : sizeof(header))) {
        return;
    }
    if (!search->damaged) {
        search->damaged = true;
        search->damaged_offset = offset;
    }
}

static bool is_placed(struct core_search *search, const struct core_part *part, uint64_t at,
                      const struct core_window *window)
{
    uint64_t physical = window->retain.header.physical;

    if (!part->placed || part->physical + at == physical) {
        return true;
    }
    if (!search->elsewhere) {
        search->elsewhere = true;
        search->elsewhere_offset = window->offset;
        search->elsewhere_physical = physical;
    }
    return false;
}

/* Windows may overlap: an earlier kernel's, of another build, which is overwritten in part. */
static bool is_crowded(struct core_search *search, const struct core *core,
                       const struct core_window *window)
{
    uint64_t claimed = window->retain.header.window, there = window->memory.bytes;

    search->windows += claimed < there ? claimed : there;
    search->crowded = search->windows / CORE_TIMES_MOST > core->size;
    return search->crowded;
}

static bool core_find_look_window(struct core_search *search, const struct core *core,
                                  const struct core_part *part, struct core_window *window)
{
    while (search->at < part->size && !search->crowded) {
        const uint8_t *from = part->bytes + search->at;
        const uint8_t *hit = memmem(from, part->size - search->at, &core_find_magic_word,
                                    sizeof(core_find_magic_word));

        if (!hit) {
            break;
        }
        uint64_t at = (uint64_t)(hit - part->bytes);

        search->at = at + 1;
        window->offset = (uint64_t)(hit - core->data);
        window->memory = (struct retain_memory){hit, part->size - at};
        if (retain_open(&window->retain, retain_memory_read, &window->memory) != 0) {
            core_find_note_rejected(search, part, at, window->offset);
        } else if (!is_crowded(search, core, window) && is_placed(search, part, at, window)) {
            return true;
        }
    }
    search->bytes += part->size;
    return false;
}

bool core_find(const struct core *core, struct core_search *search, struct core_window *window)
{
    for (; search->part < core->count; search->part++, search->at = 0) {
        if (core_find_look_window(search, core, &core->part[search->part], window)) {
            return true;
        }
    }
    return false;
}
