/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thumb-2 instructions of ARMv7-M that a breakpoint in a program has replaced: whether and how they
 * can still be executed (Arm DDI 0403, A5). With it the host decides where a user probe can be, and
 * the kernel executes the replaced instruction (kernel/arch/armv7m/step). Branches are emulated
 * here. All others are executed at their own address, with a trap after them: so the lists have
 * only instructions that are known to continue there, and none that the manual calls unpredictable.
 * Tested by test/isa against tables of registers.
 *
 * insn: as in memory, with the first halfword in the lower half; of 2 bytes the upper half is 0.
 */
#ifndef ISA_ARMV7M_STEP_H
#define ISA_ARMV7M_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/armv7m/kind.h"

enum {
    T2_STEP_BREAK = 0xde4b, /* a probe's UDF */
    T2_STEP_END = 0xde59,   /* and the one after an instruction that is executed in place */
};

struct t2_step_cpu {
    uint32_t r[16]; /* r[15]: the instruction's address; afterwards: the next one's */
    uint32_t xpsr;
};

#define T2_STEP_THUMB (1u << 24)
#define T2_STEP_IT 0x0600fc00u /* of xPSR */

enum { T2_STEP_WORDS = 16 }; /* most words that an instruction loads */

/* ---- how --------------------------------------------------------------------------- */

/* Returns a signed field of `bits` bits. */
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

/* Returns the state of an IT block, in xPSR and in the manual's form: the condition of the next
 * instruction in bits 7 to 4; 0: in none. A restarted multiple transfer isn't one. */
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

/* Returns the target of a B or a BL with an immediate, whatever the condition; 0: it is neither. */
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

/* Returns the number of bytes that an instruction that is T2_STEP_EMULATED loads, and their
 * address. */
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

/* Jumps to a loaded or a register's value, whose lowest bit must be set for Thumb code. */
static inline void t2_step_jump(struct t2_step_cpu *cpu, uint32_t to)
{
    cpu->r[15] = to & ~1u;
    cpu->xpsr = (cpu->xpsr & ~T2_STEP_THUMB) | (to & 1 ? T2_STEP_THUMB : 0);
}

/* Loads the registers in the list of a POP or LDM. */
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

/* Executes an instruction that is T2_STEP_EMULATED. words: the data at t2_step_loads(). cpu->xpsr
 * has the flags, the Thumb bit, and IT's state. */
static inline void t2_step_emulate(uint32_t insn, struct t2_step_cpu *cpu, const uint32_t *words)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16, pc = cpu->r[15], n = a & 15;
    const bool back = a & 0x20;

    cpu->xpsr &= ~T2_STEP_IT; /* a branch is the last instruction of a block */
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
