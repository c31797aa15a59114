/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effects of A64 instructions on the stack: see unwind.h. Arm DDI 0487, C4.1. The frame pointer is
 * x29. An instruction that changes the stack pointer in a way that is not listed here makes it
 * unknown, never wrong.
 */
#include "host/unwind/unwind.h"

enum { FP = 29, LR = 30, SP = 31 };

static int64_t unwind_a64_sign_extend(uint32_t field, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);

    return (int64_t)(int32_t)((field ^ sign) - sign);
}

static void unwind_a64_one_of_stack(struct unwind_state *s, unsigned reg, bool load, int at)
{
    if (load) {
        unwind_load(s, reg == LR, reg == FP, at - s->sp);
    } else {
        unwind_store(s, reg == LR, reg == FP, at - s->sp);
    }
}

/* `offset` is the address's; `back`: added to the stack pointer, by a pre-index before
 * the access. */
static void unwind_a64_at_stack(struct unwind_state *s, unsigned first, unsigned second, bool load,
                                int64_t offset, int64_t back)
{
    int at = (int)offset;

    if (back < 0) {
        unwind_moves_sp(s, -back);
        at -= (int)back;
    }
    unwind_a64_one_of_stack(s, first, load, at);
    if (second != SP) {
        unwind_a64_one_of_stack(s, second, load, at + 8);
    }
    if (back > 0) {
        unwind_moves_sp(s, -back);
    }
}

/* STP and LDP; of SIMD registers too, which only move the stack pointer. */
static bool unwind_a64_pair_insn(struct unwind_state *s, uint32_t i)
{
    unsigned kind = i >> 23 & 3, opc = i >> 30;
    bool load = i >> 22 & 1, simd = i >> 26 & 1;

    if ((i & 0x3a000000) != 0x28000000 || (i >> 5 & 31) != SP) {
        return false;
    }
    int64_t offset = unwind_a64_sign_extend(i >> 15 & 0x7f, 7) * (simd      ? 4 << opc
                                                                  : opc & 2 ? 8
                                                                            : 4);
    int64_t back = kind & 1 ? offset : 0;
    bool whole = !simd && opc == 2;
    unwind_a64_at_stack(s, whole ? i & 31 : SP, whole ? i >> 10 & 31 : SP, load,
                        kind == 1 ? 0 : offset, back);
    return true;
}

/* STR and LDR. */
static bool unwind_a64_single_insn(struct unwind_state *s, uint32_t i)
{
    unsigned size = i >> 30, opc = i >> 22 & 3;
    bool simd = i >> 26 & 1, whole = !simd && size == 3;
    unsigned reg = whole ? i & 31 : SP, scale = simd && (opc & 2) ? 4 : size;
    bool load = opc & 1;

    if ((i >> 5 & 31) != SP) {
        return false;
    }
    if ((i & 0x3b000000) == 0x39000000) {
        unwind_a64_at_stack(s, reg, SP, load, (int64_t)(i >> 10 & 0xfff) << scale, 0);
    } else if ((i & 0x3b200000) == 0x38000000) {
        unsigned kind = i >> 10 & 3;
        int64_t offset = unwind_a64_sign_extend(i >> 12 & 0x1ff, 9);
        unwind_a64_at_stack(s, reg, SP, load, kind == 1 ? 0 : offset, kind & 1 ? offset : 0);
    } else {
        return false;
    }
    return true;
}

/* ADD, SUB of an immediate; MOV from and to the stack pointer. */
static bool add_immediate(struct unwind_state *s, uint32_t i)
{
    unsigned d = i & 31, n = i >> 5 & 31;

    if ((i & 0x9f800000) != 0x91000000 || (i >> 29 & 1)) { /* with flags, d 31 is no register */
        return false;
    }
    int64_t value = (int64_t)(i >> 10 & 0xfff) << (i >> 22 & 1 ? 12 : 0);
    bool known = n == SP ? s->sp_known : n == FP && s->fp_known;
    int from = n == SP ? s->sp : s->fp;
    from += (int)(i >> 30 & 1 ? value : -value);
    if (d == SP) {
        s->sp_known = known;
        s->sp = from;
    } else if (d == FP) {
        s->fp_known = known;
        s->fp = from;
    }
    return true;
}

/* ADD, SUB of an extended register to the stack pointer. */
static bool unwind_a64_add_register(struct unwind_state *s, uint32_t i)
{
    if ((i & 0xbfe0001f) != 0x8b20001f) {
        return false;
    }
    bool plain = (i >> 5 & 31) == SP && (i >> 13 & 7) == 3 && (i >> 10 & 7) == 0;
    if (plain && s->constant_of == (int)(i >> 16 & 31)) {
        unwind_moves_sp(s, i >> 30 & 1 ? s->constant : -s->constant);
    } else {
        s->sp_known = false;
    }
    return true;
}

static bool move_wide(struct unwind_state *s, uint32_t i)
{
    unsigned shift = (i >> 21 & 3) * 16;
    int64_t value = (int64_t)((uint64_t)(i >> 5 & 0xffff) << shift);

    switch (i & 0xff800000) {
    case 0xd2800000:
        s->constant = value;
        break;
    case 0x92800000:
        s->constant = ~value;
        break;
    case 0xf2800000:
        if (s->constant_of != (int)(i & 31)) {
            return true;
        }
        s->constant = (s->constant & (int64_t) ~(0xffffull << shift)) | value;
        break;
    default:
        return false;
    }
    s->constant_of = (int)(i & 31);
    return true;
}

/* AND, ORR … of an immediate may write the stack pointer: one that is aligned so is unknown. */
static bool logic_immediate(struct unwind_state *s, uint32_t i)
{
    if ((i & 0x1f800000) != 0x12000000 || (i & 31) != SP || (i >> 29 & 3) == 3) {
        return false;
    }
    s->sp_known = false;
    return true;
}

void unwind_a64_effect(struct unwind_state *s, const struct fbt_text *t, uint64_t address)
{
    const uint8_t *b = t->bytes + (address - t->base);
    uint32_t i = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;

    if (move_wide(s, i)) {
        return;
    }
    bool known = unwind_a64_pair_insn(s, i) || unwind_a64_single_insn(s, i) ||
                 add_immediate(s, i) || unwind_a64_add_register(s, i) || logic_immediate(s, i);
    if (!known && (i & 0xffe0ffe0) == 0xaa0003e0) { /* mov x, x */
        if ((i & 31) == LR && s->ra.where == UNWIND_AT_HOME) {
            s->ra.where = UNWIND_NOWHERE;
        }
        if ((i & 31) == FP) {
            s->fp_known = false;
        }
    }
    if (s->constant_of == (int)(i & 31)) {
        s->constant_of = -1;
    }
}
