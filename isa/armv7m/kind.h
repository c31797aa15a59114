/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Thumb-2 instructions of ARMv7-M that a breakpoint in a program may replace (Arm DDI 0403,
 * A5); step.h executes them. Only instructions that are known to continue with the next one are
 * executed in place; unpredictable ones (in the manual's sense) are refused. Tested by
 * test/isa/thumb.py against objdump, and by thumb_test.c.
 */
#ifndef ISA_ARMV7M_KIND_H
#define ISA_ARMV7M_KIND_H

#include <stdbool.h>
#include <stdint.h>

enum t2_step {
    T2_STEP_REFUSED,
    T2_STEP_IN_PLACE, /* continues with the next instruction */
    T2_STEP_EMULATED, /* t2_step_emulate() */
};

static inline unsigned t2_step_bytes(uint32_t insn)
{
    return (insn & 0xffff) >= 0xe800 ? 4 : 2;
}

static inline enum t2_step t2_step_narrow(uint32_t h)
{
    static const struct {
        uint16_t mask, value;
        uint8_t kind;
    } kinds[] = {
        {0xffff, 0x4778, T2_STEP_REFUSED},  /* BX PC */
        {0xffff, 0x47f8, T2_STEP_REFUSED},  /* BLX PC */
        {0xff07, 0x4700, T2_STEP_EMULATED}, /* BX, BLX */
        {0xff00, 0x4700, T2_STEP_REFUSED},
        {0xfdff, 0x44ff, T2_STEP_REFUSED},  /* ADD, MOV PC, PC */
        {0xfd87, 0x4487, T2_STEP_EMULATED}, /* ADD, MOV PC, Rm */
        {0xff87, 0x4587, T2_STEP_REFUSED},  /* CMP PC, Rm */
        {0xff78, 0x4578, T2_STEP_REFUSED},  /* CMP Rn, PC */
        {0xf500, 0xb100, T2_STEP_EMULATED}, /* CBZ, CBNZ */
        {0xff00, 0xb000, T2_STEP_IN_PLACE}, /* ADD, SUB SP */
        {0xff00, 0xb200, T2_STEP_IN_PLACE}, /* SXTH, SXTB, UXTH, UXTB */
        {0xffff, 0xb400, T2_STEP_REFUSED},  /* PUSH, POP without registers */
        {0xffff, 0xbc00, T2_STEP_REFUSED},
        {0xfe00, 0xb400, T2_STEP_IN_PLACE}, /* PUSH */
        {0xff00, 0xbc00, T2_STEP_IN_PLACE}, /* POP */
        {0xff00, 0xbd00, T2_STEP_EMULATED}, /* POP with PC */
        {0xffc0, 0xba80, T2_STEP_REFUSED},  /* not REV, REV16, REVSH */
        {0xff00, 0xba00, T2_STEP_IN_PLACE},
        {0xffff, 0xbf10, T2_STEP_IN_PLACE}, /* YIELD, SEV; a NOP may be a static probe */
        {0xffff, 0xbf40, T2_STEP_IN_PLACE},
        {0xff0f, 0xbf00, T2_STEP_REFUSED},  /* WFE, WFI, other hints */
        {0xfff0, 0xbff0, T2_STEP_REFUSED},  /* not IT */
        {0xff00, 0xbf00, T2_STEP_EMULATED}, /* IT */
        {0xf000, 0xb000, T2_STEP_REFUSED},  /* CPS, BKPT, not allocated */
        {0xf0ff, 0xc000, T2_STEP_REFUSED},  /* STM, LDM without registers */
        {0xfe00, 0xde00, T2_STEP_REFUSED},  /* UDF, SVC */
        {0xf000, 0xd000, T2_STEP_EMULATED}, /* B<c> */
        {0xf800, 0xe000, T2_STEP_EMULATED}, /* B */
    };

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if ((h & kinds[i].mask) == kinds[i].value) {
            return (enum t2_step)kinds[i].kind;
        }
    }
    return T2_STEP_IN_PLACE; /* of low registers, or of memory by them */
}

/* Returns whether a register is SP or PC. */
static inline bool t2_step_special(uint32_t r)
{
    return r == 13 || r == 15;
}

static inline bool t2_step_exclusive(uint32_t insn)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16;

    return (a & 0xffe0) == 0xe840 || ((a & 0xffe0) == 0xe8c0 && (b & 0xc0) == 0x40);
}

/* Encodings 1110 100: load and store multiple, dual, exclusive; table branches. */
static inline enum t2_step t2_step_several(uint32_t a, uint32_t b)
{
    const uint32_t n = a & 15, t = b >> 12, t2 = b >> 8 & 15;
    const bool load = a & 0x10, back = a & 0x20;

    if (a & 0x40) {
        if ((a & 0xfff0) == 0xe8d0 && (b & 0xffe0) == 0xf000) { /* TBB, TBH */
            return n == 13 || t2_step_special(b & 15) ? T2_STEP_REFUSED : T2_STEP_EMULATED;
        }
        if (!(a & 0x120) || t2_step_special(t) || t2_step_special(t2) || (load && t == t2) ||
            (back && (n == t || n == t2)) || (n == 15 && (back || !load))) {
            return T2_STEP_REFUSED;
        }
        return T2_STEP_IN_PLACE; /* LDRD, STRD */
    }
    const bool after = (a & 0x180) == 0x080, before = (a & 0x180) == 0x100;
    const bool one = !(b & (b - 1));
    if ((!after && !before) || n == 15 || one || b & 0x2000 || (back && b >> n & 1) ||
        (!load && b & 0x8000) || (b & 0xc000) == 0xc000) {
        return T2_STEP_REFUSED;
    }
    if (b & 0x8000) { /* a frame below SP can't move down */
        return n == 13 && back && before ? T2_STEP_REFUSED : T2_STEP_EMULATED;
    }
    return T2_STEP_IN_PLACE;
}

/* Data processing (AND, BIC, ORR, …) of a shifted register or of a constant. */
static inline enum t2_step t2_step_data(uint32_t a, uint32_t b, bool shifted)
{
    const uint32_t op = a >> 5 & 15, n = a & 15, d = b >> 8 & 15, m = b & 15;
    const bool packs = shifted && !(a & 0x10) && !(b & 0x10);
    const uint32_t known = packs ? 0x6d5f : 0x6d1f; /* with PKH, or without */
    const bool tests = (a & 0x10) && (op == 0 || op == 4 || op == 8 || op == 13);

    if (!(known >> op & 1) || (shifted && (m == 15 || b & 0x8000)) || (d == 15 && !tests) ||
        (n == 15 && op != 2 && op != 3)) {
        return T2_STEP_REFUSED;
    }
    return T2_STEP_IN_PLACE;
}

/* Encodings 1110 11: of these the FPU's. */
static inline enum t2_step t2_step_float(uint32_t a, uint32_t b)
{
    const uint32_t t = b >> 12;
    const bool load = a & 0x10, up = a & 0x80, before = a & 0x100, back = a & 0x20;

    if ((b & 0xe00) != 0xa00 || a >= 0xef00) {
        return T2_STEP_REFUSED;
    }
    if (a & 0x200) { /* arithmetic; moves of one register, for which VMRS may name the flags */
        const bool flags = a == 0xeef1 && (b & 0xfff) == 0xa10;
        return b & 0x10 && t2_step_special(t) && !(flags && t == 15) ? T2_STEP_REFUSED
                                                                     : T2_STEP_IN_PLACE;
    }
    if ((a & 0xffe0) == 0xec40) { /* moves of two */
        return t2_step_special(t) || t2_step_special(a & 15) || (b & 0xd0) != 0x10 ||
                       (load && t == (a & 15))
                   ? T2_STEP_REFUSED
                   : T2_STEP_IN_PLACE;
    }
    if (before && !back) { /* VLDR, VSTR */
        return (a & 15) == 15 && !load ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    const bool known = before ? !up && back : up; /* VLDM, VSTM */
    return known && (a & 15) != 15 && b & 0xff ? T2_STEP_IN_PLACE : T2_STEP_REFUSED;
}

/* Encodings 1111 0 with bit 15 of the second halfword: branches and system instructions. */
static inline enum t2_step t2_step_control(uint32_t a, uint32_t b)
{
    if ((b & 0xd000) == 0xd000 || (b & 0xd000) == 0x9000) { /* BL, B */
        return T2_STEP_EMULATED;
    }
    if ((b & 0xd000) == 0x8000 && (a & 0x380) != 0x380) { /* B<c> */
        return T2_STEP_EMULATED;
    }
    if (a == 0xf3af) { /* YIELD, SEV */
        return b == 0x8001 || b == 0x8004 ? T2_STEP_IN_PLACE : T2_STEP_REFUSED;
    }
    if (a == 0xf3bf) { /* DSB, DMB, ISB, CLREX */
        return (b & 0xfff0) == 0x8f40 || (b & 0xfff0) == 0x8f50 || (b & 0xfff0) == 0x8f60 ||
                       b == 0x8f2f
                   ? T2_STEP_IN_PLACE
                   : T2_STEP_REFUSED;
    }
    if ((a & 0xfff0) == 0xf380 && (b & 0xf3fc) == 0x8000) { /* MSR of the flags */
        return t2_step_special(a & 15) ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    if (a == 0xf3ef && (b & 0xf0fc) == 0x8000) { /* MRS of the flags */
        return t2_step_special(b >> 8 & 15) ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    return T2_STEP_REFUSED;
}

/* Encodings 1111 0: constants of 12 and 16 bits, saturation, bit fields. */
static inline enum t2_step t2_step_fields(uint32_t a, uint32_t b)
{
    const uint32_t op = a >> 4 & 31, n = a & 15, d = b >> 8 & 15;
    const bool adds = op == 0 || op == 10, moves = op == 4 || op == 12, inserts = op == 22;
    const bool fields = op >= 16 && !(op & 1) && op != 30 && !(a & 0x400) && !(b & 0x20);

    if ((!adds && !moves && !fields) || (t2_step_special(d) && !(adds && d == 13)) ||
        (fields && !inserts && t2_step_special(n))) {
        return T2_STEP_REFUSED;
    }
    return T2_STEP_IN_PLACE;
}

/* Encodings 1111 100: loads and stores of one register. */
static inline enum t2_step t2_step_single(uint32_t a, uint32_t b)
{
    const uint32_t size = a >> 5 & 3, n = a & 15, t = b >> 12;
    const bool load = a & 0x10, is_signed = a & 0x100, literal = n == 15, plain = a & 0x80;
    const bool by_register = !plain && !(b & 0xfc0);
    const bool by_8 = !plain && b & 0x800 && b & 0x500;
    const bool back = by_8 && b & 0x100;

    if (size == 3 || (is_signed && (!load || size == 2)) || (literal && !load) ||
        (!plain && !literal && !by_register && !by_8) ||
        (!literal && by_register && t2_step_special(b & 15)) || (!literal && back && (n == t))) {
        return T2_STEP_REFUSED;
    }
    if (t == 15 && (a & 0xfff0) == 0xf890 && !literal) { /* PLD */
        return T2_STEP_IN_PLACE;
    }
    if (t == 13) {
        return size == 2 ? T2_STEP_IN_PLACE : T2_STEP_REFUSED;
    }
    if (t != 15) {
        return T2_STEP_IN_PLACE;
    }
    /* LDR PC is emulated, but not the unprivileged LDRT; a frame below SP can't move down; the
     * others are hints. */
    const bool down = !literal && back && n == 13 && (b & 0x600) != 0x200;
    const bool unprivileged = !literal && by_8 && (b & 0x700) == 0x600;
    return load && size == 2 && !down && !unprivileged ? T2_STEP_EMULATED : T2_STEP_REFUSED;
}

/* Encodings 1111 101: shifts, extensions, products, quotients. Returns whether bits 7 to 4 of the
 * second halfword are valid with these of the first. */
static inline bool t2_step_allocated(uint32_t a, uint32_t b)
{
    static const uint16_t known[] = {0x0003, 0x000f, 0x0003, 0x0003, 0x0003, 0x0003,
                                     0x0003, 0x0001, 0x0001, 0x8000, 0x0001, 0x8000,
                                     0x3f01, 0x3000, 0x0041, 0x0000};
    const uint32_t op = a >> 4 & 15, op2 = b >> 4 & 15;

    if (a & 0x100) {
        return known[op] >> op2 & 1;
    }
    if (op < 8) {
        return op2 == 0 || (op < 6 && op2 >= 8 && op2 < 12);
    }
    return op2 < 8 ? (op2 & 3) != 3 && (op & 3) != 3
                   : op2 < 12 && (op < 10 || (op < 12 && op2 == 8));
}

static inline enum t2_step t2_step_arithmetic(uint32_t a, uint32_t b)
{
    const uint32_t n = a & 15, t = b >> 12, d = b >> 8 & 15, m = b & 15;
    const bool multiplies = a & 0x100, is_long = multiplies && a & 0x80;
    const bool divides = (a & 0xffd0) == 0xfb90, extends = !multiplies && !(a & 0x80) && b & 0x80;
    const bool subtracts = (a & 0xfff0) == 0xfb60 || ((a & 0xfff0) == 0xfb00 && b & 0xf0);

    if (!t2_step_allocated(a, b) || t2_step_special(d) || t2_step_special(m) || n == 13 ||
        t == 13 || (subtracts && t == 15) || (n == 15 && !extends) ||
        ((!multiplies || divides) && t != 15) || (is_long && !divides && (t == 15 || t == d))) {
        return T2_STEP_REFUSED;
    }
    return T2_STEP_IN_PLACE;
}

static inline enum t2_step t2_step_kind(uint32_t insn)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16;

    if (t2_step_bytes(insn) == 2) {
        return b ? T2_STEP_REFUSED : t2_step_narrow(a);
    }
    switch (a >> 9) {
    case 0xe800 >> 9:
        return t2_step_exclusive(insn) ? T2_STEP_REFUSED : t2_step_several(a, b);
    case 0xea00 >> 9:
        return t2_step_data(a, b, true);
    case 0xec00 >> 9:
    case 0xee00 >> 9:
        return t2_step_float(a, b);
    case 0xf800 >> 9:
        return t2_step_single(a, b);
    case 0xfa00 >> 9:
        return t2_step_arithmetic(a, b);
    default:
        return a >= 0xf800  ? T2_STEP_REFUSED /* other coprocessors */
               : b & 0x8000 ? t2_step_control(a, b)
               : a & 0x200  ? t2_step_fields(a, b)
                            : t2_step_data(a, b, false);
    }
}

/* An exception between LDREX and STREX, which clears the monitor, would make the loop endless. */
static inline bool t2_step_opens(uint32_t insn)
{
    return t2_step_bytes(insn) == 4 && t2_step_exclusive(insn) && insn & 0x10;
}

static inline bool t2_step_closes(uint32_t insn)
{
    return t2_step_bytes(insn) == 4 && t2_step_exclusive(insn) && !(insn & 0x10);
}

/* Returns the number of following instructions that an IT makes conditional; 0: it is not an IT. */
static inline unsigned t2_step_it(uint32_t insn)
{
    return (insn >> 8) != 0xbf || !(insn & 15) ? 0 : insn & 1 ? 4 : insn & 2 ? 3 : insn & 4 ? 2 : 1;
}

#endif
