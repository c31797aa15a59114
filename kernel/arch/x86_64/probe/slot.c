/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of function probes (kernel/dtrace/fbt.c). A probed instruction's first byte is a
 * breakpoint. Its handler finds the slot by the address, calls D, and continues in the slot:
 *
 *      <the site; the next slot of the same hash>
 *      <the displaced instruction>
 *      jmp <the instruction after the site>
 *
 * The handler runs on the kernel's stack, with interrupts masked. An instruction that can't be made
 * to behave the same in the slot is refused. Tested by test/board's suite fbt.
 */
#include "isa/x86_64/insn.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/probe.h"
#include "kernel/arch/x86_64/port.h"

extern const char __kernel_start[], __text_end[];

/* The layout of a slot on this CPU. */
struct x86_slot {
    uint32_t site; /* from __kernel_start, and SITE_RETURNS */
    uint32_t next; /* the lower half of the address; 0: none */
    uint8_t code[ARCH_PROBE_WORDS * 4 - X86_SLOT_CODE];
};
_Static_assert(offsetof(struct x86_slot, code) == X86_SLOT_CODE, "arch_probe_back()");

#define SITE_RETURNS (1u << 31)
#define JUMP_BYTES 5
#define HASHES 1024

/* Slots whose sites have a breakpoint. [k] and changed only while the other CPUs wait in code
 * without probes; so a handler finds them consistent without the lock. */
static uint32_t slots_by_hash[HASHES];

static uint32_t *x86_hash_of(uintptr_t site)
{
    return &slots_by_hash[(site ^ site >> 10) % HASHES];
}

static struct x86_slot *x86_slot_at(uint32_t low)
{
    return (struct x86_slot *)(ARCH_CODE_HIGH << 32 | low);
}

static uintptr_t x86_slot_site(const struct x86_slot *slot)
{
    return (uintptr_t)__kernel_start + (slot->site & ~SITE_RETURNS);
}

/* Returns a site's slot, or NULL. */
static const struct x86_slot *x86_slot_find(uintptr_t site)
{
    for (uint32_t low = *x86_hash_of(site); low; low = x86_slot_at(low)->next) {
        if (x86_slot_site(x86_slot_at(low)) == site) {
            return x86_slot_at(low);
        }
    }
    return NULL;
}

bool x86_probe(uintptr_t site, const uintptr_t *regs, uint64_t *rip)
{
    const struct x86_slot *slot = x86_slot_find(site);

    kernel_assert(x86_irq_masked());
    if (!slot) {
        return false;
    }
    if (slot->site & SITE_RETURNS) {
        kernel_probe_return(slot->code, regs);
    } else {
        kernel_probe_entry(slot->code, regs);
    }
    *rip = (uintptr_t)slot->code; /* only now: until here a stack was walked by the old value */
    return true;
}

/* The handler uses the link, so it is written when no handler runs. */
void arch_probe_known(uintptr_t site, uintptr_t slot, bool on)
{
    uint32_t *link = x86_hash_of(site), low = (uint32_t)slot;

    kernel_assert(kernel_holds_lock());
    if (on) {
        arch_text_write((uintptr_t)&x86_slot_at(low)->next, link, sizeof(*link));
        *link = low;
        return;
    }
    if (*link == low) {
        *link = x86_slot_at(low)->next;
        return;
    }
    for (uint32_t at = *link; at; at = x86_slot_at(at)->next) {
        if (x86_slot_at(at)->next == low) {
            arch_text_write((uintptr_t)&x86_slot_at(at)->next, &x86_slot_at(low)->next,
                            sizeof(low));
            return;
        }
    }
}

/* ---- building a slot --------------------------------------------------------------- */

static void x86_near_set(uint8_t *field, uintptr_t from, uintptr_t to)
{
    int32_t distance = (int32_t)(to - from);

    __builtin_memcpy(field, &distance, sizeof(distance));
}

/* Moves an instruction; all text is within reach of 32 bits. Returns the number of bytes written,
 * or 0 if it can't be moved. */
static unsigned x86_slot_move(uint8_t *code, uintptr_t at, uintptr_t site,
                              const struct x86_insn *insn)
{
    const uint8_t *from = (const uint8_t *)site;
    int32_t distance;

    if (insn->hop) {
        bool always = insn->opcode == 0xeb;
        unsigned n = 0;
        if (insn->hop != 1 || (!always && (insn->opcode & 0xf0) != 0x70)) {
            return 0; /* a prefix; LOOP, JRCXZ */
        }
        if (!always) {
            code[n++] = 0x0f;
        }
        code[n++] = always ? X86_JUMP : 0x80 | (insn->opcode & 15);
        x86_near_set(code + n, at + n + 4, site + 2 + (uintptr_t)(int8_t)from[1]);
        return n + 4;
    }
    __builtin_memcpy(code, from, insn->length);
    if (insn->near) {
        __builtin_memcpy(&distance, from + insn->near, sizeof(distance));
        x86_near_set(code + insn->near, at + insn->length,
                     site + insn->length + (uintptr_t)(intptr_t)distance);
    }
    return insn->length;
}

bool arch_probe_slot(uint32_t words[ARCH_PROBE_WORDS], uintptr_t at, uintptr_t site,
                     unsigned length, bool returns)
{
    struct x86_slot *slot = (struct x86_slot *)words;
    const struct x86_insn insn = x86_insn_read((const uint8_t *)site, X86_INSN_MOST);
    const uintptr_t code = at + X86_SLOT_CODE;

    (void)length; /* the instruction itself determines it */
    kernel_assert(kernel_holds_lock());
    if (insn.length == 0 || insn.length > sizeof(slot->code) - JUMP_BYTES ||
        (!insn.two && (insn.opcode == 0xe8 || insn.opcode == X86_BREAKPOINT))) {
        return false;
    }
    slot->site = (uint32_t)(site - (uintptr_t)__kernel_start) | (returns ? SITE_RETURNS : 0);
    slot->next = 0;
    unsigned n = x86_slot_move(slot->code, code, site, &insn);
    slot->code[n] = X86_JUMP;
    x86_near_set(slot->code + n + 1, code + n + JUMP_BYTES, site + insn.length);
    return n > 0;
}

bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes)
{
    (void)from;
    (void)to;
    *insn = X86_BREAKPOINT;
    return bytes == ARCH_PROBE_BYTES;
}

uintptr_t arch_probe_target(uintptr_t site)
{
    bool trap = site >= (uintptr_t)__kernel_start && site < (uintptr_t)__text_end &&
                *(const volatile uint8_t *)site == X86_BREAKPOINT;

    return trap ? (uintptr_t)x86_slot_find(site) : 0;
}
