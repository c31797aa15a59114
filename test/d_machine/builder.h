/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program images from assembled objects, for tests and measurements.
 */
#ifndef TEST_D_MACHINE_BUILDER_H
#define TEST_D_MACHINE_BUILDER_H

#include "test/d_machine/assemble.h"
#include "trace/d/image.h"

enum { BUILDER_OBJECTS = 16, IMAGE_ROOM = 64 * 1024 };

/* An image under construction; image_end() lays it out. */
struct image_builder {
    struct asm_object objects[BUILDER_OBJECTS];
    struct d_image_option options[16];
    struct d_image_ecb ecbs[12];
    struct d_image_action actions[32];
    uint32_t nobjects, noptions, necbs, nactions;
    void *bytes; /* IMAGE_ROOM, the same for all builders */
    size_t size;
};
void image_begin(struct image_builder *);
uint32_t image_object(struct image_builder *, const char *text); /* its number + 1 */
struct d_image_ecb *image_ecb(struct image_builder *, uint32_t predicate);
struct d_image_action *image_action(struct image_builder *, uint16_t kind, uint32_t object);
void image_option(struct image_builder *, enum d_option, uint64_t value);
struct d_image *image_end(struct image_builder *);

#endif
