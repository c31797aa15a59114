/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object under construction: instructions, labels, registers and tables. Internal to the code
 * generator.
 */
#ifndef HOST_DT_CODE_CODE_H
#define HOST_DT_CODE_CODE_H

#include "host/dt/code/object.h"

struct dt_code {
    struct dt_session *session;
    struct dt_location location; /* of the whole expression */
    struct dt_array text;        /* dif_insn; branches hold a label's number until the end */
    struct dt_array labels;      /* uint32_t: the instruction it stands before */
    struct dt_array ints;        /* uint64_t */
    struct dt_array vars;        /* struct dif_variable */
    struct dt_array var_types;   /* const struct dt_type *, of vars */
    char *strings;
    uint32_t strings_size, strings_room;
    unsigned used; /* registers, a mask; r0 always */
};

void dt_code_init(struct dt_session *, struct dt_code *, struct dt_location);
/* Resolves labels and makes the object, in the arena. */
struct dif_object dt_code_finish(struct dt_code *, struct dif_type result);

int dt_reg(struct dt_code *, struct dt_location); /* takes a register, or fails: DT_NOREG */
void dt_reg_free(struct dt_code *, int reg);

void dt_emit(struct dt_code *, dif_insn);
unsigned dt_label(struct dt_code *);
void dt_label_here(struct dt_code *, unsigned label);
void dt_branch(struct dt_code *, enum dif_op, unsigned label);
void dt_emit_int(struct dt_code *, uint64_t value, int reg);
void dt_emit_string(struct dt_code *, const char *, int reg);
/* Notes that the object uses the variable; flags: enum dif_var_flags. */
void dt_note_variable(struct dt_code *, const struct dt_ident *, unsigned flags);

/* Returns the DIF type of a value: its kind and size. */
struct dif_type dt_dif_type(const struct dt_type *);

/* ---- codegen.c and its parts: each returns a register that the caller frees -------- */

int dt_gen(struct dt_code *, struct dt_node *);
int dt_gen_address(struct dt_code *,
                   struct dt_node *); /* of an lvalue in memory, or by reference */
/* Generates the address of a member or an element; base: the register with the address of its
 * container, which is consumed. */
int dt_gen_part_address(struct dt_code *, struct dt_node *, int base);
int dt_gen_binary(struct dt_code *, struct dt_node *);
int dt_gen_call(struct dt_code *, struct dt_node *);
int dt_gen_variable(struct dt_code *, struct dt_node *);
int dt_gen_assign(struct dt_code *, struct dt_node *);
int dt_gen_step(struct dt_code *, struct dt_node *);
int dt_gen_translation(struct dt_code *, struct dt_node *);
/* Converts the 64-bit value in reg to that type. */
void dt_gen_convert(struct dt_code *, struct dt_location, int reg, const struct dt_type *to);
/* Branches to the label if the condition is as `when` says, else goes on. */
void dt_gen_jump(struct dt_code *, struct dt_node *condition, bool when, unsigned label);
/* Generates a condition as a number: 1 or 0. */
int dt_gen_condition(struct dt_code *, struct dt_node *);
/* Sets reg to 1 if the branch is taken, else to 0. */
void dt_gen_flag(struct dt_code *, enum dif_op taken, int reg);
/* Returns the bytes by which ++ advances a pointer of that type. */
uint64_t dt_gen_stride(const struct dt_type *);
/* Generates the value of the expression in another type; a constant is converted at once. */
int dt_gen_as(struct dt_code *, struct dt_node *, const struct dt_type *to);
void dt_gen_operator(struct dt_code *, int op, const struct dt_type *, int a, int b);
void dt_gen_load(struct dt_code *, struct dt_node *, int reg);
void dt_gen_store(struct dt_code *, struct dt_node *lvalue, int value, int address);
/* Pushes arguments or keys. wanted: the type of each; NULL: its own. */
void dt_gen_push(struct dt_code *, struct dt_node *args, const struct dt_type *const *wanted,
                 unsigned nwanted);
void dt_gen_scale(struct dt_code *, struct dt_location, int reg, uint64_t by);

#endif
