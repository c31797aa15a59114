/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chance, and images. See program.h.
 */
#include "test/trace/dtrace/random/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static uint64_t seed;

void r_seed(uint64_t s)
{
    seed = s;
}

uint64_t r_next(void) /* splitmix64 */
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t r_below(uint32_t n)
{
    return (uint32_t)((r_next() >> 32) * n >> 32);
}

bool r_chance(unsigned percent)
{
    return r_below(100) < percent;
}

void p_option(struct p_image *image, enum dtrace_option option, uint64_t value)
{
    image->options[image->noptions++] = (struct dtrace_image_option){option, 0, value};
}

static uint8_t *put(struct p_image *p, struct dtrace_image_table *table, const void *from,
                    uint32_t count, size_t element)
{
    uint8_t *to = p->bytes + p->size;
    size_t bytes = count * element, padded = (bytes + 7) & ~(size_t)7;

    assert(p->size + padded <= P_ROOM);
    *table = (struct dtrace_image_table){(uint32_t)p->size, count};
    if (from) {
        memcpy(to, from, bytes);
    }
    memset(to + bytes, 0, padded - bytes);
    p->size += padded;
    return to;
}

static void put_objects(struct p_image *p, struct dtrace_image *image, const struct program *from)
{
    struct dtrace_image_object *objects;
    uint32_t ntext = 0, nints = 0, nstrings = 1, nvars = 0;

    objects = (void *)put(p, &image->objects, NULL, from->nobjects, sizeof(*objects));
    for (uint32_t i = 0; i < from->nobjects; i++) {
        const struct dif_object *o = &from->objects[i].object;
        objects[i] =
            (struct dtrace_image_object){ntext,           o->ntext, nints,    o->nints, nstrings,
                                         o->strings_size, nvars,    o->nvars, o->result};
        ntext += o->ntext;
        nints += o->nints;
        nstrings += o->strings_size;
        nvars += o->nvars;
    }
    uint8_t *vars = put(p, &image->variables, NULL, nvars, sizeof(struct dif_variable));
    uint8_t *text = put(p, &image->text, NULL, ntext, sizeof(dif_insn));
    uint8_t *ints = put(p, &image->ints, NULL, nints, 8);
    uint8_t *strings = put(p, &image->strings, NULL, nstrings, 1);
    strings[0] = '\0';
    for (uint32_t i = 0; i < from->nobjects; i++) {
        const struct dif_object *o = &from->objects[i].object;
        memcpy(vars + objects[i].first_var * sizeof(*o->vars), o->vars,
               o->nvars * sizeof(*o->vars));
        memcpy(text + objects[i].first_text * 4, o->text, o->ntext * 4);
        memcpy(ints + objects[i].first_int * 8, o->ints, o->nints * 8);
        memcpy(strings + objects[i].first_string, o->strings, o->strings_size);
    }
}

struct dtrace_image *p_image(struct p_image *p, const struct program *from)
{
    struct dtrace_image *image = (void *)p->bytes;

    *image = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                                   .version = DTRACE_IMAGE_VERSION,
                                   .pointer_bytes = sizeof(void *),
                                   .dif_version = DIF_VERSION};
    p->size = sizeof(*image);
    put(p, &image->options, p->options, p->noptions, sizeof(p->options[0]));
    put(p, &image->ecbs, p->ecbs, p->necbs, sizeof(p->ecbs[0]));
    put(p, &image->actions, p->actions, p->nactions, sizeof(p->actions[0]));
    put_objects(p, image, from);
    image->size = (uint32_t)p->size;
    return image;
}

/* ---- for who repeats one program --------------------------------------------------- */

static void show_constant(const struct dif_object *o, dif_insn i)
{
    uint32_t op = DIF_INSN_OP(i), index = DIF_INSN_INDEX(i);

    if (op == DIF_OP_setx && index < o->nints) {
        printf("   %llx", (unsigned long long)o->ints[index]);
    } else if (op == DIF_OP_sets && index < o->strings_size) {
        for (const char *p = o->strings + index; *p; p++) {
            printf(*p >= ' ' && *p < 127 ? "%c" : "\\x%02x", (unsigned char)*p);
        }
    }
}

static void show_object(uint32_t n, const struct dif_object *o)
{
    static const char *const names[256] = {
#define DIF_OP(number, name, format, doc) [number] = #name,
#include "trace/dtrace/opcodes.def"
    };

    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        printf("var %x kind %u scope %u type %u ref %u size %u\n", v->id, v->kind, v->scope,
               v->type.kind, v->type.ref, v->type.size);
    }
    for (uint32_t at = 0; at < o->ntext; at++) {
        dif_insn i = o->text[at];
        const char *name = names[DIF_INSN_OP(i)];
        printf("%u.%u %08x %s %x %x %x", n, at, i, name ? name : "?", DIF_INSN_R1(i),
               DIF_INSN_R2(i), DIF_INSN_RD(i));
        show_constant(o, i);
        printf("\n");
    }
}

void p_show(const struct program *p)
{
    for (uint32_t n = 0; n < p->nobjects; n++) {
        show_object(n, &p->objects[n].object);
    }
}
