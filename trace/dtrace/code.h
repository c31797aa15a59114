/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations for loading and bounding a program: the instructions' operands, a program's
 * variables by scope and number, and the decoding of an object. Control context.
 */
#ifndef TRACE_DTRACE_CODE_H
#define TRACE_DTRACE_CODE_H

#include "trace/dtrace/machine.h"

/* The operands of each instruction, from opcodes.def (validate.c). */
extern const uint8_t dtrace_formats[DIF_OP_MAX + 1];

/* By format: which fields are registers, which must be 0, whether rd may be r0, and whether rd is
 * read (validate.c). */
enum dtrace_fields {
    DTRACE_R1 = 1,
    DTRACE_R2 = 2,
    DTRACE_RD = 4,
    DTRACE_NOT_R0 = 8,
    DTRACE_NO_R1 = 16,
    DTRACE_NO_R2 = 32,
    DTRACE_NO_RD = 64,
    DTRACE_RD_READ = 128
};
extern const uint8_t dtrace_format_fields[];

/* Returns whether rd is a register that the instruction writes. */
static inline bool dtrace_format_writes(uint8_t format)
{
    return (dtrace_format_fields[format] & (DTRACE_NOT_R0 | DTRACE_RD_READ)) == DTRACE_NOT_R0;
}

/* A variable of the program. */
struct dtrace_var_slot {
    const struct dif_variable *variable; /* NULL: the slot is free */
    uint32_t size;                       /* bytes of its data: 8 by value */
    uint16_t index;                      /* word of its area, or index in its dtrace_code table */
};

/* A hash table of variables, at most half full, and the number of variables of each sort. */
struct dtrace_var_table {
    struct dtrace_var_slot *slots;
    uint32_t mask, strsize;
    uint32_t global_values, local_values, nglobals, nlocals, ndynamics;
};

/* Returns a variable's slot, or the free slot where it would be inserted (code.c). */
struct dtrace_var_slot *dtrace_var_find(const struct dtrace_var_table *, uint8_t scope,
                                        uint16_t id);

/* Translates an object's instructions for the interpreter (decode.c). */
void dtrace_decode(const struct dif_object *, const struct dtrace_var_table *,
                   struct dtrace_insn *to);
/* Returns the object's enum dtrace_object_flags. */
uint32_t dtrace_decode_flags(const struct dif_object *);
/* Returns the largest key in bytes of one access to a dynamic variable, as
 * dtrace_code.key_bytes. */
uint32_t dtrace_decode_key_bytes(const struct dif_object *, uint32_t strsize);

/* ---- cost.c ------------------------------------------------------------------------ */

/* The parameters of an object's cost, besides the object. */
struct dtrace_cost_limits {
    const struct dtrace_weights *weights; /* the unit */
    dtrace_amount strsize;
    dtrace_amount scratch; /* most bytes that a clause can allocate */
    dtrace_amount element; /* bytes of the largest element of an associative array */
    dtrace_amount nspec;   /* speculations */
    bool logs, retains;
    bool *reads; /* set if the object may read a block of memory */
};

/* Returns an upper bound of the object's cost, or DTRACE_AMOUNT_MOST if the object isn't valid or
 * there is no memory to compute the bound. */
dtrace_amount dtrace_cost_object(const struct dif_object *, const struct dtrace_cost_limits *);

#endif
