/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program images from assembled objects, for tests and measurements.
 */
#ifndef TEST_TRACE_DTRACE_MACHINE_BUILDER_H
#define TEST_TRACE_DTRACE_MACHINE_BUILDER_H

#include "test/trace/dtrace/machine/assemble.h"
#include "trace/dtrace/image.h"

enum { BUILDER_OBJECTS = 20, IMAGE_ROOM = 64 * 1024 };

/* An image under construction; image_end() lays it out. */
struct image_builder {
    struct asm_object objects[BUILDER_OBJECTS];
    struct dtrace_image_option options[16];
    struct dtrace_image_ecb ecbs[12];
    struct dtrace_image_action actions[32];
    uint32_t nobjects, noptions, necbs, nactions;
    void *bytes; /* IMAGE_ROOM, the same for all builders */
    size_t size;
};
void image_begin(struct image_builder *);
uint32_t image_object(struct image_builder *, const char *text); /* its number + 1 */
struct dtrace_image_ecb *image_ecb(struct image_builder *, uint32_t predicate);
struct dtrace_image_action *image_action(struct image_builder *, uint16_t kind, uint32_t object);
void image_option(struct image_builder *, enum dtrace_option, uint64_t value);
struct dtrace_image *image_end(struct image_builder *);

#endif
