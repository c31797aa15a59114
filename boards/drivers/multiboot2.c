/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads Multiboot2's information: see multiboot2.h. */
#include "boards/drivers/multiboot2.h"

#include <stdbool.h>

#define HEAD 8 /* bytes of the information's header, and of a tag's */
enum {
    TAG_END = 0,
    TAG_MODULE = 3,
    TAG_MEMORY = 6,
    TAG_FRAMEBUFFER = 8,
    TAG_RSDP_OLD = 14,
    TAG_RSDP = 15
};

struct memory_tag {
    uint32_t type, size, entry_size, entry_version;
};
struct memory_entry {
    uint64_t start, len;
    uint32_t type, reserved;
};
#define MEMORY_RAM 1

struct framebuffer_tag {
    uint32_t type, size;
    uint64_t start;
    uint32_t pitch, width, height;
    uint8_t bits, kind, reserved[2];
    uint8_t red, red_bits, green, green_bits, blue, blue_bits;
};
#define FRAMEBUFFER_RGB 1
#define FRAMEBUFFER_TAG_BYTES 38 /* without the struct's padding */
#define SCREEN_MOST 16384u

static bool map_sound(const uint8_t *tag, uint32_t size)
{
    const struct memory_tag *head = (const void *)tag;

    return size >= sizeof(*head) && head->entry_size >= sizeof(struct memory_entry) &&
           head->entry_size % 8 == 0;
}

/* Finds the RAM that contains `inside`. Loaders may list one piece of RAM as several, in any order:
 * adjacent ones are joined until no more are found. */
static struct multiboot2_range ram_around(const uint8_t *tag, uint32_t size, uint64_t inside)
{
    const struct memory_tag *head = (const void *)tag;
    struct multiboot2_range ram = {inside, 0};
    bool grown = map_sound(tag, size);

    while (grown) {
        grown = false;
        for (uint32_t at = sizeof(*head); size - at >= head->entry_size; at += head->entry_size) {
            const struct memory_entry *entry = (const void *)(tag + at);
            uint64_t end = entry->start + entry->len, ram_end = ram.start + ram.len;

            if (entry->type != MEMORY_RAM || end <= entry->start || entry->start > ram_end ||
                end < ram.start || (ram.len == 0 && end == inside)) {
                continue;
            }
            if (entry->start < ram.start || end > ram_end) {
                ram.start = entry->start < ram.start ? entry->start : ram.start;
                ram.len = (end > ram_end ? end : ram_end) - ram.start;
                grown = true;
            }
        }
    }
    return ram;
}

static struct multiboot2_screen screen_read(const uint8_t *tag, uint32_t size)
{
    const struct framebuffer_tag *it = (const void *)tag;

    if (size < FRAMEBUFFER_TAG_BYTES || it->kind != FRAMEBUFFER_RGB || it->bits != 32 ||
        it->width == 0 || it->height == 0 || it->width > SCREEN_MOST || it->height > SCREEN_MOST ||
        it->pitch < it->width * 4 || it->pitch > SCREEN_MOST * 4 || it->pitch % 4 ||
        it->start % 4 || it->red > 24 || it->green > 24 || it->blue > 24 ||
        it->start + (uint64_t)it->pitch * it->height < it->start) {
        return (struct multiboot2_screen){0};
    }
    return (struct multiboot2_screen){it->start, it->pitch, it->width, it->height,
                                      it->red,   it->green, it->blue};
}

struct multiboot2 multiboot2_read(const void *info, size_t len, uint64_t inside)
{
    const uint8_t *bytes = info;
    struct multiboot2 found = {0};
    const size_t size = len < HEAD ? 0 : *(const uint32_t *)info;

    len = size < len ? size : len;
    for (size_t at = HEAD; len >= HEAD && at <= len - HEAD;) {
        const uint32_t *tag = (const void *)(bytes + at);
        uint32_t type = tag[0], tag_size = tag[1];

        if (type == TAG_END || tag_size < HEAD || tag_size > len - at) {
            break;
        }
        if (type == TAG_MEMORY) {
            found.ram = ram_around(bytes + at, tag_size, inside);
            if (map_sound(bytes + at, tag_size)) {
                found.map_at = (uint32_t)(at + sizeof(struct memory_tag));
                found.map_entry_bytes = tag[2];
                found.map_entries = (uint32_t)(tag_size - sizeof(struct memory_tag)) / tag[2];
            }
        } else if (type == TAG_MODULE && found.module.len == 0 && tag_size >= HEAD + 8 &&
                   tag[3] > tag[2]) {
            found.module = (struct multiboot2_range){tag[2], tag[3] - tag[2]};
        } else if (type == TAG_FRAMEBUFFER) {
            found.screen = screen_read(bytes + at, tag_size);
        } else if (type == TAG_RSDP || (type == TAG_RSDP_OLD && !found.rsdp)) {
            found.rsdp = (uint32_t)at + HEAD;
        }
        at += ((size_t)tag_size + 7) & ~(size_t)7;
    }
    return found;
}
