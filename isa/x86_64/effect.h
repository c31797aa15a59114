/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The effects of x86-64's instructions that isa/x86_64/step.h has emulated. Tested by test/isa
 * against the CPU's own.
 */
#ifndef ISA_X86_64_EFFECT_H
#define ISA_X86_64_EFFECT_H

#include "isa/x86_64/step.h"

/* Returns whether the condition holds, as in the opcodes of Jcc. */
static inline bool x86_step_holds(unsigned condition, uint64_t flags)
{
    const bool c = flags & X86_STEP_FLAG_C, p = flags & X86_STEP_FLAG_P;
    const bool z = flags & X86_STEP_FLAG_Z, s = flags & X86_STEP_FLAG_S;
    const bool o = flags & X86_STEP_FLAG_O;
    const bool holds[8] = {o, c, z, c || z, s, p, s != o, z || s != o};

    return holds[condition >> 1 & 7] != (condition & 1);
}

/* Returns whether an emulated instruction at ip loads 8 bytes, and their address. r: the registers,
 * in the order of their numbers. */
static inline bool x86_step_loads(const struct x86_step *s, uint64_t ip, const uint64_t r[16],
                                  uint64_t *at)
{
    if (s->op == X86_OP_RETURN) {
        *at = r[X86_STEP_RSP];
        return true;
    }
    if ((s->op != X86_OP_JUMP_TO && s->op != X86_OP_CALL_TO) || !s->memory) {
        return false;
    }
    *at = (uint64_t)(int64_t)s->distance;
    *at += s->base == X86_STEP_END ? ip + s->length : s->base < X86_STEP_NONE ? r[s->base] : 0;
    *at += s->index < X86_STEP_NONE ? r[s->index] << s->scale : 0;
    return true;
}

struct x86_step_effect {
    uint64_t next;     /* where execution continues: any number, canonical or not */
    uint64_t rcx, rsp; /* their new values */
    uint64_t pushed;   /* the value to store at the new rsp */
    bool pushes;
};

/* Computes the effect of an instruction that is X86_STEP_EMULATED at ip. word: the loaded value. */
static inline struct x86_step_effect x86_step_emulate(const struct x86_step *s, uint64_t ip,
                                                      const uint64_t r[16], uint64_t flags,
                                                      uint64_t word)
{
    const uint64_t end = ip + s->length, jump = end + (uint64_t)(int64_t)s->distance;
    const bool z = flags & X86_STEP_FLAG_Z;
    struct x86_step_effect e;

    e.next = end;
    e.rcx = r[X86_STEP_RCX];
    e.rsp = r[X86_STEP_RSP];
    e.pushed = end;
    e.pushes = s->op == X86_OP_CALL || s->op == X86_OP_CALL_TO || s->op == X86_OP_FLAGS;
    switch (s->op) {
    case X86_OP_JUMP:
    case X86_OP_CALL:
        e.next = jump;
        break;
    case X86_OP_CONDITION:
        e.next = x86_step_holds(s->condition, flags) ? jump : end;
        break;
    case X86_OP_LOOP:
        e.rcx -= s->condition != 3;
        e.next = (s->condition == 3 ? e.rcx == 0
                                    : e.rcx != 0 && (s->condition == 2 || z == s->condition))
                     ? jump
                     : end;
        break;
    case X86_OP_RETURN:
        e.next = word;
        e.rsp += 8 + (uint64_t)s->distance;
        break;
    case X86_OP_JUMP_TO:
    case X86_OP_CALL_TO:
        e.next = s->memory ? word : r[s->base];
        break;
    default: /* X86_OP_FLAGS */
        e.pushed = (flags | X86_STEP_FLAG_I) & ~(uint64_t)X86_STEP_FLAGS_HIDDEN;
        break;
    }
    e.rsp -= e.pushes ? 8 : 0;
    return e;
}

#endif
