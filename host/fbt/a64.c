/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64 instructions as fbt sees them: see insn.h. Arm DDI 0487, C4.1. */
#include "host/fbt/insn.h"

struct class
{
    uint32_t mask, value;
    enum fbt_kind kind;
    uint8_t low, bits; /* of the offset in words; 0 bits: it has none */
};

/* The first row that fits. */
static const struct class fbt_a64_class_table[] = {
    {0xfffffc1f, 0xd65f0000, FBT_RETURN, 0, 0},
    {0xfc000000, 0x14000000, FBT_BRANCH, 0, 26},
    {0xfc000000, 0x94000000, FBT_CALL, 0, 26},
    {0xff000000, 0x54000000, FBT_SHIFTED, 5, 19}, /* B.cond */
    {0x7e000000, 0x34000000, FBT_SHIFTED, 5, 19}, /* CBZ, CBNZ */
    {0x7e000000, 0x36000000, FBT_BRANCH, 5, 14},  /* TBZ, TBNZ: reach too little */
    {0xffffffdf, 0xd61f0200, FBT_INDIRECT, 0, 0}, /* BR X16, X17: a tail call */
    {0xfffffc1f, 0xd61f0000, FBT_INDIRECT, 0, 0},
    {0xfffffc1f, 0xd63f0000, FBT_CALL, 0, 0},
    {0xfe000000, 0xd6000000, FBT_STOP, 0, 0},     /* ERET, DRPS, authenticated branches */
    {0xff000000, 0xd4000000, FBT_STOP, 0, 0},     /* SVC … BRK, HLT */
    {0x1f000000, 0x10000000, FBT_SHIFTED, 0, 0},  /* ADR, ADRP */
    {0x3b000000, 0x18000000, FBT_RELATIVE, 0, 0}, /* loads of literals */
    {0x1e000000, 0x00000000, FBT_STOP, 0, 0},     /* unallocated */
    {0x00000000, 0x00000000, FBT_PLAIN, 0, 0},
};

static uint32_t fbt_a64_insn_word(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int64_t fbt_a64_offset_of(uint32_t insn, unsigned low, unsigned bits)
{
    uint64_t field = insn >> low & ((1ull << bits) - 1);
    uint64_t sign = 1ull << (bits - 1);

    return (int64_t)((field ^ sign) - sign) * 4;
}

/* STP x, x, [sp, #-n]! or SUB sp, sp, #n. */
static bool fbt_a64_makes_frame(uint32_t insn)
{
    bool stp = (insn & 0xffe003e0) == 0xa9a003e0;
    bool sub = (insn & 0xff8003ff) == 0xd10003ff;

    return stp || sub;
}

struct fbt_insn fbt_a64_decode(const uint8_t *bytes, size_t room, uint64_t address)
{
    const struct class *c = fbt_a64_class_table;

    if (room < 4) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = (uint8_t)room};
    }
    uint32_t insn = fbt_a64_insn_word(bytes);
    while ((insn & c->mask) != c->value) {
        c++;
    }
    struct fbt_insn out = {.kind = c->kind, .length = 4, .makes_frame = fbt_a64_makes_frame(insn)};
    out.may_call = c->value == 0xd61f0200;
    out.conditional = c->bits && c->bits < 26;
    if (c->bits) {
        out.has_target = true;
        out.target = address + (uint64_t)fbt_a64_offset_of(insn, c->low, c->bits);
    }
    return out;
}
