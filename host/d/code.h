/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object under construction: instructions, labels, registers and tables. Internal to the code
 * generator.
 */
#ifndef HOST_D_CODE_H
#define HOST_D_CODE_H

#include "host/d/back.h"

struct d_code {
    struct d_session *session;
    struct d_place place;     /* of the whole expression */
    struct d_array text;      /* dif_insn; branches hold a label's number until the end */
    struct d_array labels;    /* uint32_t: the instruction it stands before */
    struct d_array ints;      /* uint64_t */
    struct d_array vars;      /* struct dif_variable */
    struct d_array var_types; /* const struct d_type *, of vars */
    char *strings;
    uint32_t strings_size, strings_room;
    unsigned used; /* registers, a mask; r0 always */
};

void d_code_init(struct d_session *, struct d_code *, struct d_place);
/* Resolves labels and makes the object, in the arena. */
struct dif_object d_code_finish(struct d_code *, struct dif_type result);

int d_reg(struct d_code *, struct d_place); /* takes a register, or fails: D_NOREG */
void d_reg_free(struct d_code *, int reg);

void d_emit(struct d_code *, dif_insn);
unsigned d_label(struct d_code *);
void d_label_here(struct d_code *, unsigned label);
void d_branch(struct d_code *, enum dif_op, unsigned label);
void d_emit_int(struct d_code *, uint64_t value, int reg);
void d_emit_string(struct d_code *, const char *, int reg);
/* Notes that the object uses the variable; flags: enum dif_var_flags. */
void d_note_variable(struct d_code *, const struct d_ident *, unsigned flags);

/* A value's kind and size, as DIF says it. */
struct dif_type d_dif_type(const struct d_type *);

/* ---- codegen.c and its parts: each returns a register that the caller frees -------------------
 */

int d_gen(struct d_code *, struct d_node *);
int d_gen_address(struct d_code *, struct d_node *); /* of an lvalue in memory, or by reference */
/* Of a member or an element; base: the register with the address of what it is in, which it takes.
 */
int d_gen_part_address(struct d_code *, struct d_node *, int base);
int d_gen_binary(struct d_code *, struct d_node *);
int d_gen_call(struct d_code *, struct d_node *);
int d_gen_variable(struct d_code *, struct d_node *);
int d_gen_assign(struct d_code *, struct d_node *);
int d_gen_step(struct d_code *, struct d_node *);
int d_gen_translation(struct d_code *, struct d_node *);
/* The value of 64 bits in reg becomes one of that type. */
void d_gen_convert(struct d_code *, struct d_place, int reg, const struct d_type *to);
/* The same of the value of a node; nothing to do if it is one of that type already. */
void d_gen_convert_node(struct d_code *, const struct d_node *, int reg, const struct d_type *to);
/* Of a value of that type. */
uint32_t d_gen_width(const struct d_type *);
bool d_gen_is_signed(const struct d_type *);
/* Cuts reg to so many bits and extends it again, by way of another register. */
void d_gen_narrow(struct d_code *, struct d_place, int reg, uint32_t bits, bool sign);
/* reg becomes 1 if the branch is taken, else 0. */
void d_gen_flag(struct d_code *, enum dif_op taken, int reg);
/* Bytes by which a pointer of that type goes on. */
uint64_t d_gen_stride(const struct d_type *);
/* The value of the expression in another type; a constant is converted now. */
int d_gen_as(struct d_code *, struct d_node *, const struct d_type *to);
void d_gen_operator(struct d_code *, int op, const struct d_type *, int a, int b);
void d_gen_load(struct d_code *, struct d_node *, int reg);
void d_gen_store(struct d_code *, struct d_node *lvalue, int value, int address);
/* Pushes arguments or keys. wanted: what each is to be; NULL: as it is. */
void d_gen_push(struct d_code *, struct d_node *args, const struct d_type *const *wanted,
                unsigned nwanted);
void d_gen_scale(struct d_code *, struct d_place, int reg, uint64_t by);

#endif
