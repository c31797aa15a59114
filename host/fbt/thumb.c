/* SPDX-License-Identifier: BSD-2-Clause */
/* Thumb-2 instructions of ARMv7-M as fbt sees them: see insn.h. Arm DDI 0403, A5. */
#include "host/fbt/insn.h"

enum { PC = 15 };

static uint32_t fbt_thumb_half_word(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

static int64_t fbt_thumb_sign_extend(uint32_t field, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);

    return (int64_t)(int32_t)((field ^ sign) - sign);
}

static void go_to(struct fbt_insn *out, enum fbt_kind kind, uint64_t address, int64_t offset)
{
    out->kind = kind;
    out->has_target = true;
    out->target = address + 4 + (uint64_t)offset;
}

/* ---- 16 bits ----------------------------------------------------------------------- */

/* ADD, CMP, MOV of high registers, BX, BLX. */
static enum fbt_kind high_registers(uint32_t h)
{
    uint32_t m = h >> 3 & 15, d = (h & 7) | (h >> 4 & 8);

    if ((h & 0xff00) == 0x4700) {
        return h & 0x80 ? FBT_CALL : m == 14 ? FBT_RETURN : FBT_INDIRECT;
    }
    if (d == PC && (h & 0xff00) != 0x4500) {
        return m == 14 && (h & 0xff00) == 0x4600 ? FBT_RETURN : FBT_INDIRECT;
    }
    return m == PC || d == PC ? FBT_RELATIVE : FBT_PLAIN;
}

/* 1011 xxxx: what doesn't fit elsewhere. */
static void fbt_thumb_decode_misc(struct fbt_insn *out, uint32_t h, uint64_t address)
{
    if ((h & 0xf500) == 0xb100) { /* CBZ, CBNZ: forward only */
        out->conditional = true;
        go_to(out, FBT_BRANCH, address, (int64_t)((h >> 3 & 0x1f) << 1 | (h >> 9 & 1) << 6));
    } else if ((h & 0xff00) == 0xbd00) {
        out->kind = FBT_RETURN;
    } else if ((h & 0xff00) == 0xbf00 && (h & 15)) {
        out->kind = FBT_IT;
        out->size = (uint8_t)(4 - __builtin_ctz(h & 15));
    } else if ((h & 0xff00) == 0xbe00) { /* BKPT */
        out->kind = FBT_STOP;
    } else {
        out->makes_frame = (h & 0xfe00) == 0xb400 || (h & 0xff80) == 0xb080;
    }
}

static void fbt_thumb_decode_narrow(struct fbt_insn *out, uint32_t h, uint64_t address)
{
    if ((h & 0xf000) == 0xb000) {
        fbt_thumb_decode_misc(out, h, address);
    } else if ((h & 0xfc00) == 0x4400) {
        out->kind = high_registers(h);
        out->may_call = out->kind == FBT_INDIRECT && (h & 0xff00) == 0x4700;
    } else if ((h & 0xf800) == 0x4800) { /* LDR of a literal */
        out->kind = FBT_SHIFTED;
    } else if ((h & 0xf800) == 0xa000) { /* ADR */
        out->kind = FBT_SHIFTED;
    } else if ((h & 0xfe00) == 0xde00) { /* UDF, SVC */
        out->kind = FBT_STOP;
    } else if ((h & 0xf000) == 0xd000) {
        out->conditional = true;
        go_to(out, FBT_BRANCH, address, fbt_thumb_sign_extend(h & 0xff, 8) * 2);
    } else if ((h & 0xf800) == 0xe000) {
        go_to(out, FBT_BRANCH, address, fbt_thumb_sign_extend(h & 0x7ff, 11) * 2);
    }
}

/* ---- 32 bits ----------------------------------------------------------------------- */

/* B.W, BL: the offset of encodings T4 and T1. */
static int64_t wide_offset(uint32_t a, uint32_t b)
{
    uint32_t s = a >> 10 & 1, i1 = ~((b >> 13) ^ s) & 1, i2 = ~((b >> 11) ^ s) & 1;

    return fbt_thumb_sign_extend(
        s << 24 | i1 << 23 | i2 << 22 | (a & 0x3ff) << 12 | (b & 0x7ff) << 1, 25);
}

/* B<c>.W, encoding T3. */
static int64_t conditional_offset(uint32_t a, uint32_t b)
{
    uint32_t s = a >> 10 & 1, j1 = b >> 13 & 1, j2 = b >> 11 & 1;

    return fbt_thumb_sign_extend(
        s << 20 | j2 << 19 | j1 << 18 | (a & 0x3f) << 12 | (b & 0x7ff) << 1, 21);
}

/* 11110 with bit 15 of the second half set: branches and system instructions. */
static void branch_or_system(struct fbt_insn *out, uint32_t a, uint32_t b, uint64_t address)
{
    bool system = (a & 0x380) == 0x380;

    if ((b & 0xd000) == 0xd000) {
        go_to(out, FBT_CALL, address, wide_offset(a, b));
    } else if ((b & 0xd000) == 0x9000) {
        go_to(out, FBT_BRANCH, address, wide_offset(a, b));
    } else if ((b & 0xd000) == 0x8000 && !system) {
        out->conditional = true;
        go_to(out, FBT_BRANCH, address, conditional_offset(a, b));
    } else if ((b & 0xd000) != 0x8000 || (a & 0x7f0) == 0x7f0) {
        out->kind = FBT_STOP; /* BLX to A32, UDF.W */
    }
}

/* LDM, STM, LDR, STR and their kin: those that load the PC or count from it. */
static void fbt_thumb_decode_memory(struct fbt_insn *out, uint32_t a, uint32_t b)
{
    bool multiple = (a & 0xfe40) == 0xe800, dual = (a & 0xfe40) == 0xe840;
    bool load = a & 0x10, pops = (a & 0xffff) == 0xe8bd;

    if ((a & 0xfff0) == 0xe8d0 && (b & 0xffe0) == 0xf000) {
        out->kind = (a & 15) == PC ? FBT_TABLE : FBT_INDIRECT;
        out->size = b & 0x10 ? 2 : 1;
    } else if (multiple) {
        out->kind = !load || !(b & 0x8000) ? FBT_PLAIN : pops ? FBT_RETURN : FBT_INDIRECT;
        out->makes_frame = (a & 0xffff) == 0xe92d;
    } else if (!dual && (a & 0xff70) == 0xf850 && b >> 12 == PC) {
        bool pop = (a & 0xffff) == 0xf85d && (b & 0x0fff) == 0x0b04;
        out->kind = pop ? FBT_RETURN : FBT_INDIRECT;
    } else if ((a & 15) == PC) {
        out->kind = FBT_RELATIVE;
    } else {
        out->makes_frame = (a & 0xffff) == 0xf84d && (b & 0x0f00) == 0x0d00;
    }
}

static void fbt_thumb_decode_wide(struct fbt_insn *out, uint32_t a, uint32_t b, uint64_t address)
{
    uint32_t op = a >> 11 & 3, op2 = a >> 4 & 0x7f;

    if (op == 2) {
        bool adr = (a & 0xfbff) == 0xf20f || (a & 0xfbff) == 0xf2af;
        if (b & 0x8000) {
            branch_or_system(out, a, b, address);
        } else if (adr) {
            out->kind = FBT_RELATIVE;
        } else {
            out->makes_frame = (a & 0xfbef) == 0xf1ad && (b & 0xf00) == 0xd00;
        }
    } else if ((op2 & 0x60) == 0) {
        fbt_thumb_decode_memory(out, a, b);
    } else if ((op2 & 0x40) && (a & 15) == PC && (op2 & 0x20) == 0) {
        out->kind = FBT_RELATIVE; /* coprocessor loads of literals */
    }
}

struct fbt_insn fbt_thumb_decode(const uint8_t *bytes, size_t room, uint64_t address)
{
    struct fbt_insn out = {.kind = FBT_PLAIN, .length = 2};

    if (room < 2) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = (uint8_t)room};
    }
    uint32_t a = fbt_thumb_half_word(bytes);
    if (a >> 11 < 0x1d) {
        fbt_thumb_decode_narrow(&out, a, address);
        return out;
    }
    if (room < 4) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = 2};
    }
    out.length = 4;
    fbt_thumb_decode_wide(&out, a, fbt_thumb_half_word(bytes + 2), address);
    return out;
}
