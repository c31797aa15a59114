/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The information that a Multiboot2 loader leaves (Multiboot2 Specification 2.0, 3.6). Boot only.
 * The bytes come from another program: whatever they are, nothing outside of them is read. Tested
 * by test/boards/drivers/multiboot2_test.c.
 */
#ifndef BOARDS_DRIVERS_MULTIBOOT2_H
#define BOARDS_DRIVERS_MULTIBOOT2_H

#include <stddef.h>
#include <stdint.h>

struct multiboot2_range {
    uint64_t start, len;
};

/* A linear framebuffer with 8 bits per colour in pixels of 32 bits; width 0: there is none. */
struct multiboot2_screen {
    uint64_t start; /* physical */
    uint32_t pitch; /* bytes per line */
    uint32_t width, height;
    uint8_t red, green, blue; /* first bit of each colour in a pixel */
};

struct multiboot2 {
    struct multiboot2_range ram;     /* the contiguous RAM that contains `inside`; len 0: none */
    struct multiboot2_screen screen; /* width 0: none */
    uint32_t map_at,
        map_entries; /* the memory map: offset of its entries in info, and their number */
    /* distance between entries; an entry is start, len (64 bits), type (32) */
    uint32_t map_entry_bytes;
    struct multiboot2_range module; /* the first module: physical; len 0: none */
    uint32_t rsdp;                  /* offset in info of ACPI's root pointer; 0: none */
};

/* Reads the information, of which len bytes are present, 8-byte aligned. */
struct multiboot2 multiboot2_read(const void *info, size_t len, uint64_t inside);

#endif
