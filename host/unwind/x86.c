/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effects of x86-64 instructions on the stack: see unwind.h. The frame pointer is rbp; the return
 * address is where the call has put it, 8 bytes below the CFA. An instruction that changes the
 * stack pointer in a way that is not listed here makes it unknown, never wrong.
 */
#include "host/unwind/unwind.h"

#include "isa/x86_64/insn.h"

enum { RSP = 4, RBP = 5, WORD = 8 };

struct operands {
    struct x86_insn i;
    unsigned mod, reg, rm; /* with ModRM: numbers of registers, 0-15 */
    bool wide, byte;       /* the operand has 64 bits, or 8 */
    bool repeats;          /* prefix F3, which makes another instruction of some */
};

static int32_t unwind_x86_read_number(const uint8_t *bytes, unsigned n)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value |= (uint32_t)bytes[i] << 8 * i;
    }
    return n == 1 ? (int8_t)value : (int32_t)value;
}

static struct operands operands_of(const struct x86_insn *i, const uint8_t *bytes)
{
    struct operands o = {.i = *i, .mod = 4, .wide = i->rex & 8};

    if (i->modrm) {
        o.mod = bytes[i->modrm] >> 6;
        o.reg = (bytes[i->modrm] >> 3 & 7) | (i->rex & 4) << 1;
        o.rm = (bytes[i->modrm] & 7) | (i->rex & 1) << 3;
    }
    bool set = (i->opcode & 0xf0) == 0x90, exchange = i->opcode == 0xb0 || i->opcode == 0xc0;
    o.byte = i->two ? set || exchange : !(i->opcode & 1) && (i->opcode & 0xfd) != 0x8c;
    for (unsigned n = 0; n < i->length && x86_insn_is_prefix(bytes[n]); n++) {
        o.repeats |= bytes[n] == 0xf3;
    }
    return o;
}

/* ---- which register an instruction writes ------------------------------------------ */

enum { NONE = 0, TO_REG = 1, TO_RM = 2, TO_BOTH = 3 };

static unsigned writes_of_one(const struct operands *o)
{
    unsigned opcode = o->i.opcode, group = o->reg & 7;

    switch (opcode) {
    case 0x00 ... 0x37:
        return opcode & 2 ? TO_REG : TO_RM;
    case 0x38 ... 0x3f: /* CMP */
    case 0x84 ... 0x85: /* TEST */
        return NONE;
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x8a:
    case 0x8b:
    case 0x8d:
        return TO_REG;
    case 0x80 ... 0x83:
        return group == 7 ? NONE : TO_RM;
    case 0x86 ... 0x87:
        return TO_BOTH;
    case 0x8e:
    case 0xd8 ... 0xdf:
        return NONE;
    case 0xf6 ... 0xf7: /* TEST, MUL, DIV */
        return group == 2 || group == 3 ? TO_RM : NONE;
    case 0xfe ... 0xff: /* INC, DEC; CALL, JMP, PUSH */
        return group < 2 ? TO_RM : NONE;
    default:
        return TO_RM;
    }
}

static unsigned writes_of_two(const struct operands *o)
{
    switch (o->i.opcode) {
    case 0x00 ... 0x01: /* SLDT, SMSW … */
    case 0x20 ... 0x21: /* from control and debug registers */
        return TO_RM;
    case 0x02 ... 0x03: /* LAR, LSL */
    case 0x2c ... 0x2d: /* numbers and bits of SSE registers */
    case 0x40 ... 0x50:
    case 0xaf:
    case 0xb6 ... 0xb8:
    case 0xbc ... 0xbf:
    case 0xc5:
    case 0xd7:
        return TO_REG;
    case 0x7e: /* MOVD; with F3 between SSE registers */
        return o->repeats ? NONE : TO_RM;
    case 0xba: /* BT, and those that change the bit */
        return (o->reg & 7) == 4 ? NONE : TO_RM;
    case 0x04 ... 0x1f: /* system, SSE, NOP */
    case 0x22 ... 0x2b:
    case 0x2e ... 0x2f:
    case 0x51 ... 0x7d:
    case 0x7f:
    case 0xa3: /* BT */
    case 0xae:
    case 0xc2 ... 0xc4:
    case 0xc6:
    case 0xd0 ... 0xd6:
    case 0xd8 ... 0xff:
        return NONE;
    default:
        return TO_BOTH;
    }
}

/* Returns the register that opcodes without ModRM have in their lowest bits; 16: they have none. */
static unsigned register_in_opcode(const struct operands *o)
{
    unsigned opcode = o->i.opcode;
    bool has = o->i.two ? opcode >= 0xc8 && opcode <= 0xcf
                        : (opcode > 0x90 && opcode < 0x98) || (opcode >= 0xb8 && opcode < 0xc0);

    return has && !o->i.modrm ? (opcode & 7) | (o->i.rex & 1u) << 3 : 16;
}

static bool unwind_x86_writes_register(const struct operands *o, unsigned reg)
{
    if (!o->i.modrm) {
        return register_in_opcode(o) == reg;
    }
    if (o->byte && !o->i.rex) {
        return false; /* AH … BH have these numbers */
    }
    unsigned to = o->i.two ? writes_of_two(o) : writes_of_one(o);
    return ((to & TO_REG) && o->reg == reg) || ((to & TO_RM) && o->mod == 3 && o->rm == reg);
}

/* ---- effects ----------------------------------------------------------------------- */

static void unwind_x86_push_word(struct unwind_state *s, bool is_fp)
{
    unwind_moves_sp(s, WORD);
    unwind_store(s, false, is_fp, -s->sp);
}

static void unwind_x86_pop_word(struct unwind_state *s, bool is_fp)
{
    unwind_load(s, false, is_fp, -s->sp);
    unwind_moves_sp(s, -WORD);
}

static void sp_from_fp(struct unwind_state *s, int above)
{
    s->sp_known = s->fp_known;
    s->sp = s->fp - above;
}

/* Pushes and pops of one byte, LEAVE. */
static bool without_operands(struct unwind_state *s, const struct operands *o)
{
    unsigned opcode = o->i.opcode, reg = (opcode & 7) | (o->i.rex & 1u) << 3;

    if (o->i.two && (opcode == 0xa0 || opcode == 0xa8)) { /* PUSH and POP of FS and GS */
        unwind_x86_push_word(s, false);
        return true;
    }
    if (o->i.two && (opcode == 0xa1 || opcode == 0xa9)) {
        unwind_x86_pop_word(s, false);
        return true;
    }
    if (o->i.two) {
        return false;
    }
    switch (opcode) {
    case 0x50 ... 0x57:
        unwind_x86_push_word(s, reg == RBP);
        return true;
    case 0x58 ... 0x5f:
        unwind_x86_pop_word(s, reg == RBP);
        s->sp_known &= reg != RSP;
        return true;
    case 0x68: /* PUSH of an immediate, PUSHF */
    case 0x6a:
    case 0x9c:
        unwind_x86_push_word(s, false);
        return true;
    case 0x9d: /* POPF */
        unwind_x86_pop_word(s, false);
        return true;
    case 0xc9:
        sp_from_fp(s, 0);
        unwind_x86_pop_word(s, true);
        return true;
    default:
        return false;
    }
}

/* ADD and SUB of an immediate to the stack pointer; PUSH and POP of memory. */
static bool unwind_x86_step_groups(struct unwind_state *s, const struct operands *o,
                                   const uint8_t *bytes)
{
    unsigned opcode = o->i.opcode, group = o->reg & 7;
    bool on_sp = o->mod == 3 && o->rm == RSP && o->wide;

    if (o->i.two || !o->i.modrm) {
        return false;
    }
    if ((opcode == 0x81 || opcode == 0x83) && on_sp && (group == 0 || group == 5)) {
        unsigned n = opcode == 0x83 ? 1 : 4;
        int value = unwind_x86_read_number(bytes + o->i.length - n, n);
        unwind_moves_sp(s, group ? value : -(int64_t)value);
        return true;
    }
    if (opcode == 0xff && group == 6) {
        unwind_x86_push_word(s, false);
        return true;
    }
    if (opcode == 0x8f) {
        unwind_x86_pop_word(s, false);
        s->sp_known &= !on_sp;
        return true;
    }
    return false;
}

/* Returns true if the operand is memory at a known distance from the CFA. */
static bool at_frame(const struct unwind_state *s, const struct operands *o, const uint8_t *bytes,
                     int *at)
{
    const uint8_t *modrm = bytes + o->i.modrm;
    bool by_sp = o->rm == RSP && modrm[1] == 0x24 && !(o->i.rex & 2),
         by_fp = o->rm == RBP && o->mod > 0;
    unsigned n = o->mod == 1 ? 1 : o->mod == 2 ? 4 : 0;

    if (o->mod > 2 || !(by_sp || by_fp)) {
        return false;
    }
    *at = (n ? unwind_x86_read_number(modrm + 1 + by_sp, n) : 0) - (by_sp ? s->sp : s->fp);
    return by_sp ? s->sp_known : s->fp_known;
}

/* MOV and LEA between the two registers and the stack. */
static bool unwind_x86_step_moves(struct unwind_state *s, const struct operands *o,
                                  const uint8_t *bytes)
{
    unsigned opcode = o->i.opcode;
    bool load = opcode == 0x8b;
    int at;

    if (o->i.two || !o->wide || (opcode != 0x89 && opcode != 0x8b && opcode != 0x8d)) {
        return false;
    }
    if (o->mod == 3) {
        unsigned to = load ? o->reg : o->rm, from = load ? o->rm : o->reg;
        if (to == RBP && from == RSP) {
            s->fp_known = s->sp_known;
            s->fp = s->sp;
        } else if (to == RSP && from == RBP) {
            sp_from_fp(s, 0);
        } else {
            return false;
        }
        return true;
    }
    bool known = at_frame(s, o, bytes, &at);
    if (opcode == 0x8d && o->reg == RSP) {
        s->sp_known = known;
        s->sp = known ? -at : 0;
    } else if (opcode == 0x8d && o->reg == RBP) {
        s->fp_known = known;
        s->fp = known ? -at : 0;
    } else if (opcode != 0x8d && o->reg == RBP && known) {
        if (load) {
            unwind_load(s, false, true, at);
        } else {
            unwind_store(s, false, true, at);
        }
    } else {
        return false;
    }
    return true;
}

static struct x86_insn x86_insn_at(const struct fbt_text *t, uint64_t address)
{
    size_t offset = (size_t)(address - t->base);

    return x86_insn_read(t->bytes + offset, t->size - offset);
}

/* SYSCALL, MOV to a segment register, INT3, INT. */
bool unwind_x86_goes_on(const struct fbt_text *t, uint64_t address)
{
    struct x86_insn i = x86_insn_at(t, address);

    return i.length && (i.two ? i.opcode == 0x05 : i.opcode == 0x8e || (i.opcode & 0xfe) == 0xcc);
}

void unwind_x86_effect(struct unwind_state *s, const struct fbt_text *t, uint64_t address)
{
    const uint8_t *bytes = t->bytes + (address - t->base);
    struct x86_insn i = x86_insn_at(t, address);
    struct operands o = operands_of(&i, bytes);

    if (i.length == 0) {
        s->sp_known = s->fp_known = false;
        return;
    }
    if (without_operands(s, &o) || unwind_x86_step_groups(s, &o, bytes) ||
        unwind_x86_step_moves(s, &o, bytes)) {
        return;
    }
    s->sp_known &= !unwind_x86_writes_register(&o, RSP);
    s->fp_known &= !unwind_x86_writes_register(&o, RBP);
}
