/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64 instructions that a breakpoint in a program has replaced: whether and how they can still
 * be executed (Arm DDI 0487, C4.1). With it the host decides where a user probe can be, and the
 * kernel executes the replaced instruction (kernel/arch/aarch64/step). PC-relative instructions and
 * branches are emulated here; all others have the same effect at any address and are executed
 * there. Tested by test/isa against a table of registers.
 */
#ifndef ISA_AARCH64_STEP_H
#define ISA_AARCH64_STEP_H

#include <stdbool.h>
#include <stdint.h>

enum a64_step {
    A64_STEP_REFUSED,
    A64_STEP_MOVED,    /* has the same effect at another address */
    A64_STEP_EMULATED, /* a64_step_emulate() */
};

enum {
    A64_STEP_BREAK = 0x4b59, /* the number of a probe's BRK */
    A64_STEP_END = 0x4b5a,   /* and of the one after an instruction that was moved */
};

static inline uint32_t a64_step_brk(uint32_t number)
{
    return 0xd4200000u | number << 5;
}

/* Classifies branches, exceptions and system instructions. */
static inline enum a64_step a64_step_system(uint32_t insn)
{
    if ((insn & 0xffc00000u) != 0xd5000000u) {
        return A64_STEP_REFUSED;
    }
    if ((insn & 0xfffff01fu) == 0xd503201fu) { /* hints: a NOP may be a static probe; WFE, WFI */
        const uint32_t number = insn >> 5 & 0x7f;
        return number == 0 || number == 2 || number == 3 ? A64_STEP_REFUSED : A64_STEP_MOVED;
    }
    if ((insn & 0xfffff01fu) == 0xd503301fu) { /* barriers, CLREX */
        return A64_STEP_MOVED;
    }
    return insn & 0x00180000u ? A64_STEP_MOVED : A64_STEP_REFUSED; /* SYS, MSR and MRS; others */
}

static inline enum a64_step a64_step_kind(uint32_t insn)
{
    static const struct {
        uint32_t mask, value;
    } emulated[] = {
        {0x7c000000, 0x14000000}, /* B, BL */
        {0xff000010, 0x54000000}, /* B.cond */
        {0x7c000000, 0x34000000}, /* CBZ, CBNZ, TBZ, TBNZ */
        {0xfffffc1f, 0xd61f0000}, /* BR */
        {0xfffffc1f, 0xd63f0000}, /* BLR */
        {0xfffffc1f, 0xd65f0000}, /* RET */
        {0x1f000000, 0x10000000}, /* ADR, ADRP */
        {0x3f000000, 0x18000000}, /* LDR of a literal, LDRSW, PRFM */
    };

    for (unsigned i = 0; i < sizeof(emulated) / sizeof(emulated[0]); i++) {
        if ((insn & emulated[i].mask) == emulated[i].value) {
            return A64_STEP_EMULATED;
        }
    }
    if ((insn & 0x18000000u) == 0) { /* not allocated, or of extensions */
        return A64_STEP_REFUSED;
    }
    if ((insn & 0x1c000000u) == 0x14000000u) {
        return a64_step_system(insn);
    }
    if ((insn & 0x3f000000u) == 0x1c000000u) { /* literals of FP registers */
        return A64_STEP_REFUSED;
    }
    if ((insn & 0x3f000000u) == 0x08000000u && !(insn & 0x00800000u)) { /* exclusive accesses */
        return A64_STEP_REFUSED;
    }
    return A64_STEP_MOVED;
}

/* An exception between LDXR and STXR, which clears the monitor, would make the loop endless. */
static inline bool a64_step_opens(uint32_t insn)
{
    return (insn & 0x3fc00000u) == 0x08400000u; /* LDXR, LDAXR, LDXP, LDAXP of any size */
}

static inline bool a64_step_closes(uint32_t insn)
{
    return (insn & 0x3fc00000u) == 0x08000000u; /* STXR and so on */
}

/* Returns a signed field of `bits` bits, times 4. */
static inline int64_t a64_step_offset(uint32_t insn, unsigned low, unsigned bits)
{
    const uint64_t field = insn >> low & ((1ull << bits) - 1), sign = 1ull << (bits - 1);

    return (int64_t)((field ^ sign) - sign) * 4;
}

/* Returns whether the condition holds; flags: NZCV in bits 31 to 28. */
static inline bool a64_step_holds(uint32_t condition, uint64_t flags)
{
    const bool n = flags >> 31 & 1, z = flags >> 30 & 1, c = flags >> 29 & 1, v = flags >> 28 & 1;
    const bool holds[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
    const bool inverted = (condition & 1) && condition != 15;

    return holds[condition >> 1 & 7] != inverted;
}

/* Returns the address of the literal that an instruction of this class loads; 0: it loads none.
 * *bytes: 4 or 8. */
static inline uint64_t a64_step_literal(uint32_t insn, uint64_t pc, unsigned *bytes)
{
    if ((insn & 0x3f000000u) != 0x18000000u || insn >> 30 == 3) {
        return 0;
    }
    *bytes = insn >> 30 == 1 ? 8 : 4;
    return pc + (uint64_t)a64_step_offset(insn, 5, 19);
}

/* Executes an instruction that is A64_STEP_EMULATED, at pc, and returns the next one's address. x:
 * X0 to X30. literal: the value at a64_step_literal(). */
static inline uint64_t a64_step_emulate(uint32_t insn, uint64_t pc, uint64_t *x, uint64_t flags,
                                        uint64_t literal)
{
    const unsigned rt = insn & 31, rn = insn >> 5 & 31;
    const uint64_t value = rt == 31 ? 0 : x[rt], target = rn == 31 ? 0 : x[rn];

    if ((insn & 0x7c000000u) == 0x14000000u) { /* B, BL */
        if (insn >> 31) {
            x[30] = pc + 4;
        }
        return pc + (uint64_t)a64_step_offset(insn, 0, 26);
    }
    if ((insn & 0xff000000u) == 0x54000000u) { /* B.cond */
        return pc + (a64_step_holds(insn & 15, flags) ? (uint64_t)a64_step_offset(insn, 5, 19) : 4);
    }
    if ((insn & 0x7e000000u) == 0x34000000u) { /* CBZ, CBNZ */
        const bool zero = (insn >> 31 ? value : (uint32_t)value) == 0, wanted = !(insn >> 24 & 1);
        return pc + (zero == wanted ? (uint64_t)a64_step_offset(insn, 5, 19) : 4);
    }
    if ((insn & 0x7e000000u) == 0x36000000u) { /* TBZ, TBNZ */
        const unsigned bit = (insn >> 26 & 32) | (insn >> 19 & 31);
        const bool wanted = insn >> 24 & 1;
        return pc + ((value >> bit & 1) == wanted ? (uint64_t)a64_step_offset(insn, 5, 14) : 4);
    }
    if ((insn & 0xff000000u) == 0xd6000000u) { /* BR, BLR, RET */
        if ((insn & 0x00600000u) == 0x00200000u) {
            x[30] = pc + 4;
        }
        return target;
    }
    if ((insn & 0x1f000000u) == 0x10000000u) { /* ADR, ADRP */
        const uint64_t offset =
            (uint64_t)a64_step_offset(insn, 5, 19) | (insn >> 29 & 3); /* in bytes, or pages */
        if (rt != 31) {
            x[rt] = insn >> 31 ? (pc & ~0xfffull) + (offset << 12) : pc + offset;
        }
        return pc + 4;
    }
    if (insn >> 30 != 3 && rt != 31) { /* LDR of 32, 64 bits, LDRSW */
        x[rt] = insn >> 30 == 2 ? (uint64_t)(int64_t)(int32_t)literal : literal;
    }
    return pc + 4;
}

#endif
