/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of d_code_load(): a program's variables by scope and number, each with its place, and the
 * decoding of an object. Control context.
 */
#ifndef TRACE_D_CODE_H
#define TRACE_D_CODE_H

#include "trace/d/machine.h"

/* A variable of the program. place: a word of its area, or a number in its table of d_code. */
struct d_place {
    const struct dif_variable *variable; /* NULL: the slot is free */
    uint32_t size;                       /* bytes of its data: 8 by value */
    uint16_t place;
};

/* A hash table of them, never more than half full; and how many there are of each sort. */
struct d_places {
    struct d_place *slots;
    uint32_t mask, strsize;
    uint32_t global_values, local_values, nglobals, nlocals, ndynamics;
};

/* -ENOMEM, -EINVAL. Nothing is to be closed then. */
int d_places_open(struct d_places *, const struct d_image *, uint32_t strsize, struct d_refusal *);
void d_places_close(struct d_places *);
/* A variable that an object of the image uses. */
const struct d_place *d_places_find(const struct d_places *, uint8_t scope, uint16_t id);
/* Fills the tables of the code, sets sizes and offsets; from nglobals and the like, already set. */
void d_places_fill(const struct d_places *, struct d_static *globals, struct d_static *locals,
                   struct d_dynamic *dynamics);
/* Bytes of an area: words, then these statics, whose offsets it sets. */
uint32_t d_places_lay(uint32_t words, struct d_static *, uint32_t n);

/* decode.c: an object's instructions for the interpreter, and its flags. */
void d_decode(const struct dif_object *, const struct d_places *, struct d_insn *to);
uint32_t d_decode_flags(const struct dif_object *);
/* The most bytes of key that one access to a dynamic variable needs, as d_code.key_bytes. */
uint32_t d_decode_key_bytes(const struct dif_object *, uint32_t strsize);

#endif
