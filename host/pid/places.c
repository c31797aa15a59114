/* SPDX-License-Identifier: BSD-2-Clause */
/* See places.h. */
#include "host/pid/places.h"

#include "isa/aarch64/step.h"
#include "host/pid/thumb.h"

#include <elf.h>
#include <string.h>

static uint32_t pid_places_word_at(const struct pid_code *c, size_t offset)
{
    const uint8_t *b = c->text + offset;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ---- AArch64 ------------------------------------------------------------------------ */

/* A jump through a register is one into a table if the register was just added to: ADD Xd, Xn, Wm
 * with an extension or a shift, as compilers make them. */
static bool pid_places_jumps_by_table(const struct pid_code *c, size_t offset)
{
    const uint32_t rn = pid_places_word_at(c, offset) >> 5 & 31;

    for (size_t back = 4; back <= 12 && back <= offset; back += 4) {
        const uint32_t insn = pid_places_word_at(c, offset - back);
        const bool adds =
            (insn & 0xff200000u) == 0x8b200000u || (insn & 0xff200000u) == 0x8b000000u;
        if (adds && (insn & 31) == rn) {
            return true;
        }
    }
    return false;
}

static void a64_leaves(const struct pid_code *c, struct pid_place *p)
{
    const uint64_t at = c->address + p->offset;

    if ((p->insn & 0xfc000000u) == 0x14000000u) { /* B */
        const uint64_t target = at + (uint64_t)a64_step_offset(p->insn, 0, 26);
        const bool outside = target < c->address || target >= c->address + c->size;
        p->tail = outside && c->starts(c->arg, target);
    }
    if ((p->insn & 0xfffffc1fu) == 0xd61f0000u) { /* BR */
        p->tail = !pid_places_jumps_by_table(c, p->offset);
    }
    p->returns = p->tail || (p->insn & 0xfffffc1fu) == 0xd65f0000u; /* RET */
}

static const char *a64_refuses(uint32_t insn)
{
    return a64_step_kind(insn) != A64_STEP_REFUSED ? NULL
           : insn == 0xd503201fu                   ? "a NOP, which a static probe may be"
           : (insn & 0xff00001fu) == 0xd4000001u   ? "a kernel call: the provider syscall has it"
           : (insn & 0x3f000000u) == 0x08000000u   ? "an exclusive access"
           : (insn & 0x3f000000u) == 0x1c000000u   ? "a load of a literal to an FP register"
                                                   : "an instruction that can't be displaced";
}

static void a64_places(const struct pid_code *c, void (*fn)(void *arg, const struct pid_place *),
                       void *arg)
{
    bool open = false; /* between an exclusive load and its store */

    for (size_t at = 0; at + 4 <= c->code; at += 4) {
        struct pid_place p = {
            .offset = (uint32_t)at, .insn = pid_places_word_at(c, at), .bytes = 4};
        p.refuse = a64_refuses(p.insn);
        if (open && !p.refuse) {
            p.refuse = "between an exclusive load and its store, which would never succeed";
        }
        a64_leaves(c, &p);
        open = (open || a64_step_opens(p.insn)) && !a64_step_closes(p.insn) && !p.returns;
        fn(arg, &p);
    }
}

const char *pid_places(const struct pid_code *c, void (*fn)(void *arg, const struct pid_place *),
                       void *arg)
{
    const size_t length = strlen(c->name);

    if (length > 5 && strcmp(c->name + length - 5, ".cold") == 0) {
        return "a part of another function";
    }
    if (c->machine == EM_X86_64 && c->code > 0) {
        pid_x86_places(c, fn, arg);
        return NULL;
    }
    if (c->machine != EM_AARCH64 && c->machine != EM_X86_64 && c->machine != EM_ARM) {
        return "this target's CPU has no probes of programs";
    }
    if (c->code < (c->machine == EM_ARM ? 2 : 4)) {
        return "it has no code";
    }
    if (c->machine == EM_ARM) {
        pid_thumb_places(c, fn, arg);
    } else {
        a64_places(c, fn, arg);
    }
    return NULL;
}
