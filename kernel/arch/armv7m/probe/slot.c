/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of function probes (kernel/dtrace/fbt.c), for text in RAM. Kernel lock held. A slot:
 *
 *      push {r0, lr}
 *      bl   armv7m_probe_entry
 *      <the displaced instructions>
 *      b.w  <the instruction after them>
 *      literals that they load relative to the program counter, at LITERALS
 *
 * The slot of a return has the instructions before it, then the call, then the return. A
 * conditional branch goes to another B.W in the slot. Code that doesn't fit is refused. Tested by
 * test/board's suite fbt; test/host/fbt/places.py covers the kinds of sites.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/probe.h"

void armv7m_probe_entry(void);
void armv7m_probe_return(void);

enum { PUSH_R0_LR = 0xb501, NOP = 0xbf00, LITERALS = 16, LITERALS_END = 4 * ARCH_PROBE_WORDS };

struct slot_writing {
    uint32_t *code;
    uintptr_t slot;
    unsigned at;       /* bytes written */
    unsigned literals; /* offset of the next literal */
    bool fits;
};

static void slot_put(struct slot_writing *w, uint32_t half)
{
    uint16_t value = (uint16_t)half;

    w->fits = w->fits && w->at + 2 <= LITERALS;
    if (w->fits) {
        __builtin_memcpy((char *)w->code + w->at, &value, sizeof(value));
        w->at += 2;
    }
}

/* Encodes B.W or BL, encodings T4 and T1; `bits` distinguishes them. */
static uint32_t slot_wide_branch(uint32_t bits, uintptr_t from, uintptr_t to)
{
    int32_t offset = (int32_t)((to & ~1u) - (from + 4));
    uint32_t s = (uint32_t)offset >> 31;
    uint32_t j1 = (~((uint32_t)offset >> 23) ^ s) & 1;
    uint32_t j2 = (~((uint32_t)offset >> 22) ^ s) & 1;
    uint32_t first = 0xf000 | s << 10 | (((uint32_t)offset >> 12) & 0x3ff);
    uint32_t second = bits | j1 << 13 | j2 << 11 | (((uint32_t)offset >> 1) & 0x7ff);

    return second << 16 | first;
}

static void put_branch(struct slot_writing *w, uint32_t bits, uintptr_t to)
{
    uint32_t insn = slot_wide_branch(bits, w->slot + w->at, to);

    slot_put(w, insn);
    slot_put(w, insn >> 16);
}

static void put_call(struct slot_writing *w, void (*to)(void))
{
    slot_put(w, PUSH_R0_LR);
    put_branch(w, 0xd000, (uintptr_t)to);
}

/* Moves a 16-bit LDR or ADR: loads the copied word, or the address, from the slot's literals. */
static void put_load(struct slot_writing *w, uint32_t insn, uintptr_t site)
{
    uintptr_t from = ((site + 4) & ~(uintptr_t)3) + (insn & 0xff) * 4;
    bool load = (insn & 0xf800) == 0x4800;
    unsigned base = (w->at + 4) & ~3u;

    w->fits = w->fits && w->literals < LITERALS_END;
    if (w->fits) {
        w->code[w->literals / 4] = load ? *(const uint32_t *)from : from;
        slot_put(w, 0x4800 | (insn & 0x700) | (w->literals - base) / 4);
        w->literals += 4;
    }
}

static int32_t slot_extend(uint32_t field, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);

    return (int32_t)((field ^ sign) - sign);
}

/* Moves a 16-bit CBZ, CBNZ or B<c>: it skips the slot's final B.W to one with its own target. */
static void put_conditional(struct slot_writing *w, uint32_t insn, uintptr_t site)
{
    bool compares = (insn & 0xf500) == 0xb100;
    int32_t forward = (int32_t)((insn >> 3 & 0x1f) << 1 | (insn >> 9 & 1) << 6);
    uintptr_t target = site + 4 + (uintptr_t)(compares ? forward : slot_extend(insn & 0xff, 8) * 2);

    slot_put(w, compares ? (insn & 0xfd07) | 1 << 3 : (insn & 0xff00) | 1);
    put_branch(w, 0x9000, site + 2);
    put_branch(w, 0x9000, target);
}

static void put_narrow(struct slot_writing *w, uint32_t insn, uintptr_t site)
{
    if ((insn & 0xf800) == 0x4800 || (insn & 0xf800) == 0xa000) {
        put_load(w, insn, site);
    } else if ((insn & 0xf800) == 0xe000) {
        put_branch(w, 0x9000, arch_probe_target(site));
    } else if ((insn & 0xf500) == 0xb100 || ((insn & 0xf000) == 0xd000 && insn < 0xde00)) {
        put_conditional(w, insn, site);
    } else {
        slot_put(w, insn);
    }
}

static void put_displaced(struct slot_writing *w, uintptr_t from, uintptr_t to)
{
    while (from < to) {
        uint32_t insn = *(const uint16_t *)from;
        bool wide = insn >> 11 >= 0x1d;
        if (!wide) {
            put_narrow(w, insn, from);
        } else if (arch_probe_target(from)) {
            put_branch(w, 0x9000, arch_probe_target(from));
        } else {
            slot_put(w, insn);
            slot_put(w, *(const uint16_t *)(from + 2));
        }
        from += wide ? 4 : 2;
    }
}

bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns)
{
    kernel_assert(kernel_holds_lock() && (slot & 3) == 0 && ((site | length) & 1) == 0);
    struct slot_writing w = {code, slot, 0, LITERALS, true};
    const uint16_t *half = (const uint16_t *)site;
    bool narrow = half[0] >> 11 < 0x1d;

    if (returns && length == 4 && narrow && half[1] == NOP) { /* padding after the return */
        length = 2;
    }
    uintptr_t last = site + length - (length > 4 || narrow ? 2 : 4);

    if (returns) {
        put_displaced(&w, site, last);
        put_call(&w, armv7m_probe_return);
        put_displaced(&w, last, site + length);
    } else {
        put_call(&w, armv7m_probe_entry);
        put_displaced(&w, site, site + length);
        if (w.at < LITERALS) { /* otherwise a conditional branch has already written both exits */
            put_branch(&w, 0x9000, site + length);
        }
    }
    return w.fits;
}

bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes)
{
    intptr_t offset = (intptr_t)(to - from) - 4, most = bytes == 2 ? 1 << 11 : 1 << 24;

    *insn =
        bytes == 2 ? 0xe000 | ((uint32_t)offset >> 1 & 0x7ff) : slot_wide_branch(0x9000, from, to);
    return offset >= -most && offset < most;
}

/* Nothing has to be done: a branch finds its slot by itself. */
void arch_probe_known(uintptr_t site, uintptr_t slot, bool on)
{
    (void)site;
    (void)slot;
    (void)on;
}

uintptr_t arch_probe_target(uintptr_t site)
{
    uint32_t a = ((const uint16_t *)site)[0], b = ((const uint16_t *)site)[1];
    uint32_t s = a >> 10 & 1, i1 = ~((b >> 13) ^ s) & 1, i2 = ~((b >> 11) ^ s) & 1;
    uint32_t offset = i1 << 23 | i2 << 22 | (a & 0x3ff) << 12 | (b & 0x7ff) << 1;

    if ((a & 0xf800) == 0xe000) {
        return site + 4 + (uintptr_t)(slot_extend(a & 0x7ff, 11) * 2);
    }
    if ((a & 0xf800) != 0xf000 || (b & 0xd000) != 0x9000) {
        return 0;
    }
    return site + 4 + (s ? offset | 0xff000000u : offset);
}

void arch_text_write(uintptr_t at, const void *from, size_t bytes)
{
    const uint16_t *half = from;
    uintptr_t state = arch_irq_save();

    for (size_t i = 0; i < bytes / 2; i++) {
        ((volatile uint16_t *)at)[i] = half[i];
    }
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    arch_irq_restore(state);
}
