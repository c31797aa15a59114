/* SPDX-License-Identifier: BSD-2-Clause */
#include "test/d_machine/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world world;

/* ---- images ------------------------------------------------------------------------------------ */

void image_begin(struct image_builder *b)
{
    memset(b, 0, sizeof(*b));
}

uint32_t image_object(struct image_builder *b, const char *text)
{
    assert(b->nobjects < WORLD_OBJECTS);
    assemble(&b->objects[b->nobjects], text);
    return ++b->nobjects;
}

struct d_image_ecb *image_ecb(struct image_builder *b, uint32_t predicate)
{
    struct d_image_ecb *e = &b->ecbs[b->necbs++];

    *e = (struct d_image_ecb){.predicate = predicate, .first_action = b->nactions};
    return e;
}

struct d_image_action *image_action(struct image_builder *b, uint16_t kind, uint32_t object)
{
    struct d_image_action *a = &b->actions[b->nactions++];

    *a = (struct d_image_action){.kind = kind, .object = object};
    b->ecbs[b->necbs - 1].nactions++;
    return a;
}

void image_option(struct image_builder *b, enum d_option option, uint64_t value)
{
    b->options[b->noptions++] = (struct d_image_option){option, 0, value};
}

static uint8_t *put(struct image_builder *b, struct d_image_table *table, const void *from,
                    uint32_t count, size_t element)
{
    uint8_t *to = (uint8_t *)b->bytes + b->size;

    assert(b->size + count * element + 8 <= IMAGE_ROOM);
    *table = (struct d_image_table){(uint32_t)b->size, count};
    if (from) {
        memcpy(to, from, count * element);
    }
    b->size = (b->size + count * element + 7) & ~(size_t)7;
    return to;
}

/* One after the other, each object's part of a table behind the one's before. */
struct d_image *image_end(struct image_builder *b)
{
    struct d_image *image = (struct d_image *)b->bytes;
    struct d_image_object *objects;
    uint32_t ntext = 0, nints = 0, nstrings = 1, nvars = 0;

    memset(b->bytes, 0, sizeof(b->bytes));
    *image = (struct d_image){.magic = D_IMAGE_MAGIC,
                              .version = D_IMAGE_VERSION,
                              .pointer_bytes = sizeof(void *),
                              .dif_version = DIF_VERSION};
    b->size = sizeof(*image);
    put(b, &image->options, b->options, b->noptions, sizeof(b->options[0]));
    put(b, &image->ecbs, b->ecbs, b->necbs, sizeof(b->ecbs[0]));
    put(b, &image->actions, b->actions, b->nactions, sizeof(b->actions[0]));
    objects = (struct d_image_object *)put(b, &image->objects, NULL, b->nobjects, sizeof(*objects));
    for (uint32_t i = 0; i < b->nobjects; i++) {
        const struct dif_object *o = &b->objects[i].object;
        objects[i] = (struct d_image_object){ntext, o->ntext, nints, o->nints, nstrings,
                                             o->strings_size, nvars, o->nvars, o->result};
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
        memcpy(vars + objects[i].first_var * sizeof(*o->vars), o->vars, o->nvars * sizeof(*o->vars));
        memcpy(text + objects[i].first_text * 4, o->text, o->ntext * 4);
        memcpy(ints + objects[i].first_int * 8, o->ints, o->nints * 8);
        memcpy(strings + objects[i].first_string, o->strings, o->strings_size);
    }
    image->size = (uint32_t)b->size;
    return image;
}

/* ---- the world --------------------------------------------------------------------------------- */

static uint64_t sixth(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    (void)arg;
    return 1000 + n;
}

int world_open(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    fake_reset();
    world.provider = (struct d_provider){.name = "prov", .argument = sixth};
    world.probe = (struct d_probe){
        .provider = &world.provider, .module = "mod", .function = "func", .name = "name", .id = 17};
    world.strsize = 64;
    world_scratch(WORLD_SCRATCH);
    return 0;
}

static void unload(void)
{
    if (world.loaded) {
        d_code_unload(&world.code);
    }
    world.loaded = false;
}

int world_close(void **state)
{
    (void)state;
    unload();
    free(world.scratch);
    fake_reset();
    return 0;
}

void world_strsize(uint32_t strsize)
{
    world.strsize = strsize;
}

void world_scratch(size_t size)
{
    free(world.scratch);
    world.scratch = malloc(size ? size : 1);
    world.scratch_size = size;
    memset(world.scratch, 0xa5, size);
}

static void load(void)
{
    struct d_image *image = image_end(&world.image);

    if (d_image_check(image, world.image.size, &world.refusal) ||
        d_code_load(&world.code, image, world.strsize, &world.refusal)) {
        fail_msg("refused: %s (object %d, instruction %d)", world.refusal.text,
                 (int)world.refusal.object, (int)world.refusal.offset);
    }
    world.loaded = true;
    d_context_init(&world.context, &world.code, NULL, NULL, 0,
                   (struct d_region){(uintptr_t)fake_dynamic, sizeof(fake_dynamic)});
    world.context.probe = &world.probe;
    for (unsigned i = 0; i < 5; i++) {
        world.context.args[i] = 10 + i;
    }
}

void world_load(const char *text, ...)
{
    va_list more;

    unload();
    image_begin(&world.image);
    image_option(&world.image, D_OPT_DESTRUCTIVE, 1);
    va_start(more, text);
    for (; text; text = va_arg(more, const char *)) {
        image_object(&world.image, text);
    }
    va_end(more);
    load();
}

uint64_t world_go_on(unsigned object)
{
    assert(world.loaded && object < world.code.nobjects);
    return d_run(&world.context, &world.code.objects[object]);
}

uint64_t world_run(unsigned object)
{
    d_context_clause(&world.context, 5, world.scratch, world.scratch_size);
    return world_go_on(object);
}

uint64_t run(const char *text)
{
    world_load(text, NULL);
    uint64_t value = world_run(0);
    if (world.context.fault.kind != DIF_FAULT_NONE) {
        fail_msg("fault %d at %u, address %llx in: %s", world.context.fault.kind,
                 world.context.fault.offset, (unsigned long long)world.context.fault.address, text);
    }
    return value;
}

const char *run_string(const char *text)
{
    static char buffer[8192];
    uint64_t address = run(text);

    if (address == 0) {
        return NULL;
    }
    size_t n = d_load_string(&world.context, buffer, address, world.strsize, false);
    buffer[n] = '\0';
    assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
    return buffer;
}

void run_faults(const char *text, enum dif_fault kind, uint32_t instruction, uint64_t address)
{
    world_load(text, NULL);
    assert_int_equal(world_run(0), 0);
    assert_fault(kind, instruction,
                 address == ANY_ADDRESS ? world.context.fault.address : address);
}
