/* SPDX-License-Identifier: BSD-2-Clause */
/* See builder.h. */
#include "test/trace/dtrace/machine/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void image_begin(struct image_builder *b)
{
    static void *room;

    room = room ? room : malloc(IMAGE_ROOM);
    memset(b, 0, sizeof(*b));
    b->bytes = room;
}

uint32_t image_object(struct image_builder *b, const char *text)
{
    assert(b->nobjects < BUILDER_OBJECTS);
    assemble(&b->objects[b->nobjects], text);
    return ++b->nobjects;
}

struct dtrace_image_ecb *image_ecb(struct image_builder *b, uint32_t predicate)
{
    struct dtrace_image_ecb *e = &b->ecbs[b->necbs++];

    *e = (struct dtrace_image_ecb){.predicate = predicate, .first_action = b->nactions};
    return e;
}

struct dtrace_image_action *image_action(struct image_builder *b, uint16_t kind, uint32_t object)
{
    struct dtrace_image_action *a = &b->actions[b->nactions++];

    *a = (struct dtrace_image_action){.kind = kind, .object = object};
    b->ecbs[b->necbs - 1].nactions++;
    return a;
}

void image_option(struct image_builder *b, enum dtrace_option option, uint64_t value)
{
    b->options[b->noptions++] = (struct dtrace_image_option){option, 0, value};
}

static uint8_t *put(struct image_builder *b, struct dtrace_image_table *table, const void *from,
                    uint32_t count, size_t element)
{
    uint8_t *to = (uint8_t *)b->bytes + b->size;

    assert(b->size + count * element + 8 <= IMAGE_ROOM);
    *table = (struct dtrace_image_table){(uint32_t)b->size, count};
    if (from) {
        memcpy(to, from, count * element);
    }
    b->size = (b->size + count * element + 7) & ~(size_t)7;
    return to;
}

/* One after the other, each object's part of a table after the one's before. */
struct dtrace_image *image_end(struct image_builder *b)
{
    struct dtrace_image *image = b->bytes;
    struct dtrace_image_object *objects;
    uint32_t ntext = 0, nints = 0, nstrings = 1, nvars = 0;

    memset(b->bytes, 0, IMAGE_ROOM);
    *image = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                                   .version = DTRACE_IMAGE_VERSION,
                                   .pointer_bytes = sizeof(void *),
                                   .dif_version = DIF_VERSION};
    b->size = sizeof(*image);
    put(b, &image->options, b->options, b->noptions, sizeof(b->options[0]));
    put(b, &image->ecbs, b->ecbs, b->necbs, sizeof(b->ecbs[0]));
    put(b, &image->actions, b->actions, b->nactions, sizeof(b->actions[0]));
    objects =
        (struct dtrace_image_object *)put(b, &image->objects, NULL, b->nobjects, sizeof(*objects));
    for (uint32_t i = 0; i < b->nobjects; i++) {
        const struct dif_object *o = &b->objects[i].object;
        objects[i] =
            (struct dtrace_image_object){ntext,           o->ntext, nints,    o->nints, nstrings,
                                         o->strings_size, nvars,    o->nvars, o->result};
        ntext += o->ntext;
        nints += o->nints;
        nstrings += o->strings_size;
        nvars += o->nvars;
    }
    uint8_t *vars = put(b, &image->variables, NULL, nvars, sizeof(struct dif_variable));
    uint8_t *text = put(b, &image->text, NULL, ntext, sizeof(dif_insn));
    uint8_t *ints = put(b, &image->ints, NULL, nints, 8);
    uint8_t *strings = put(b, &image->strings, NULL, nstrings, 1);
    for (uint32_t i = 0; i < b->nobjects; i++) {
        const struct dif_object *o = &b->objects[i].object;
        memcpy(vars + objects[i].first_var * sizeof(*o->vars), o->vars,
               o->nvars * sizeof(*o->vars));
        memcpy(text + objects[i].first_text * 4, o->text, o->ntext * 4);
        memcpy(ints + objects[i].first_int * 8, o->ints, o->nints * 8);
        memcpy(strings + objects[i].first_string, o->strings, o->strings_size);
    }
    image->size = (uint32_t)b->size;
    return image;
}
