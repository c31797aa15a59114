/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h. */
#include "test/trace/dtrace/machine/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world world;

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
    fake_dynvar_reset();
    world.ops = (struct dtrace_provider_ops){.argument = sixth};
    world.provider = (struct dtrace_provider){"prov", &world.ops};
    world.probe = (struct dtrace_probe){
        .provider = &world.provider, .module = "mod", .function = "func", .name = "name", .id = 17};
    world.ecb = (struct dtrace_ecb){.probe = &world.probe, .epid = 5};
    world.strsize = 64;
    world_scratch(WORLD_SCRATCH);
    return 0;
}

static void unload(void)
{
    if (world.loaded) {
        dtrace_code_unload(&world.code);
    }
    world.loaded = false;
}

int world_close(void **state)
{
    (void)state;
    unload();
    free(fake_scratch);
    fake_scratch = NULL;
    fake_reset();
    fake_dynvar_reset();
    return 0;
}

void world_strsize(uint32_t strsize)
{
    world.strsize = strsize;
}

void world_scratch(size_t size)
{
    free(fake_scratch);
    fake_scratch = malloc(size ? size : 1);
    fake_scratch_size = size;
    memset(fake_scratch, 0xa5, size);
}

static void load(void)
{
    struct dtrace_image *image = image_end(&world.image);

    if (dtrace_image_check(image, world.image.size, &world.refusal) ||
        dtrace_code_load(&world.code, image, world.strsize, &world.refusal)) {
        fail_msg("refused: %s (object %d, instruction %d)", dtrace_refusal_text(&world.refusal),
                 (int)world.refusal.object, (int)world.refusal.offset);
    }
    world.loaded = true;
    dtrace_context_init(&world.context, &world.code, NULL, NULL, 0,
                        (struct dtrace_region){(uintptr_t)fake_dynamic, sizeof(fake_dynamic)});
    for (unsigned i = 0; i < 5; i++) {
        world.args[i] = 10 + i;
    }
}

void world_load(const char *text, ...)
{
    va_list more;

    unload();
    image_begin(&world.image);
    image_option(&world.image, DTRACE_OPT_DESTRUCTIVE, 1);
    va_start(more, text);
    for (; text; text = va_arg(more, const char *)) {
        image_object(&world.image, text);
    }
    va_end(more);
    load();
}

void world_clause(void)
{
    dtrace_context_clause(&world.context, &world.ecb, world.args);
    world.context.strtok = 0; /* each is a probe firing */
}

uint64_t world_go_on(unsigned object)
{
    assert(world.loaded && object < world.code.nobjects);
    return dtrace_run(&world.context, &world.code.objects[object]);
}

uint64_t world_run(unsigned object)
{
    world_clause();
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
    size_t n = dtrace_load_string(&world.context, buffer, address, world.strsize, false);
    buffer[n] = '\0';
    assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
    return buffer;
}

void run_faults(const char *text, enum dif_fault kind, uint32_t instruction, uint64_t address)
{
    world_load(text, NULL);
    assert_int_equal(world_run(0), 0);
    assert_fault(kind, instruction, address == ANY_ADDRESS ? world.context.fault.address : address);
}
