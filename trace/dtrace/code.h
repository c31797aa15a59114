/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of dtrace_code_load(): a program's variables by scope and number, each with its place, and
 * the decoding of an object. Control context.
 */
#ifndef TRACE_DTRACE_CODE_H
#define TRACE_DTRACE_CODE_H

#include "trace/dtrace/machine.h"

/* A variable of the program. place: a word of its area, or a number in its table of dtrace_code. */
struct dtrace_place {
    const struct dif_variable *variable; /* NULL: the slot is free */
    uint32_t size;                       /* bytes of its data: 8 by value */
    uint16_t place;
};

/* A hash table of them, never more than half full; and how many there are of each sort. */
struct dtrace_places {
    struct dtrace_place *slots;
    uint32_t mask, strsize;
    uint32_t global_values, local_values, nglobals, nlocals, ndynamics;
};

/* -ENOMEM, -EINVAL. Nothing is to be closed then. */
int dtrace_places_open(struct dtrace_places *, const struct dtrace_image *, uint32_t strsize,
                       struct dtrace_refusal *);
void dtrace_places_close(struct dtrace_places *);
/* A variable that an object of the image uses. */
const struct dtrace_place *dtrace_places_find(const struct dtrace_places *, uint8_t scope,
                                              uint16_t id);
/* Fills the tables of the code, sets sizes and offsets; from nglobals and the like, already set. */
void dtrace_places_fill(const struct dtrace_places *, struct dtrace_static *globals,
                        struct dtrace_static *locals, struct dtrace_dynamic *dynamics);
/* Bytes of an area: words, then these statics, whose offsets it sets. */
uint32_t dtrace_places_lay(uint32_t words, struct dtrace_static *, uint32_t n);

/* decode.c: an object's instructions for the interpreter, and its flags. */
void dtrace_decode(const struct dif_object *, const struct dtrace_places *, struct dtrace_insn *to);
uint32_t dtrace_decode_flags(const struct dif_object *);
/* The most bytes of key that one access to a dynamic variable needs, as dtrace_code.key_bytes. */
uint32_t dtrace_decode_key_bytes(const struct dif_object *, uint32_t strsize);

#endif
