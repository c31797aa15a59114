/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thumb-2 instructions of ARMv7-M that a breakpoint in a program has displaced: which can be
 * executed all the same, and how (Arm DDI 0403, A5). The host decides by it where a user probe can
 * be, the kernel executes by it what it displaced (kernel/arch/armv7m/step). What branches is
 * emulated here. All else is executed at its own place, with a trap behind it: so only instructions
 * that are known to go on there are in the lists; what the manual calls unpredictable is not.
 * Tested by test/step against tables of registers.
 *
 * insn: as it lies in memory, the first halfword in the lower half; of 2 bytes the upper half is 0.
 */
#ifndef ABI_T2_STEP_H
#define ABI_T2_STEP_H

#include <stdbool.h>
#include <stdint.h>

enum t2_step {
    T2_STEP_REFUSED,
    T2_STEP_IN_PLACE, /* goes on behind itself */
    T2_STEP_EMULATED, /* t2_step_emulate() */
};

enum {
    T2_STEP_BREAK = 0xde4b, /* a probe's UDF */
    T2_STEP_END = 0xde59,   /* and the one behind an instruction that is executed in its place */
};

struct t2_step_cpu {
    uint32_t r[16]; /* r[15]: the instruction's address; behind it: the next one's */
    uint32_t xpsr;
};

#define T2_STEP_THUMB (1u << 24)
#define T2_STEP_IT 0x0600fc00u /* of xPSR */

enum { T2_STEP_WORDS = 16 }; /* that an instruction loads at most */

static inline unsigned t2_step_bytes(uint32_t insn)
{
    return (insn & 0xffff) >= 0xe800 ? 4 : 2;
}

/* ---- which ------------------------------------------------------------------------- */

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
        {0xffff, 0xb400, T2_STEP_REFUSED},  /* PUSH, POP of nothing */
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
        {0xf0ff, 0xc000, T2_STEP_REFUSED},  /* STM, LDM of nothing */
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

/* SP or PC. */
static inline bool t2_step_special(uint32_t r)
{
    return r == 13 || r == 15;
}

static inline bool t2_step_exclusive(uint32_t insn)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16;

    return (a & 0xffe0) == 0xe840 || ((a & 0xffe0) == 0xe8c0 && (b & 0xc0) == 0x40);
}

/* 1110 100: several registers, two, a table of branches, exclusive ones. */
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

/* AND, BIC, ORR, … of a shifted register or of a constant. */
static inline enum t2_step t2_step_data(uint32_t a, uint32_t b, bool shifted)
{
    const uint32_t op = a >> 5 & 15, n = a & 15, d = b >> 8 & 15, m = b & 15;
    const uint32_t known = shifted ? 0x6d5f : 0x6d1f; /* with PKH, or without */
    const bool tests = (a & 0x10) && (op == 0 || op == 4 || op == 8 || op == 13);

    if (!(known >> op & 1) || (shifted && (m == 15 || b & 0x8000)) || (d == 15 && !tests) ||
        (n == 15 && op != 2 && op != 3)) {
        return T2_STEP_REFUSED;
    }
    return T2_STEP_IN_PLACE;
}

/* 1110 11: of these the FPU's. */
static inline enum t2_step t2_step_float(uint32_t a, uint32_t b)
{
    const uint32_t t = b >> 12;
    const bool load = a & 0x10, up = a & 0x80, before = a & 0x100, back = a & 0x20;

    if ((b & 0xe00) != 0xa00 || a >= 0xef00) {
        return T2_STEP_REFUSED;
    }
    if (a & 0x200) { /* arithmetic; moves of one register, of which VMRS may name the flags */
        const bool flags = a == 0xeef1 && (b & 0xfff) == 0xa10;
        return b & 0x10 && t2_step_special(t) && !(flags && t == 15) ? T2_STEP_REFUSED
                                                                     : T2_STEP_IN_PLACE;
    }
    if ((a & 0xffe0) == 0xec40) { /* moves of two */
        return t2_step_special(t) || t2_step_special(a & 15) ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    if (before && !back) { /* VLDR, VSTR */
        return (a & 15) == 15 && !load ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    const bool known = before ? !up && back : up; /* VLDM, VSTM */
    return known && (a & 15) != 15 && b & 0xff ? T2_STEP_IN_PLACE : T2_STEP_REFUSED;
}

/* 1111 0, and bit 15 of the second halfword: branches and system instructions. */
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
    if (a == 0xf3ef && (b & 0xf0fc) == 0x8000) { /* MRS of them */
        return t2_step_special(b >> 8 & 15) ? T2_STEP_REFUSED : T2_STEP_IN_PLACE;
    }
    return T2_STEP_REFUSED;
}

/* 1111 0: constants of 12 and 16 bits, saturation, bit fields. */
static inline enum t2_step t2_step_fields(uint32_t a, uint32_t b)
{
    const uint32_t op = a >> 4 & 31, n = a & 15, d = b >> 8 & 15;
    const bool adds = op == 0 || op == 10, moves = op == 4 || op == 12, inserts = op == 22;
    const bool fields = op >= 16 && !(op & 1) && op != 30;

    if ((!adds && !moves && !fields) || (t2_step_special(d) && !(adds && d == 13)) ||
        (fields && !inserts && t2_step_special(n))) {
        return T2_STEP_REFUSED;
    }
    return T2_STEP_IN_PLACE;
}

/* 1111 100: loads and stores of one register. */
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
    if (t == 13) {
        return size == 2 ? T2_STEP_IN_PLACE : T2_STEP_REFUSED;
    }
    if (t != 15) {
        return T2_STEP_IN_PLACE;
    }
    /* LDR PC. Not without privileges (LDRT); a frame below SP can't move down; others are hints. */
    const bool down = !literal && back && n == 13 && (b & 0x600) != 0x200;
    const bool unprivileged = !literal && by_8 && (b & 0x700) == 0x600;
    return load && size == 2 && !down && !unprivileged ? T2_STEP_EMULATED : T2_STEP_REFUSED;
}

/* 1111 101: shifts, extensions, products, quotients. Which of bits 7 to 4 of the second halfword are
 * known for these of the first. */
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

    if (!t2_step_allocated(a, b) || t2_step_special(d) || t2_step_special(m) || n == 13 ||
        t == 13 || (n == 15 && !extends) || ((!multiplies || divides) && t != 15) ||
        (is_long && !divides && (t == 15 || t == d))) {
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

/* Between LDREX and STREX an exception, which clears the monitor, would make the loop endless. */
static inline bool t2_step_opens(uint32_t insn)
{
    return t2_step_bytes(insn) == 4 && t2_step_exclusive(insn) && insn & 0x10;
}

static inline bool t2_step_closes(uint32_t insn)
{
    return t2_step_bytes(insn) == 4 && t2_step_exclusive(insn) && !(insn & 0x10);
}

/* How many instructions behind it an IT makes conditional; 0: it is none. */
static inline unsigned t2_step_it(uint32_t insn)
{
    return (insn >> 8) != 0xbf || !(insn & 15) ? 0 : insn & 1 ? 4 : insn & 2 ? 3 : insn & 4 ? 2 : 1;
}

/* ---- how --------------------------------------------------------------------------- */

/* A field of `bits` bits with a sign. */
static inline uint32_t t2_step_extend(uint32_t field, unsigned bits)
{
    const uint32_t sign = 1u << (bits - 1);

    return (field ^ sign) - sign;
}

/* Returns whether the condition holds; flags: NZCV in bits 31 to 28. */
static inline bool t2_step_holds(uint32_t condition, uint32_t flags)
{
    const bool n = flags >> 31 & 1, z = flags >> 30 & 1, c = flags >> 29 & 1, v = flags >> 28 & 1;
    const bool holds[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
    const bool inverted = (condition & 1) && condition != 15;

    return holds[condition >> 1 & 7] != inverted;
}

/* The state of an IT block, in xPSR and as the manual has it: the condition of the next instruction
 * in bits 7 to 4; 0: in none. A restarted multiple transfer isn't one. */
static inline uint32_t t2_step_it_state(uint32_t xpsr)
{
    const uint32_t it = (xpsr >> 8 & 0xfc) | (xpsr >> 25 & 3);

    return it & 15 ? it : 0;
}

static inline uint32_t t2_step_with_it(uint32_t xpsr, uint32_t it)
{
    return (xpsr & ~T2_STEP_IT) | (it & 0xfc) << 8 | (it & 3) << 25;
}

static inline uint32_t t2_step_it_next(uint32_t it)
{
    return it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
}

/* Returns whether an instruction of 2 bytes sets flags in an IT block, too; others don't there. */
static inline bool t2_step_compares(uint32_t insn)
{
    return (insn & 0xf800) == 0x2800 || (insn & 0xffc0) == 0x4200 || (insn & 0xff80) == 0x4280 ||
           (insn & 0xff00) == 0x4500;
}

/* The target of a B or a BL that names it, whatever the condition; 0: it is none. */
static inline uint32_t t2_step_target(uint32_t insn, uint32_t pc)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16, s = a >> 10 & 1;
    const uint32_t j1 = b >> 13 & 1, j2 = b >> 11 & 1;

    if ((a & 0xf000) == 0xd000) {
        return pc + 4 + t2_step_extend((a & 0xff) << 1, 9);
    }
    if ((a & 0xf800) == 0xe000) {
        return pc + 4 + t2_step_extend((a & 0x7ff) << 1, 12);
    }
    if ((a & 0xf500) == 0xb100) {
        return pc + 4 + ((a >> 3 & 0x1f) << 1 | (a >> 9 & 1) << 6);
    }
    if ((a & 0xf800) != 0xf000 || !(b & 0x8000)) {
        return 0;
    }
    if (b & 0x1000) {
        const uint32_t i1 = ~(j1 ^ s) & 1, i2 = ~(j2 ^ s) & 1;
        return pc + 4 +
               t2_step_extend(s << 24 | i1 << 23 | i2 << 22 | (a & 0x3ff) << 12 | (b & 0x7ff) << 1,
                              25);
    }
    return pc + 4 +
           t2_step_extend(s << 20 | j2 << 19 | j1 << 18 | (a & 0x3f) << 12 | (b & 0x7ff) << 1, 21);
}

static inline unsigned t2_step_count(uint32_t list)
{
    unsigned n = 0;

    for (; list; list &= list - 1) {
        n++;
    }
    return n;
}

/* Returns how many bytes an instruction that is T2_STEP_EMULATED loads, and from where. */
static inline unsigned t2_step_loads(uint32_t insn, const struct t2_step_cpu *cpu, uint32_t *from)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16;
    const uint32_t n = a & 15, m = b & 15;
    const uint32_t base = n == 15 ? (cpu->r[15] + 4) & ~3u : cpu->r[n];

    if ((a & 0xff00) == 0xbd00) {
        *from = cpu->r[13];
        return 4 * (t2_step_count(a & 0xff) + 1);
    }
    if ((a & 0xfff0) == 0xe8d0) { /* TBB, TBH */
        const uint32_t wide = b >> 4 & 1;
        *from = (n == 15 ? cpu->r[15] + 4 : base) + (cpu->r[m] << wide);
        return 1 + wide;
    }
    if ((a & 0xfe40) == 0xe800) { /* LDM */
        const unsigned bytes = 4 * t2_step_count(b);
        *from = a & 0x80 ? base : base - bytes;
        return bytes;
    }
    if ((a & 0xfe00) != 0xf800) {
        return 0;
    }
    if (n == 15) { /* LDR of a literal */
        *from = a & 0x80 ? base + (b & 0xfff) : base - (b & 0xfff);
    } else if (a & 0x80) {
        *from = base + (b & 0xfff);
    } else if (!(b & 0x800)) {
        *from = base + (cpu->r[m] << (b >> 4 & 3));
    } else {
        const uint32_t offset = b & 0x200 ? b & 0xff : 0 - (b & 0xff);
        *from = b & 0x400 ? base + offset : base;
    }
    return 4;
}

/* A jump to a loaded or a register's value, whose lowest bit says that it is Thumb code. */
static inline void t2_step_jump(struct t2_step_cpu *cpu, uint32_t to)
{
    cpu->r[15] = to & ~1u;
    cpu->xpsr = (cpu->xpsr & ~T2_STEP_THUMB) | (to & 1 ? T2_STEP_THUMB : 0);
}

/* POP, LDM: the registers of the list. */
static inline void t2_step_load(struct t2_step_cpu *cpu, uint32_t list, const uint32_t *words)
{
    for (unsigned i = 0; i < 15; i++) {
        if (list >> i & 1) {
            cpu->r[i] = *words++;
        }
    }
    t2_step_jump(cpu, *words);
}

static inline void t2_step_emulate_narrow(uint32_t a, struct t2_step_cpu *cpu,
                                          const uint32_t *words)
{
    const uint32_t pc = cpu->r[15], m = cpu->r[a >> 3 & 15];

    if ((a & 0xff00) == 0x4700) { /* BX, BLX */
        if (a & 0x80) {
            cpu->r[14] = (pc + 2) | 1;
        }
        t2_step_jump(cpu, m);
    } else if ((a & 0xfd87) == 0x4487) { /* ADD, MOV */
        cpu->r[15] = ((a & 0x200 ? 0 : pc + 4) + m) & ~1u;
    } else if ((a & 0xff00) == 0xbd00) {
        cpu->r[13] += 4 * (t2_step_count(a & 0xff) + 1);
        t2_step_load(cpu, a & 0xff, words);
    } else if ((a & 0xff00) == 0xbf00) {
        cpu->xpsr = t2_step_with_it(cpu->xpsr, a & 0xff);
        cpu->r[15] = pc + 2;
    } else if ((a & 0xf000) == 0xb000) {
        const bool jumps = (cpu->r[a & 7] != 0) == (a >> 11 & 1);
        cpu->r[15] = jumps ? t2_step_target(a, pc) : pc + 2;
    } else {
        const bool jumps = (a & 0xf000) != 0xd000 || t2_step_holds(a >> 8 & 15, cpu->xpsr);
        cpu->r[15] = jumps ? t2_step_target(a, pc) : pc + 2;
    }
}

/* Executes an instruction that is T2_STEP_EMULATED. words: what t2_step_loads() names. The flags,
 * and of xPSR whether it is Thumb code, and IT's state, are in cpu->xpsr. */
static inline void t2_step_emulate(uint32_t insn, struct t2_step_cpu *cpu, const uint32_t *words)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16, pc = cpu->r[15], n = a & 15;
    const bool back = a & 0x20;

    cpu->xpsr &= ~T2_STEP_IT; /* of a block a branch is the last one */
    if (t2_step_bytes(insn) == 2) {
        t2_step_emulate_narrow(a, cpu, words);
    } else if ((a & 0xfff0) == 0xe8d0) { /* TBB, TBH */
        cpu->r[15] = pc + 4 + 2 * (words[0] & (b & 0x10 ? 0xffff : 0xff));
    } else if ((a & 0xfe40) == 0xe800) { /* LDM */
        const uint32_t bytes = 4 * t2_step_count(b);
        cpu->r[n] += !back ? 0 : a & 0x80 ? bytes : 0 - bytes;
        t2_step_load(cpu, b & 0x7fff, words);
    } else if ((a & 0xfe00) == 0xf800) { /* LDR */
        if (n != 15 && !(a & 0x80) && (b & 0x900) == 0x900) {
            cpu->r[n] += b & 0x200 ? b & 0xff : 0 - (b & 0xff);
        }
        t2_step_jump(cpu, words[0]);
    } else if (b & 0x1000) { /* B, BL */
        if (b & 0x4000) {
            cpu->r[14] = (pc + 4) | 1;
        }
        cpu->r[15] = t2_step_target(insn, pc);
    } else {
        const bool jumps = t2_step_holds(a >> 6 & 15, cpu->xpsr);
        cpu->r[15] = jumps ? t2_step_target(insn, pc) : pc + 4;
    }
}

#endif
