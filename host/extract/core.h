/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo extract --core: an image of a machine's memory, as a debugger, an emulator or a firmware has
 * written it, and the retained memory in it. The file may hold anything.
 */
#ifndef HOST_EXTRACT_CORE_H
#define HOST_EXTRACT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/retain/retain.h"

/* Bytes of the file that follow each other in memory, too. */
struct core_part {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t physical; /* address of the first */
    bool placed;       /* it is known */
};

struct core {
    const char *path;
    const uint8_t *data;
    size_t size;
    int fd;
    struct core_part *part;
    size_t count;
};

/* base: address of a raw image's first byte, or NULL. -1: it said why not. Then core_close(). A
 * file that becomes shorter while it is open ends the command with a message. */
int core_open(struct core *core, const char *path, const uint64_t *base);
void core_close(struct core *core);
/* Returns true after a message if the file has become shorter: not all that was read was there. */
bool core_is_shorter(const struct core *core);
/* core_elf.c: the parts of an ELF core. -1: it said what is wrong. */
int core_read_elf(struct core *core);
/* Adds a part. -1: no memory (reported). */
int core_add(struct core *core, struct core_part part);

struct core_window {
    uint64_t offset; /* in the file */
    struct retain_memory memory;
    struct retain retain;
};

/* A rejected candidate for retained memory, for the message; offset in the file. */
struct core_search {
    size_t part;
    uint64_t at;    /* in that part: where to go on */
    uint64_t bytes; /* looked through */
    bool damaged;   /* a header whose CRC is wrong, or that is cut off */
    uint64_t damaged_offset;
    bool version; /* one of another layout */
    uint64_t version_offset;
    uint32_t version_found;
    bool elsewhere; /* one that says that it lies at another address */
    uint64_t elsewhere_offset, elsewhere_physical;
    uint64_t windows; /* bytes of those whose header is right, as far as they are in the image */
    bool crowded;     /* too many of them overlap: the search has ended before the image's end */
};

/* An image's parts, and the windows in it, together have at most so many times its bytes: only a
 * damaged or made-up image has more, and each is read whole. */
#define CORE_TIMES_MOST 8

/* The next one after what search has seen; zeroed at first. False: there is none. */
bool core_find(const struct core *core, struct core_search *search, struct core_window *window);

/* core_write.c */
struct core_output {
    const char *path;
    bool force;          /* an existing file is replaced */
    const char *core;    /* the image's name */
    const uint8_t *page; /* instead of the window's, which is damaged; NULL: the window's */
    uint64_t bytes, slots;
};
/* The capture. 0, or -1: it said why not. */
int core_write(struct core_window *window, struct core_output *output);

/* core_cmd.c: what `kymo extract --core` does with its options. Returns the status. */
struct core_options {
    const char *core, *base, *page, *output, *folder;
    bool list, force;
};
int core_command(const struct core_options *options);

#endif
