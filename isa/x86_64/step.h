/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64 instructions that a breakpoint in a program has replaced: their exact length, and whether
 * they can still be executed (Intel SDM, volume 2; AMD APM, volume 3). With it the host decides
 * where a user probe can be, and the kernel executes the replaced instruction
 * (kernel/arch/x86_64/step). Branches, and instructions that show the interrupt flag, are emulated
 * (isa/x86_64/effect.h); all others are executed elsewhere, with the displacement of a PC-relative
 * operand rewritten. Unknown instructions are refused. Tested by test/isa: lengths against
 * objdump's, effects against the CPU's own.
 */
#ifndef ISA_X86_64_STEP_H
#define ISA_X86_64_STEP_H

#include "isa/x86_64/insn.h"

enum x86_step_kind {
    X86_STEP_UNKNOWN,  /* its end is not known either: length 0 */
    X86_STEP_REFUSED,  /* enum x86_step_why has the reason */
    X86_STEP_MOVED,    /* has the same effect at another address, with `near` rewritten */
    X86_STEP_EMULATED, /* x86_step_emulate() */
};

enum x86_step_why {
    X86_WHY_OTHER,      /* undefined, of an extension, or not listed here */
    X86_WHY_NOP,        /* a static probe's NOP */
    X86_WHY_CALL,       /* SYSCALL */
    X86_WHY_TRAP,       /* INT3 and others that end in a trap */
    X86_WHY_PRIVILEGED, /* would fault */
    X86_WHY_REPEATED,   /* interrupts would be masked for as long as it repeats */
    X86_WHY_FAR,        /* loads a segment register */
    X86_WHY_FLAGS,      /* POPF: sets the trap flag */
    X86_WHY_EXTENDED,   /* VEX: AVX, BMI */
};

enum x86_step_op {
    X86_OP_JUMP,      /* by `distance` from the end */
    X86_OP_CONDITION, /* likewise, if `condition` holds */
    X86_OP_LOOP,      /* LOOPNE, LOOPE, LOOP, JRCXZ: `condition` 0 to 3 */
    X86_OP_CALL,
    X86_OP_RETURN,  /* and drops `distance` bytes */
    X86_OP_JUMP_TO, /* to the value of the operand: a register (`base`), or memory */
    X86_OP_CALL_TO,
    X86_OP_FLAGS, /* PUSHF */
};

enum {
    X86_STEP_NONE = 16,  /* no such register */
    X86_STEP_END = 17,   /* base: the instruction's end */
    X86_STEP_FLAG_C = 1, /* RFLAGS */
    X86_STEP_FLAG_P = 4,
    X86_STEP_FLAG_Z = 0x40,
    X86_STEP_FLAG_S = 0x80,
    X86_STEP_FLAG_I = 0x200,
    X86_STEP_FLAG_O = 0x800,
    X86_STEP_FLAGS_HIDDEN = 0x30000, /* RF, VM: PUSHF stores 0 */
    X86_STEP_RCX = 1,
    X86_STEP_RSP = 4,
};

struct x86_step {
    uint8_t kind, why, length;
    uint8_t near;          /* moved: offset of a 32-bit field relative to its end; 0: none */
    uint8_t op, condition; /* emulated */
    uint8_t memory;        /* emulated: the operand is in memory */
    uint8_t base, index, scale;
    int32_t distance;
};

/* The prefixes of an instruction. */
struct x86_prefixes {
    bool short16, repeats, repeats_not, locks, segment, low;
    uint8_t dropped; /* bytes of X86_INSN_ADDRESS32, left out of the copy */
};

/* Copies the instruction without address-size prefixes. Returns the offset after the others. */
static inline unsigned x86_step_prefixes(struct x86_prefixes *p, uint8_t to[X86_INSN_MOST + 2],
                                         const uint8_t *bytes, size_t room)
{
    unsigned n = 0, at = 0, rest;

    while (at < room && at < X86_INSN_MOST && x86_insn_is_prefix(bytes[at])) {
        const uint8_t byte = bytes[at++];
        p->short16 |= byte == 0x66;
        p->repeats |= byte == 0xf3;
        p->repeats_not |= byte == 0xf2;
        p->locks |= byte == 0xf0;
        p->segment |= byte == 0x64 || byte == 0x65;
        p->low |= byte == X86_INSN_ADDRESS32;
        if (byte != X86_INSN_ADDRESS32) {
            to[n++] = byte;
        }
    }
    p->dropped = (uint8_t)(at - n);
    for (rest = n; at < room && at < X86_INSN_MOST; at++) {
        to[rest++] = bytes[at];
    }
    return n;
}

/* ---- what insn.h leaves out ---------------------------------------------------------- */

/* Returns whether an opcode of the map 0f 38 or 0f 3a is one of general registers or of SSE. */
static inline bool x86_step_wide_known(bool immediate, uint8_t opcode)
{
    /* [i] bit n: opcode 16 * i + n */
    static const uint16_t plain[16] = {0x0fff, 0x70b1, 0x0f3f, 0xffbf, 0x0003, 0,      0, 0,
                                       0,      0,      0,      0,      0xbf00, 0xf800, 0, 0x0043};
    static const uint16_t with[16] = {0xff00, 0x00f0, 0x0007, 0, 0x0017, 0,      0x000f, 0,
                                      0,      0,      0,      0, 0xd000, 0x8000, 0,      0};

    return (immediate ? with : plain)[opcode >> 4] >> (opcode & 15) & 1;
}

static inline bool x86_step_vex_immediate(unsigned map, uint8_t opcode)
{
    return map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
                                     (opcode >= 0xc4 && opcode <= 0xc6)));
}

/* Decodes an instruction whose ModRM is at `at`; this many bytes follow its operand. */
static inline struct x86_insn x86_step_with_modrm(const uint8_t *bytes, unsigned at,
                                                  unsigned immediate)
{
    struct x86_insn i;

    __builtin_memset(&i, 0, sizeof(i));
    if (at < X86_INSN_MOST) {
        i.length = (uint8_t)(at + x86_insn_operand(&i, bytes, at) + immediate);
    }
    return i;
}

/* Decodes 0f 38, 0f 3a, VEX, and opcodes without ModRM; `at`: after the prefixes. Length 0: none of
 * them. */
static inline struct x86_insn x86_step_rest(const uint8_t *bytes, unsigned at,
                                            const struct x86_prefixes *p, struct x86_step *s)
{
    const bool rex = (bytes[at] & 0xf0) == 0x40;
    const bool vex = bytes[at] == 0xc4 || bytes[at] == 0xc5;
    struct x86_insn i;

    __builtin_memset(&i, 0, sizeof(i));
    s->kind = X86_STEP_REFUSED;
    if (vex && !p->short16 && !p->repeats && !p->repeats_not && !p->locks) {
        const bool longer = bytes[at] == 0xc4;
        const unsigned map = longer ? bytes[at + 1] & 31u : 1u, opcode = at + 2 + longer;
        s->why = X86_WHY_EXTENDED;
        if (map < 1 || map > 3 || opcode >= X86_INSN_MOST) {
            return i;
        }
        if (map == 1 && bytes[opcode] == 0x77) { /* VZEROUPPER */
            i.length = (uint8_t)(opcode + 1);
            return i;
        }
        return x86_step_with_modrm(bytes, opcode + 1, x86_step_vex_immediate(map, bytes[opcode]));
    }
    at += rex;
    if (at + 2 >= X86_INSN_MOST) {
        return i;
    }
    if (bytes[at] == 0x0f && (bytes[at + 1] == 0x38 || bytes[at + 1] == 0x3a)) {
        const bool immediate = bytes[at + 1] == 0x3a;
        const bool known = x86_step_wide_known(immediate, bytes[at + 2]);
        s->kind = known ? X86_STEP_MOVED : X86_STEP_REFUSED;
        return x86_step_with_modrm(bytes, at + 3, immediate);
    }
    switch (bytes[at]) {
    case 0xa0 ... 0xa3: /* MOV of an absolute address */
        s->kind = X86_STEP_MOVED;
        i.length = (uint8_t)(at + 1 + (p->low ? 4 : 8));
        break;
    case 0xc8: /* ENTER */
        s->kind = X86_STEP_MOVED;
        i.length = (uint8_t)(at + 4);
        break;
    case 0xca: /* RET to another segment */
        s->why = X86_WHY_FAR;
        i.length = (uint8_t)(at + 3);
        break;
    case 0xcb:
        s->why = X86_WHY_FAR;
        i.length = (uint8_t)(at + 1);
        break;
    case 0xf1: /* INT1 */
        s->why = X86_WHY_TRAP;
        i.length = (uint8_t)(at + 1);
        break;
    default:
        break;
    }
    return i;
}

/* ---- what is emulated ---------------------------------------------------------------- */

static inline int32_t x86_step_number(const uint8_t *at, unsigned bytes)
{
    uint32_t value = 0;

    for (unsigned n = 0; n < bytes; n++) {
        value |= (uint32_t)at[n] << 8 * n;
    }
    return bytes == 1 ? (int8_t)value : (int32_t)value;
}

static inline void x86_step_emulated(struct x86_step *s, enum x86_step_op op, int32_t distance)
{
    s->kind = X86_STEP_EMULATED;
    s->op = (uint8_t)op;
    s->distance = distance;
}

/* Decodes the operand of a jump or call through a register or memory. */
static inline void x86_step_operand(struct x86_step *s, const struct x86_insn *i,
                                    const uint8_t *bytes, enum x86_step_op op)
{
    const uint8_t *modrm = bytes + i->modrm;
    const unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7, wide = i->rex & 1 ? 8 : 0;
    const uint8_t *field = modrm + 1;

    x86_step_emulated(s, op, 0);
    s->memory = mod != 3;
    s->base = (uint8_t)(rm | wide);
    s->index = X86_STEP_NONE;
    if (mod == 3) {
        return;
    }
    if (rm == 4) {
        const unsigned index = (modrm[1] >> 3 & 7u) | (i->rex & 2 ? 8 : 0);
        s->base = (uint8_t)((modrm[1] & 7u) | wide);
        s->index = (uint8_t)(index == X86_STEP_RSP ? (unsigned)X86_STEP_NONE : index);
        s->scale = modrm[1] >> 6;
        field++;
    }
    if (mod == 0 && (s->base & 7) == 5) {
        s->base = rm == 4 ? X86_STEP_NONE : X86_STEP_END;
        s->distance = x86_step_number(field, 4);
    } else if (mod != 0) {
        s->distance = x86_step_number(field, mod == 1 ? 1 : 4);
    }
}

/* ---- one byte of opcode ------------------------------------------------------------- */

static inline void x86_step_refuse(struct x86_step *s, enum x86_step_why why)
{
    s->kind = X86_STEP_REFUSED;
    s->why = (uint8_t)why;
}

static inline void x86_step_group5(struct x86_step *s, const struct x86_insn *i,
                                   const uint8_t *bytes, const struct x86_prefixes *p)
{
    const unsigned reg = bytes[i->modrm] >> 3 & 7, mod = bytes[i->modrm] >> 6;

    if (reg == 2 || reg == 4) {
        /* The meaning of these prefixes differs between CPUs, or is not known here. */
        if (p->short16 || (mod != 3 && (p->segment || p->low))) {
            x86_step_refuse(s, X86_WHY_OTHER);
            return;
        }
        x86_step_operand(s, i, bytes, reg == 2 ? X86_OP_CALL_TO : X86_OP_JUMP_TO);
    } else if (reg == 3 || reg == 5) {
        x86_step_refuse(s, X86_WHY_FAR);
    } else if (reg == 7) {
        x86_step_refuse(s, X86_WHY_OTHER);
    }
}

/* Opcodes that are emulated: branches and PUSHF; they are refused with a prefix that changes their
 * effect. Returns false for any other opcode. */
static inline bool x86_step_one_emulated(struct x86_step *s, const struct x86_insn *i,
                                         const uint8_t *bytes, const struct x86_prefixes *p)
{
    const uint8_t *field = bytes + (i->near ? i->near : i->hop);
    const int32_t distance = x86_step_number(field, i->near ? 4 : 1);
    bool changed = false;

    switch (i->opcode) {
    case 0x70 ... 0x7f:
        x86_step_emulated(s, X86_OP_CONDITION, distance);
        s->condition = i->opcode & 15;
        break;
    case 0xe0 ... 0xe3:
        x86_step_emulated(s, X86_OP_LOOP, distance);
        s->condition = i->opcode & 3;
        changed = p->low;
        break;
    case 0xe8:
        x86_step_emulated(s, X86_OP_CALL, distance);
        break;
    case 0xe9:
    case 0xeb:
        x86_step_emulated(s, X86_OP_JUMP, distance);
        break;
    case 0xc2:
    case 0xc3:
        x86_step_emulated(s, X86_OP_RETURN,
                          i->opcode == 0xc2 ? x86_step_number(bytes + i->length - 2, 2) : 0);
        changed = p->short16;
        break;
    case 0x9c:
        x86_step_emulated(s, X86_OP_FLAGS, 0);
        changed = p->short16;
        break;
    case 0xff:
        x86_step_group5(s, i, bytes, p);
        break;
    default:
        return false;
    }
    if (changed) {
        x86_step_refuse(s, X86_WHY_OTHER);
    }
    return true;
}

static inline void x86_step_one(struct x86_step *s, const struct x86_insn *i, const uint8_t *bytes,
                                const struct x86_prefixes *p)
{
    const unsigned reg = i->modrm ? bytes[i->modrm] >> 3 & 7 : 0;
    const bool repeated = p->repeats || p->repeats_not;

    if (x86_step_one_emulated(s, i, bytes, p)) {
        return;
    }
    switch (i->opcode) {
    case 0x9d:
        x86_step_refuse(s, X86_WHY_FLAGS);
        break;
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xaf:
        if (repeated) {
            x86_step_refuse(s, X86_WHY_REPEATED);
        }
        break;
    case 0x6c ... 0x6f: /* INS, OUTS */
        x86_step_refuse(s, repeated ? X86_WHY_REPEATED : X86_WHY_OTHER);
        break;
    case 0x8e:
        x86_step_refuse(s, X86_WHY_FAR);
        break;
    case 0x8f: /* with another number, XOP: its length differs */
        s->kind = reg ? X86_STEP_UNKNOWN : X86_STEP_MOVED;
        break;
    case 0xcc:
    case 0xcd:
        x86_step_refuse(s, X86_WHY_TRAP);
        break;
    case 0xcf: /* IRET */
    case 0xf4: /* HLT */
    case 0xfa: /* CLI */
    case 0xfb: /* STI */
        x86_step_refuse(s, X86_WHY_PRIVILEGED);
        break;
    case 0xc6: /* MOV; XABORT, XBEGIN */
    case 0xc7:
        s->kind = reg ? X86_STEP_REFUSED : X86_STEP_MOVED;
        break;
    case 0xfe:
        s->kind = reg > 1 ? X86_STEP_REFUSED : X86_STEP_MOVED;
        break;
    default:
        break;
    }
}

/* ---- two bytes of opcode ------------------------------------------------------------ */

/* A static probe (kymo_probe.h) is 0f 1f 44 00 00. */
static inline bool x86_step_is_probe(const struct x86_insn *i, const uint8_t *bytes)
{
    return i->length == 5 && bytes[1] == 0x1f && bytes[2] == 0x44 && !bytes[3] && !bytes[4];
}

static inline void x86_step_two(struct x86_step *s, const struct x86_insn *i, const uint8_t *bytes,
                                const struct x86_prefixes *p)
{
    const uint8_t modrm = i->modrm ? bytes[i->modrm] : 0;
    const unsigned reg = modrm >> 3 & 7;
    const bool memory = modrm < 0xc0, prefixed = p->short16 || p->repeats || p->repeats_not;

    switch (i->opcode) {
    case 0x80 ... 0x8f:
        x86_step_emulated(s, X86_OP_CONDITION, x86_step_number(bytes + i->near, 4));
        s->condition = i->opcode & 15;
        break;
    case 0x00 ... 0x03: /* instructions of descriptor tables, except RDTSCP */
        if (i->opcode != 1 || modrm != 0xf9) {
            x86_step_refuse(s, X86_WHY_OTHER);
        }
        break;
    case 0x05:
        x86_step_refuse(s, X86_WHY_CALL);
        break;
    case 0x20 ... 0x23: /* registers only, whatever the bits of ModRM */
        s->kind = memory ? X86_STEP_UNKNOWN : X86_STEP_REFUSED;
        s->why = X86_WHY_PRIVILEGED;
        break;
    case 0x06 ... 0x09:
    case 0x30:
    case 0x32 ... 0x35:
        x86_step_refuse(s, X86_WHY_PRIVILEGED);
        break;
    case 0x0b: /* UD2 */
        x86_step_refuse(s, X86_WHY_TRAP);
        break;
    case 0x1f:
        if (x86_step_is_probe(i, bytes)) {
            x86_step_refuse(s, X86_WHY_NOP);
        }
        break;
    case 0xa1: /* POP of a segment register */
    case 0xa9:
    case 0xb2: /* LSS, LFS, LGS */
    case 0xb4:
    case 0xb5:
        x86_step_refuse(s, X86_WHY_FAR);
        break;
    case 0xae: /* without segment bases, and waits */
        s->kind = !memory && (prefixed || reg < 5) ? X86_STEP_REFUSED : X86_STEP_MOVED;
        break;
    case 0xb8: /* POPCNT */
        s->kind = p->repeats ? X86_STEP_MOVED : X86_STEP_REFUSED;
        break;
    case 0xba:
        s->kind = reg < 4 ? X86_STEP_REFUSED : X86_STEP_MOVED;
        break;
    case 0xc7: /* CMPXCHG8B, CMPXCHG16B; RDRAND, RDSEED */
        s->kind = (memory ? reg == 1 : reg >= 6) ? X86_STEP_MOVED : X86_STEP_REFUSED;
        break;
    default:
        break;
    }
}

/* Decodes the instruction at `bytes`, of which `room` may be read. */
static inline struct x86_step x86_step_read(const uint8_t *bytes, size_t room)
{
    uint8_t copy[X86_INSN_MOST + 2] = {0};
    struct x86_prefixes p;
    struct x86_step s, unknown;

    __builtin_memset(&p, 0, sizeof(p));
    __builtin_memset(&s, 0, sizeof(s));
    unknown = s;
    const unsigned at = x86_step_prefixes(&p, copy, bytes, room);
    room = (room < X86_INSN_MOST ? room : (size_t)X86_INSN_MOST) - p.dropped;
    s.kind = X86_STEP_MOVED;
    struct x86_insn i = x86_insn_read(copy, room);
    if (i.length == 0) {
        i = x86_step_rest(copy, at, &p, &s);
    } else if (i.two) {
        x86_step_two(&s, &i, copy, &p);
    } else {
        x86_step_one(&s, &i, copy, &p);
    }
    if (i.length == 0 || i.length > room || s.kind == X86_STEP_UNKNOWN) {
        return unknown;
    }
    if (p.locks && s.kind == X86_STEP_EMULATED) {
        x86_step_refuse(&s, X86_WHY_OTHER); /* undefined */
    }
    if (p.low && i.near && s.kind == X86_STEP_MOVED) {
        x86_step_refuse(&s, X86_WHY_OTHER); /* relative to the lower half of the address */
    }
    s.length = (uint8_t)(i.length + p.dropped);
    s.near = i.near && s.kind == X86_STEP_MOVED ? (uint8_t)(i.near + p.dropped) : 0;
    return s;
}

#endif
