/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effects of Thumb-2 instructions on the stack: see unwind.h. Arm DDI 0403, A7.7. The frame pointer
 * is r7. An instruction that changes the stack pointer in a way that is not listed here makes it
 * unknown, never wrong.
 */
#include "host/unwind/unwind.h"

enum { FP = 7, SP = 13, LR = 14, PC = 15 };

static uint32_t unwind_thumb_half_at(const struct fbt_text *t, uint64_t address)
{
    const uint8_t *b = t->bytes + (address - t->base);

    return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

static uint32_t unwind_thumb_word_at(const struct fbt_text *t, uint64_t address)
{
    if (address < t->base || address + 4 > t->base + t->size) {
        return 0;
    }
    return unwind_thumb_half_at(t, address) | unwind_thumb_half_at(t, address + 2) << 16;
}

static void set_constant(struct unwind_state *s, unsigned reg, int64_t value)
{
    s->fp_known = s->fp_known && reg != FP;
    s->constant_of = (int)reg;
    s->constant = value;
}

static void unwind_thumb_add_register(struct unwind_state *s, unsigned reg, int sign)
{
    if (s->constant_of == (int)reg) {
        unwind_moves_sp(s, -sign * (int64_t)(int32_t)s->constant);
    } else {
        s->sp_known = false;
    }
}

/* The stack pointer has moved down for these registers, the lowest of which lies at it. */
static void unwind_thumb_push_registers(struct unwind_state *s, uint32_t list)
{
    int at = 0;

    unwind_moves_sp(s, 4 * __builtin_popcount(list));
    for (unsigned r = 0; r < 16; r++) {
        if (list >> r & 1) {
            unwind_store(s, r == LR, r == FP, at - s->sp);
            at += 4;
        }
    }
}

static void unwind_thumb_pop_registers(struct unwind_state *s, uint32_t list)
{
    int at = 0;

    for (unsigned r = 0; r < 16; r++) {
        if (list >> r & 1) {
            unwind_load(s, r == LR, r == FP, at - s->sp);
            at += 4;
        }
    }
    unwind_moves_sp(s, -4 * __builtin_popcount(list));
    s->constant_of = -1;
}

/* ---- 16 bits ----------------------------------------------------------------------- */

static void moves_to(struct unwind_state *s, unsigned d, unsigned m)
{
    if (d == SP) {
        s->sp_known = m == FP && s->fp_known;
        s->sp = s->fp;
    } else if (d == FP) {
        s->fp_known = m == SP && s->sp_known;
        s->fp = s->sp;
    } else if (d == LR && s->ra.where == UNWIND_AT_HOME) {
        s->ra.where = UNWIND_NOWHERE;
    }
    if (s->constant_of == (int)d) {
        s->constant_of = -1;
    }
}

static void unwind_thumb_step_narrow(struct unwind_state *s, const struct fbt_text *t,
                                     uint64_t address, uint32_t h)
{
    unsigned d = (h & 7) | (h >> 4 & 8), m = h >> 3 & 15, r = h >> 8 & 7;

    if ((h & 0xfe00) == 0xb400) {
        unwind_thumb_push_registers(s, (h & 0xff) | (h & 0x100) << 6);
    } else if ((h & 0xfe00) == 0xbc00) {
        unwind_thumb_pop_registers(s, (h & 0xff) | (h & 0x100) << 7);
    } else if ((h & 0xff00) == 0xb000) {
        unwind_moves_sp(s, (int)((h & 0x7f) * 4) * (h & 0x80 ? 1 : -1));
    } else if ((h & 0xff00) == 0xaf00) { /* add r7, sp, # */
        s->fp_known = s->sp_known;
        s->fp = s->sp - (int)((h & 0xff) * 4);
    } else if ((h & 0xff00) == 0x4600) {
        moves_to(s, d, m);
    } else if ((h & 0xff87) == 0x4485) { /* add sp, register */
        unwind_thumb_add_register(s, m, 1);
    } else if ((h & 0xff00) == 0x3700) {
        s->fp -= (int)(h & 0xff);
    } else if ((h & 0xff00) == 0x3f00) {
        s->fp += (int)(h & 0xff);
    } else if ((h & 0xf800) == 0x4800) {
        set_constant(s, r, unwind_thumb_word_at(t, ((address + 4) & ~3ull) + (h & 0xff) * 4));
    } else if ((h & 0xf800) == 0x2000) {
        set_constant(s, r, h & 0xff);
    } else if (s->constant_of == (int)(h & 7) || s->constant_of == (int)r ||
               (h & 0xf800) == 0xc800) {
        s->constant_of = -1; /* it may be written */
    }
}

/* ---- 32 bits ----------------------------------------------------------------------- */

/* The constant that a modified immediate stands for. */
static uint32_t unwind_thumb_expand_constant(uint32_t a, uint32_t b)
{
    uint32_t imm = (a >> 10 & 1) << 11 | (b >> 12 & 7) << 8 | (b & 0xff), low = imm & 0xff;
    unsigned turn = imm >> 7;

    if (imm >> 10) {
        uint32_t value = 0x80 | (imm & 0x7f);
        return value >> turn | value << (32 - turn);
    }
    const uint32_t multiples[] = {1, 0x00010001, 0x01000100, 0x01010101};
    return low * multiples[imm >> 8 & 3];
}

static uint32_t unwind_thumb_plain_constant(uint32_t a, uint32_t b)
{
    return (a >> 10 & 1) << 11 | (b >> 12 & 7) << 8 | (b & 0xff);
}

/* d = n + value */
static void unwind_thumb_add_constant(struct unwind_state *s, unsigned d, unsigned n, int64_t value)
{
    bool known = n == SP ? s->sp_known : n == FP && s->fp_known;
    int from = n == SP ? s->sp : s->fp;

    if (d == SP) {
        s->sp_known = known;
        s->sp = from - (int)value;
    } else if (d == FP) {
        s->fp_known = known;
        s->fp = from - (int)value;
    }
    if (s->constant_of == (int)d) {
        s->constant_of = -1;
    }
}

/* Returns false for any other instruction. */
static bool unwind_thumb_step_arithmetic(struct unwind_state *s, uint32_t a, uint32_t b)
{
    unsigned d = b >> 8 & 15, n = a & 15;

    switch (a & 0xfbf0) {
    case 0xf100: /* add */
    case 0xf110:
        unwind_thumb_add_constant(s, d, n, (int32_t)unwind_thumb_expand_constant(a, b));
        return true;
    case 0xf1a0: /* sub */
    case 0xf1b0:
        unwind_thumb_add_constant(s, d, n, -(int64_t)(int32_t)unwind_thumb_expand_constant(a, b));
        return true;
    case 0xf200: /* addw */
        unwind_thumb_add_constant(s, d, n, unwind_thumb_plain_constant(a, b));
        return true;
    case 0xf2a0: /* subw */
        unwind_thumb_add_constant(s, d, n, -(int64_t)unwind_thumb_plain_constant(a, b));
        return true;
    case 0xf240: /* movw */
        set_constant(s, d, (a & 15) << 12 | unwind_thumb_plain_constant(a, b));
        return true;
    case 0xf2c0: /* movt */
        if (s->constant_of == (int)d) {
            s->constant = (s->constant & 0xffff) |
                          (int64_t)((a & 15) << 12 | unwind_thumb_plain_constant(a, b)) << 16;
        }
        return true;
    }
    if ((a & 0xfbff) == 0xf04f) { /* mov.w # */
        set_constant(s, d, unwind_thumb_expand_constant(a, b));
    } else if ((a & 0xfbff) == 0xf06f) { /* mvn # */
        set_constant(s, d, ~unwind_thumb_expand_constant(a, b));
    } else if (d == SP && a == 0xebad && !(b & 0x70c0)) {
        unwind_thumb_add_register(s, b & 15, -1);
    } else if (d == SP && a == 0xeb0d && !(b & 0x70c0)) {
        unwind_thumb_add_register(s, b & 15, 1);
    } else if (a == 0xea4f && !(b & 0x70f0)) {
        moves_to(s, d, b & 15);
    } else {
        return false;
    }
    return true;
}

static void unwind_thumb_one_of_stack(struct unwind_state *s, unsigned reg, bool load, int at)
{
    if (load) {
        unwind_load(s, reg == LR, reg == FP, at - s->sp);
    } else {
        unwind_store(s, reg == LR, reg == FP, at - s->sp);
    }
}

/* LDR, STR, LDRD, STRD at the stack pointer. offset: that of the address; move: what is added to
 * the stack pointer. */
static void unwind_thumb_at_stack(struct unwind_state *s, uint32_t regs, bool load, bool before,
                                  int offset, bool writes_back)
{
    int at = before ? offset : 0, width = 0;

    if (!load && writes_back) {
        unwind_moves_sp(s, -offset);
        at -= offset;
    }
    for (; regs; regs >>= 8, width += 4) {
        unwind_thumb_one_of_stack(s, (regs & 0xff) - 1, load, at + width);
    }
    if (load && writes_back) {
        unwind_moves_sp(s, -offset);
    }
}

static bool unwind_thumb_step_memory(struct unwind_state *s, uint32_t a, uint32_t b)
{
    int up = b & 0x200 ? 1 : -1;

    if (a == 0xe92d || a == 0xe8bd) {
        a == 0xe92d ? unwind_thumb_push_registers(s, b) : unwind_thumb_pop_registers(s, b);
    } else if (a == 0xf84d && (b & 0x800)) { /* str, 8 bits of offset */
        unwind_thumb_at_stack(s, (b >> 12) + 1, false, b & 0x400, up * (int)(b & 0xff), b & 0x100);
    } else if (a == 0xf85d && (b & 0x800)) {
        unwind_thumb_at_stack(s, (b >> 12) + 1, true, b & 0x400, up * (int)(b & 0xff), b & 0x100);
    } else if (a == 0xf8cd || a == 0xf8dd) { /* 12 bits */
        unwind_thumb_at_stack(s, (b >> 12) + 1, a == 0xf8dd, true, (int)(b & 0xfff), false);
    } else if ((a & 0xfe4f) == 0xe84d && (a & 0x120)) { /* dual */
        up = a & 0x80 ? 1 : -1;
        unwind_thumb_at_stack(s, (b >> 12) + 1 + ((b >> 8 & 15) + 1) * 256, a & 0x10, a & 0x100,
                              up * (int)(b & 0xff) * 4, a & 0x20);
    } else if ((a & 0xffbf) == 0xed2d || (a & 0xffbf) == 0xecbd) { /* vpush, vpop */
        unwind_moves_sp(s, (int)(b & 0xff) * ((a & 0xffbf) == 0xed2d ? 4 : -4));
    } else if ((a & 0xff7f) == 0xf85f) { /* ldr of a literal: not followed */
        s->constant_of = -1;
        s->sp_known = s->sp_known && b >> 12 != SP;
    } else if ((a & 0xff70) == 0xf850 && b >> 12 == SP) {
        s->sp_known = false;
    } else {
        return false;
    }
    return true;
}

void unwind_thumb_effect(struct unwind_state *s, const struct fbt_text *t, uint64_t address)
{
    uint32_t a = unwind_thumb_half_at(t, address);

    if (a >> 11 < 0x1d) {
        unwind_thumb_step_narrow(s, t, address, a);
        return;
    }
    if (address + 4 > t->base + t->size) {
        return;
    }
    uint32_t b = unwind_thumb_half_at(t, address + 2);
    bool known = unwind_thumb_step_memory(s, a, b) || unwind_thumb_step_arithmetic(s, a, b);
    bool writes = (a & 0xf800) == 0xe800 ? (a & 0xfe00) == 0xea00 : (a & 0xf000) == 0xf000;
    if (!known && writes && !(b & 0x8000)) {
        unsigned d = b >> 8 & 15;
        s->sp_known = s->sp_known && !(d == SP && (a & 0xfe00) == 0xea00);
    }
    if (!known && s->constant_of >= 0) {
        s->constant_of = -1;
    }
}
