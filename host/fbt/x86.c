/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64 instructions as fbt sees them: see insn.h. Intel SDM volume 2, appendix A. */
#include "host/fbt/insn.h"

#include "isa/x86_64/insn.h"

/* Bits of a slot (kernel/arch/x86_64/probe/slot.c) that the displaced instruction may have. */
enum { SLOT_MOST = 11 };

static int64_t fbt_x86_sign_extend(const uint8_t *bytes, unsigned n)
{
    int32_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value |= (int32_t)((uint32_t)bytes[i] << 8 * i);
    }
    return n == 1 ? (int8_t)value : value;
}

/* Call, jump and the rest of FF. A jump through a table has an index of 8 bytes and no base. */
static void group_ff(struct fbt_insn *out, const uint8_t *modrm)
{
    unsigned reg = modrm[0] >> 3 & 7;
    bool table = (modrm[0] & 0xc7) == 4 && (modrm[1] & 0xc7) == 0xc5;

    if (reg == 2) {
        out->kind = FBT_CALL;
    } else if (reg == 4) {
        out->kind = FBT_INDIRECT;
        out->may_call = !table;
        out->target = table ? (uint64_t)fbt_x86_sign_extend(modrm + 2, 4) : 0;
    } else if (reg == 3 || reg == 5 || reg == 7) {
        out->kind = FBT_STOP;
    }
}

static enum fbt_kind kind_of_one(uint8_t opcode)
{
    switch (opcode) {
    case 0xc3:
        return FBT_RETURN;
    case 0xe8:
        return FBT_CALL;
    case 0xe9:
    case 0xeb:
    case 0xe0 ... 0xe3: /* LOOP, JRCXZ: reach too little */
        return FBT_BRANCH;
    case 0x70 ... 0x7f:
        return FBT_SHIFTED;
    case 0x8e: /* MOV to a segment register: with SS, it delays the next interrupt */
    case 0xc2: /* far or unusual returns, traps */
    case 0xcc ... 0xcf:
        return FBT_STOP;
    default:
        return FBT_PLAIN;
    }
}

static enum fbt_kind kind_of_two(uint8_t opcode)
{
    switch (opcode) {
    case 0x80 ... 0x8f:
        return FBT_SHIFTED;
    case 0x05: /* SYSCALL, SYSRET, UD2, SYSENTER, SYSEXIT */
    case 0x07:
    case 0x0b:
    case 0x34:
    case 0x35:
        return FBT_STOP;
    default:
        return FBT_PLAIN;
    }
}

/* PUSH, or SUB of an immediate from RSP. */
static bool fbt_x86_makes_frame(const struct x86_insn *i, const uint8_t *bytes)
{
    bool push = !i->two && (i->opcode & 0xf8) == 0x50;
    bool sub = !i->two && (i->opcode == 0x81 || i->opcode == 0x83) && bytes[i->modrm] == 0xec;

    return push || (sub && i->rex == 0x48);
}

struct fbt_insn fbt_x86_decode(const uint8_t *bytes, size_t room, uint64_t address)
{
    struct x86_insn i = x86_insn_read(bytes, room);

    if (i.length == 0) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = 1};
    }
    struct fbt_insn out = {.kind = i.two ? kind_of_two(i.opcode) : kind_of_one(i.opcode),
                           .length = i.length,
                           .too_long = i.length > SLOT_MOST,
                           .makes_frame = fbt_x86_makes_frame(&i, bytes)};
    if (!i.two && i.opcode == 0xff) {
        group_ff(&out, bytes + i.modrm);
    }
    if (i.modrm && i.near && out.kind == FBT_PLAIN) {
        out.kind = FBT_SHIFTED; /* an operand at RIP */
    } else if (!i.modrm && (i.near || i.hop)) {
        unsigned at = i.near ? i.near : i.hop;
        out.has_target = true;
        out.target = address + i.length + (uint64_t)fbt_x86_sign_extend(bytes + at, i.near ? 4 : 1);
        out.conditional = i.two || i.opcode < 0xe8;
    }
    return out;
}
