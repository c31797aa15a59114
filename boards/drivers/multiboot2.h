/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a Multiboot2 loader leaves (Multiboot2 Specification 2.0, 3.6). Boot only. The bytes are
 * another program's: whatever they are, nothing outside of them is read. Proved by
 * test/boards/drivers/multiboot2_test.c.
 */
#ifndef BOARDS_DRIVERS_MULTIBOOT2_H
#define BOARDS_DRIVERS_MULTIBOOT2_H

#include <stddef.h>
#include <stdint.h>

struct multiboot2_range {
    uint64_t start, len;
};

/* A linear framebuffer with 8 bits of each colour in pixels of 32 bits; width 0: there is none. */
struct multiboot2_screen {
    uint64_t start; /* physical */
    uint32_t pitch; /* bytes a line */
    uint32_t width, height;
    uint8_t red, green, blue; /* where each begins in a pixel */
};

struct multiboot2 {
    struct multiboot2_range ram;     /* the contiguous RAM that has `inside` in it; len 0: none */
    struct multiboot2_screen screen; /* width 0: none */
    uint32_t map_at,
        map_entries;          /* the memory map: where, in info, its entries lie, and how many */
    uint32_t map_entry_bytes; /* from one to the next: start, len (64 bits), type (32) */
    struct multiboot2_range module; /* the first module: physical; len 0: none */
    uint32_t rsdp;                  /* where, in info, ACPI's root pointer is; 0: none */
};

/* Reads the information, of which len bytes are here, 8-byte aligned. */
struct multiboot2 multiboot2_read(const void *info, size_t len, uint64_t inside);

#endif
