/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places in x86-64's functions: see places.h. Instructions have no fixed length, so they are read
 * from the function's beginning on (isa/x86_64/step.h). One whose length is not known ends that:
 * what is after it has no probes, and the function none at its returns, as some could be there.
 */
#include "isa/x86_64/step.h"
#include "host/pid/places.h"

#include <string.h>

enum { BEFORE = 3 };

/* The last instructions: the newest first. */
struct before {
    const uint8_t *at[BEFORE];
    uint8_t length[BEFORE];
};

static void pid_x86_remember_insn(struct before *b, const uint8_t *at, uint8_t length)
{
    memmove(b->at + 1, b->at, sizeof(b->at) - sizeof(b->at[0]));
    memmove(b->length + 1, b->length, sizeof(b->length) - sizeof(b->length[0]));
    b->at[0] = at;
    b->length[0] = length;
}

/* Returns whether the instruction adds to the register, or loads it by an index: as compilers
 * compute an address from a table. */
static bool computes_by_table(const uint8_t *at, uint8_t length, unsigned reg)
{
    const struct x86_insn i = x86_insn_read(at, length);

    if (!i.modrm || i.two) {
        return false;
    }
    const uint8_t modrm = at[i.modrm];
    const unsigned first = (modrm >> 3 & 7u) | (i.rex & 4 ? 8 : 0);
    const unsigned second = (modrm & 7u) | (i.rex & 1 ? 8 : 0);
    const bool indexed = modrm < 0xc0 && (modrm & 7) == 4 && (at[i.modrm + 1] & 0x38) != 0x20;

    return (i.opcode == 0x03 && first == reg) ||
           (i.opcode == 0x01 && modrm >= 0xc0 && second == reg) ||
           ((i.opcode == 0x8b || i.opcode == 0x63) && first == reg && indexed);
}

static bool pid_x86_jumps_by_table(const struct x86_step *s, const struct before *b)
{
    if (s->memory) {
        return s->index != X86_STEP_NONE;
    }
    for (unsigned n = 0; n < BEFORE && b->at[n]; n++) {
        if (computes_by_table(b->at[n], b->length[n], s->base)) {
            return true;
        }
    }
    return false;
}

static bool jumps_away(const struct pid_code *c, const struct x86_step *s, uint32_t offset)
{
    const uint64_t target = c->address + offset + s->length + (uint64_t)(int64_t)s->distance;
    const bool outside = target < c->address || target >= c->address + c->size;

    return outside && c->starts(c->arg, target);
}

static void pid_x86_leaves_function(const struct pid_code *c, const struct x86_step *s,
                                    const struct before *b, struct pid_place *p)
{
    if (s->kind != X86_STEP_EMULATED) {
        return;
    }
    p->tail = (s->op == X86_OP_JUMP_TO && !pid_x86_jumps_by_table(s, b)) ||
              (s->op == X86_OP_JUMP && jumps_away(c, s, p->offset));
    p->returns = p->tail || s->op == X86_OP_RETURN;
}

static const char *pid_x86_refuses_insn(const struct x86_step *s)
{
    static const char *const texts[] = {
        [X86_WHY_OTHER] = "an instruction that can't be displaced",
        [X86_WHY_NOP] = "a NOP, which a static probe may be",
        [X86_WHY_CALL] = "a kernel call: the provider syscall has it",
        [X86_WHY_TRAP] = "a trap of the program's own",
        [X86_WHY_PRIVILEGED] = "a privileged instruction",
        [X86_WHY_REPEATED] = "a repeated instruction, which would keep interrupts waiting",
        [X86_WHY_FAR] = "an instruction that loads a segment register",
        [X86_WHY_FLAGS] = "an instruction that sets the trap flag",
        [X86_WHY_EXTENDED] = "an instruction of AVX or BMI",
    };

    return s->kind == X86_STEP_REFUSED ? texts[s->why] : NULL;
}

void pid_x86_places(const struct pid_code *c, void (*fn)(void *arg, const struct pid_place *),
                    void *arg)
{
    struct before before = {0};

    for (size_t at = 0; at < c->code;) {
        const struct x86_step s = x86_step_read(c->text + at, c->code - at);
        struct pid_place p = {
            .offset = (uint32_t)at, .bytes = s.length, .refuse = pid_x86_refuses_insn(&s)};

        for (unsigned n = 0; n < sizeof(p.insn) && n < s.length; n++) {
            p.insn |= (uint32_t)c->text[at + n] << 8 * n;
        }
        if (s.kind == X86_STEP_UNKNOWN) {
            p.returns = true;
            p.refuse = "an instruction whose length is not known, nor what follows it";
            fn(arg, &p);
            return;
        }
        pid_x86_leaves_function(c, &s, &before, &p);
        fn(arg, &p);
        pid_x86_remember_insn(&before, c->text + at, s.length);
        at += s.length;
    }
}
