/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter's own opcodes, above the published ones, into which loading translates some
 * instructions so that they run fast; and the functions that it calls for subroutines and
 * variables. Shared by decode.c, run.c, subr.c and variable.c.
 */
#ifndef TRACE_DTRACE_RUN_H
#define TRACE_DTRACE_RUN_H

#include "trace/dtrace/machine.h"
#include "trace/dtrace/port.h"

/* name, and the meaning of the index */
#define DTRACE_RUN_OPS(OP) \
    OP(ldgs_arg)   /* ldgs of arg0-arg4: index of args[] */ \
    OP(ldgs_value) /* ldgs of a global: word of the area */ \
    OP(ldgs_ref)   /* … by reference: number in dtrace_code.globals */ \
    OP(stgs_value) \
    OP(stgs_ref) \
    OP(ldls_value) /* likewise for clause-locals */ \
    OP(ldls_ref) \
    OP(stls_value) \
    OP(stls_ref) \
    OP(ldgs_own) /* a built-in that reveals the process, in a restricted consumer (own.c) */ \
    OP(ldga_own) /* likewise */
/* The opcodes with a handler in handlers.def; all others are in handlers_seldom.def. */
#define DTRACE_RUN_OFTEN(OP) \
    OP(or) \
    OP(xor) OP(and) OP(sub) OP(add) OP(mov) OP(setx) OP(cmp) OP(tst) OP(scmp) OP(ba) OP(be) \
        OP(bne) OP(bg) OP(bgu) OP(bge) OP(bgeu) OP(bl) OP(blu) OP(ble) OP(bleu) OP(ldgs) \
            OP(ldgs_arg) OP(ldgs_value) OP(ldls_value) OP(stgs_value) OP(stls_value) OP(ldts) \
                OP(stts) OP(nop) OP(ret)

/* ldts, stts, ldgaa, stgaa, ldtaa, sttaa: index is a number in dtrace_code.dynamics */

/* r2 of a pre-decoded load or store: size in bytes, and whether to sign-extend. */
enum { DTRACE_SIGNED = 0x80 };

enum dtrace_run_op {
    DTRACE_RUN_FIRST = DIF_OP_MAX,
#define OP(name) DTRACE_RUN_##name,
    DTRACE_RUN_OPS(OP)
#undef OP
        DTRACE_RUN_COUNT
};

/* Finds a subroutine's index in the table of those available (subr.c). */
uint32_t dtrace_subr_find(uint32_t number);
/* Runs a subroutine on the pushed arguments. */
uint64_t dtrace_subr(struct dtrace_context *, uint32_t index);

/* Return the address of a global or clause-local by reference, and copy to it. area: the memory of
 * these variables (variable.c). */
uint64_t dtrace_static_address(const struct dtrace_static *, const uint8_t *area);
void dtrace_static_store(struct dtrace_context *, const struct dtrace_static *, uint8_t *area,
                         uint64_t address);
/* Return and set a thread-local or an associative element; its key is the pushed tuple. By value it
 * is 64 bits; by reference it is an address, and a store copies the bytes from that address. */
uint64_t dtrace_dynamic_value(struct dtrace_context *, const struct dtrace_dynamic *);
void dtrace_dynamic_store(struct dtrace_context *, const struct dtrace_dynamic *, uint64_t value);

/* Stores a variable of the thread. Clears the predicate cache, because a predicate that was false
 * may now be true. */
static inline void dtrace_thread_store(struct dtrace_context *c, const struct dtrace_dynamic *v,
                                       uint64_t value)
{
    dtrace_port_thread_state()->predicate_cache = 0;
    dtrace_dynamic_store(c, v, value);
}

/* Runs an instruction of handlers_seldom.def on these registers (run_seldom.c). */
void dtrace_run_seldom(struct dtrace_context *, const struct dtrace_object *,
                       const struct dtrace_insn *, uint64_t registers[DIF_REGS]);

#endif
