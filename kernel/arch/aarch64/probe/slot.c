/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of function probes (kernel/dtrace/fbt.c). Kernel lock held. A slot:
 *
 *      stp x0, x30, [sp, #-A64_PROBE_FRAME]!
 *      bl  a64_probe_entry, or _return
 *      ldp x0, x30, [sp], #A64_PROBE_FRAME
 *      <the displaced instruction>
 *      b   <the instruction after the site>
 *
 * An instruction that can't be made to behave the same in the slot is refused. Tested by
 * test/board's suite fbt.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/probe.h"

void a64_probe_entry(void);
void a64_probe_return(void);

#define STP_X0_X30 (0xa9807be0u | (((uint32_t)(-A64_PROBE_FRAME / 8) & 0x7f) << 15))
#define LDP_X0_X30 (0xa8c07be0u | ((A64_PROBE_FRAME / 8) << 15))
#define INSN_B 0x14000000u
#define INSN_BL 0x94000000u
#define BRANCH_BITS 0x03ffffffu

enum { BEFORE = 3 }; /* instructions of the slot before the displaced one */

static uint32_t slot_branch(uint32_t insn, uintptr_t from, uintptr_t to)
{
    return insn | ((uint32_t)((to - from) >> 2) & BRANCH_BITS);
}

static long sign_extend(uint64_t field, unsigned bits)
{
    uint64_t sign = 1ul << (bits - 1);

    return (long)((field ^ sign) - sign);
}

/* Moves B.cond, CBZ or CBNZ, whose offset has 19 bits. */
static bool move_branch(uint32_t *insn, uintptr_t from, uintptr_t to)
{
    long words = sign_extend(*insn >> 5 & 0x7ffff, 19) + ((long)from - (long)to) / 4;

    *insn = (*insn & ~(0x7ffffu << 5)) | ((uint32_t)words & 0x7ffff) << 5;
    return words >= -(1l << 18) && words < 1l << 18;
}

/* Moves B, of a tail call. */
static bool move_jump(uint32_t *insn, uintptr_t from, uintptr_t to)
{
    uintptr_t target = from + (uintptr_t)(sign_extend(*insn & BRANCH_BITS, 26) * 4);

    return arch_probe_branch(insn, to, target, 4);
}

/* Moves ADR, which addresses bytes, or ADRP, which addresses pages. */
static bool move_address(uint32_t *insn, uintptr_t from, uintptr_t to)
{
    unsigned shift = *insn >> 31 ? 12 : 0;
    uint64_t field = (*insn >> 29 & 3) | (uint64_t)(*insn >> 5 & 0x7ffff) << 2;
    long n = sign_extend(field, 21) + (long)(from >> shift) - (long)(to >> shift);

    *insn = (*insn & ~(3u << 29 | 0x7ffffu << 5)) | ((uint32_t)n & 3) << 29 |
            ((uint32_t)(n >> 2) & 0x7ffff) << 5;
    return n >= -(1l << 20) && n < 1l << 20;
}

static bool slot_move(uint32_t *insn, uintptr_t from, uintptr_t to)
{
    if ((*insn & 0xff000000) == 0x54000000 || (*insn & 0x7e000000) == 0x34000000) {
        return move_branch(insn, from, to);
    }
    if ((*insn & 0x1f000000) == 0x10000000) {
        return move_address(insn, from, to);
    }
    if ((*insn & ~BRANCH_BITS) == INSN_B) {
        return move_jump(insn, from, to);
    }
    return true;
}

bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns)
{
    kernel_assert(kernel_holds_lock() && ((slot | site | length) & 3) == 0);
    uintptr_t call = returns ? (uintptr_t)a64_probe_return : (uintptr_t)a64_probe_entry;
    uint32_t insn = *(const uint32_t *)site;

    code[0] = STP_X0_X30;
    code[1] = slot_branch(INSN_BL, slot + 4, call);
    code[2] = LDP_X0_X30;
    bool fits = slot_move(&insn, site, slot + 4 * BEFORE);
    code[BEFORE] = insn;
    code[BEFORE + 1] = slot_branch(INSN_B, slot + 4 * (BEFORE + 1), site + length);
    return fits;
}

bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes)
{
    long distance = (long)(to - from);

    *insn = slot_branch(INSN_B, from, to);
    return bytes == 4 && distance >= -(1l << 27) && distance < 1l << 27;
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
    uint32_t insn = *(const uint32_t *)site;

    if ((insn & ~BRANCH_BITS) != INSN_B) {
        return 0;
    }
    return site + (uintptr_t)(sign_extend(insn & BRANCH_BITS, 26) * 4);
}
