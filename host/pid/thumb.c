/* SPDX-License-Identifier: BSD-2-Clause */
/* Places in functions of Thumb-2 instructions: see places.h. */
#include "host/pid/thumb.h"

#include "isa/armv7m/step.h"
#include "host/dt/dt.h"

static uint32_t pid_thumb_half_at(const struct pid_code *c, uint64_t offset)
{
    return (uint32_t)c->text[offset] | (uint32_t)c->text[offset + 1] << 8;
}

/* Returns where the data ends that is at this offset; the offset: there is code. */
static uint64_t behind_data(const struct pid_code *c, uint64_t offset)
{
    for (unsigned i = 0; i < c->data_count; i++) {
        if (offset >= c->data[i].from && offset < c->data[i].to) {
            offset = c->data[i].to; /* there may be more */
        }
    }
    return offset;
}

static bool is_return(uint32_t insn)
{
    return insn == 0x4770 || insn == 0x46f7 ||                      /* BX LR; MOV PC, LR */
           ((insn & 0xff00) == 0xbd00 && insn >> 16 == 0) ||        /* POP with PC */
           (insn & 0x8000ffff) == 0x8000e8bd || insn == 0xfb04f85d; /* of 4 bytes */
}

/* BX of another register, LDR PC but from a table, LDM of another context. */
static bool is_jump_elsewhere(uint32_t insn)
{
    const uint32_t a = insn & 0xffff, b = insn >> 16;

    if (t2_step_bytes(insn) == 2) {
        return (a & 0xff80) == 0x4700;
    }
    const bool by_register = (a & 0xfff0) == 0xf850 && (a & 15) != 15 && !(b & 0xfc0);
    return (a & 0xfe50) == 0xe810 || ((a & 0xfe00) == 0xf800 && !by_register);
}

static void pid_thumb_leaves_function(const struct pid_code *c, struct pid_place *p)
{
    const uint64_t at = c->address + p->offset;

    if (t2_step_kind(p->insn) != T2_STEP_EMULATED || t2_step_it(p->insn)) {
        return;
    }
    const uint64_t target = t2_step_target(p->insn, (uint32_t)at);
    const bool calls = (p->insn & 0xd000f800) == 0xd000f000;
    const bool always = (p->insn & 0xf800) == 0xe000 || (p->insn & 0x1000f800) == 0x1000f000;
    const bool outside = target < c->address || target >= c->address + c->size;
    if (target) {
        p->tail = !calls && outside && c->starts(c->arg, target);
        p->refuse = p->tail && !always ? "a conditional jump to another function" : p->refuse;
    } else {
        p->tail = !is_return(p->insn) && is_jump_elsewhere(p->insn);
    }
    p->returns = p->tail || is_return(p->insn);
}

static const char *pid_thumb_refuses_insn(uint32_t insn)
{
    const bool exclusive = t2_step_bytes(insn) == 4 && t2_step_exclusive(insn);

    return t2_step_kind(insn) != T2_STEP_REFUSED  ? NULL
           : insn == 0xbf00 || insn == 0x8000f3af ? "a NOP, which a static probe may be"
           : (insn & 0xff00) == 0xdf00 && insn < 65536
               ? "a kernel call: the provider syscall has it"
           : exclusive ? "an exclusive access"
                       : "an instruction that can't be displaced";
}

void pid_thumb_places(const struct pid_code *c, void (*fn)(void *arg, const struct pid_place *),
                      void *arg)
{
    bool open = false;        /* between an exclusive load and its store */
    unsigned conditional = 0; /* instructions that are left of an IT block */
    uint64_t at = behind_data(c, 0);

    while (at + 2 <= c->size) {
        struct pid_place p = {.offset = (uint32_t)at, .insn = pid_thumb_half_at(c, at)};
        p.bytes = (uint8_t)t2_step_bytes(p.insn);
        if (at + p.bytes > c->size) {
            return;
        }
        p.insn |= p.bytes == 4 ? pid_thumb_half_at(c, at + 2) << 16 : 0;
        p.refuse = pid_thumb_refuses_insn(p.insn);
        if (open && !p.refuse) {
            p.refuse = "between an exclusive load and its store, which would never succeed";
        }
        if (conditional && p.bytes == 4) { /* the trap, passed over, would leave its second half */
            p.refuse = p.refuse ? p.refuse : "4 bytes in an IT block";
        }
        pid_thumb_leaves_function(c, &p);
        open = (open || t2_step_opens(p.insn)) && !t2_step_closes(p.insn) &&
               (!p.returns || conditional);
        conditional = conditional ? conditional - 1 : t2_step_it(p.insn);
        fn(arg, &p);
        at = behind_data(c, at + p.bytes);
    }
}
