/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal to dtrace_code_load(): a program's variables by scope and number, each with its
 * location, and the decoding of an object. Control context.
 */
#ifndef TRACE_DTRACE_CODE_H
#define TRACE_DTRACE_CODE_H

#include "trace/dtrace/machine.h"

/* A variable of the program. place: a word of its area, or an index in its table of dtrace_code. */
struct dtrace_place {
    const struct dif_variable *variable; /* NULL: the entry is free */
    uint32_t size;                       /* bytes of its data: 8 by value */
    uint16_t place;
};

/* A hash table of variables, never more than half full, and the number of each sort. */
struct dtrace_places {
    struct dtrace_place *slots;
    uint32_t mask, strsize;
    uint32_t global_values, local_values, nglobals, nlocals, ndynamics;
};

/* Returns 0, -ENOMEM or -EINVAL. After an error there is nothing to close. */
int dtrace_places_open(struct dtrace_places *, const struct dtrace_image *, uint32_t strsize,
                       struct dtrace_refusal *);
void dtrace_places_close(struct dtrace_places *);
/* Finds a variable that an object of the image uses. */
const struct dtrace_place *dtrace_places_find(const struct dtrace_places *, uint8_t scope,
                                              uint16_t id);
/* Fills the tables of the code, sets sizes and offsets. Precondition: nglobals and its kind are
 * set. */
void dtrace_places_fill(const struct dtrace_places *, struct dtrace_static *globals,
                        struct dtrace_static *locals, struct dtrace_dynamic *dynamics);
/* Sets the offsets of these statics in an area that begins with `words` words. Returns the area's
 * bytes. */
uint32_t dtrace_places_lay(uint32_t words, struct dtrace_static *, uint32_t n);

/* decode.c: translates an object's instructions for the interpreter, and computes its flags. */
void dtrace_decode(const struct dif_object *, const struct dtrace_places *, struct dtrace_insn *to);
uint32_t dtrace_decode_flags(const struct dif_object *);
/* Returns the largest key in bytes of one access to a dynamic variable, as
 * dtrace_code.key_bytes. */
uint32_t dtrace_decode_key_bytes(const struct dif_object *, uint32_t strsize);

#endif
