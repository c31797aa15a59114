/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maker of unwind tables (abi/unwind.h): follows every path through each function of an
 * ELF file and notes what its instructions do to the stack pointer, the frame pointer and the
 * return address. It needs no debug information, so the functions of C libraries and assembler are
 * covered too. Tested by test/host/unwind: against the compiler's own tables, and with random code.
 */
#ifndef HOST_UNWIND_UNWIND_H
#define HOST_UNWIND_UNWIND_H

#include "host/fbt/kernel.h"

/* The location of a value of the caller. */
enum unwind_where {
    UNWIND_AT_HOME,  /* in its register */
    UNWIND_AT_STACK, /* `at` bytes from the CFA */
    UNWIND_NOWHERE,
};

struct unwind_place {
    enum unwind_where where;
    int at;
};

/* The state before an instruction is executed. */
struct unwind_state {
    bool reached;
    bool sp_known, fp_known;
    int sp, fp;                       /* the CFA minus the register */
    struct unwind_place ra, fp_saved; /* the return address, the caller's frame pointer */
    int constant_of;                  /* a register whose value is known, -1: none */
    int64_t constant;
};

/* Applies the instruction at `address` to the state; branches and calls have no effect here. */
void unwind_thumb_effect(struct unwind_state *, const struct fbt_text *, uint64_t address);
void unwind_a64_effect(struct unwind_state *, const struct fbt_text *, uint64_t address);
void unwind_x86_effect(struct unwind_state *, const struct fbt_text *, uint64_t address);
/* Returns true for FBT_STOP that continues after it. */
bool unwind_x86_goes_on(const struct fbt_text *, uint64_t address);

/* Parts of effects. */
void unwind_moves_sp(struct unwind_state *, int64_t down);
void unwind_store(struct unwind_state *, bool is_ra, bool is_fp, int at);
void unwind_load(struct unwind_state *, bool is_ra, bool is_fp, int at);
/* Keeps what both states have in common. Returns true if `to` lost information. */
bool unwind_join(struct unwind_state *to, const struct unwind_state *from);

/* In which code is aligned, and offsets in the table count. */
static inline unsigned unwind_unit(const struct fbt_text *t)
{
    return t->x86 ? 1 : 2;
}

static inline size_t unwind_slot(const struct fbt_text *t, uint64_t address)
{
    return (size_t)(address - t->base) / unwind_unit(t);
}

/* Returns true for padding between functions. */
bool unwind_is_filling(const struct fbt_text *, uint64_t address);

/* States of all instructions, by unwind_slot(); the caller frees them. */
struct unwind_state *unwind_flow(const struct fbt_kernel *);

struct unwind_table {
    uint32_t *words;
    size_t nwords;
};
/* Offsets in the rows count from `base`. */
void unwind_table_make(struct unwind_table *, const struct fbt_kernel *,
                       const struct unwind_state *states, uint64_t base);

#endif
