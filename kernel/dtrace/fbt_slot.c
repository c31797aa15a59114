/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of function probes, and the patching of code that other CPUs may execute: see fbt_slot.h,
 * docs/inside/fbt.md. Kernel lock held. Tested by test/board's suites fbt and fbt-multi.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/probe.h"
#include "kernel/dtrace/fbt_slot.h"

#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"

/* The branch has 16 bits and leads to a pad, which branches to the slot. */
#define NARROW (1u << 31)
/* Content of an unused pad, which only Thumb has: two NOPs. */
#define PAD 0xbf00bf00u

/* State of a slot, present or pending. */
enum state { FREE, GOING_ON, ON, GOING_OFF };

extern const char __kernel_start[];

static uint32_t slots_used; /* [k] number of slots used so far; some may be free again */
static uint32_t slots_free; /* [k] first free one, from 1; 0: none */
static bool pending;        /* [k] a change is pending */

static struct fbt_slot *slot_at(uint32_t number)
{
    return (struct fbt_slot *)fbt_slots + (number - 1);
}

static uint32_t slot_take(void)
{
    kernel_assert(kernel_locked());
    uint32_t number = slots_free;

    if (number) {
        slots_free = slot_at(number)->original;
        return number;
    }
    if ((const char *)(slot_at(slots_used + 1) + 1) > fbt_slots_end) {
        return 0;
    }
    return ++slots_used;
}

static enum state slot_state(const struct fbt_slot *slot)
{
    return slot->place >> 28 & 3;
}

uintptr_t fbt_slot_site(const struct fbt_slot *slot)
{
    return (uintptr_t)__kernel_start + (slot->place & 0x0fffffff);
}

static void slot_set(const struct fbt_slot *slot, enum state state)
{
    uint32_t place = (slot->place & ~(3u << 28)) | (uint32_t)state << 28;

    arch_text_write((uintptr_t)&slot->place, &place, sizeof(place));
}

static void slot_give(const struct fbt_slot *slot)
{
    kernel_assert(kernel_locked());
    arch_text_write((uintptr_t)&slot->original, &slots_free, sizeof(slots_free));
    slots_free = (uint32_t)(slot - (const struct fbt_slot *)fbt_slots) + 1;
    slot_set(slot, FREE);
}

/* Returns the slot that a branch leads to, with or without a pad, or NULL. */
static const struct fbt_slot *slot_of_branch(uintptr_t branch)
{
    uintptr_t at = arch_probe_target(branch);

    for (unsigned hops = 0; hops < 2 && at; hops++) {
        if (at >= (uintptr_t)fbt_slots && at < (uintptr_t)fbt_slots_end) {
            return fbt_slot_of((const void *)at);
        }
        at = arch_probe_target(at);
    }
    return NULL;
}

/* Returns the slot for the location that is or will be patched at site, or NULL. Usually the branch
 * identifies it; the replaced instruction may be a jump to a function that is probed. */
static const struct fbt_slot *slot_find(uintptr_t site)
{
    const struct fbt_slot *slot = slot_of_branch(site);

    if (slot && fbt_slot_site(slot) == site && slot_state(slot) != FREE) {
        return slot;
    }
    for (uint32_t n = 1; n <= slots_used; n++) {
        if (slot_state(slot_at(n)) == GOING_ON && fbt_slot_site(slot_at(n)) == site) {
            return slot_at(n);
        }
    }
    return NULL;
}

/* ---- changing instructions that other CPUs may execute ----------------------------- */

/* Restores a pad that no branch leads to any more. */
static void pad_clear(uintptr_t pad)
{
    static const uint32_t nops = PAD;

    arch_text_write(pad, &nops, sizeof(nops));
}

static void fbt_slot_patch(const struct fbt_slot *slot, bool on)
{
    kernel_assert(slot_state(slot) == (on ? GOING_ON : GOING_OFF));
    uintptr_t site = fbt_slot_site(slot);
    uint32_t insn = slot->original;

    if (slot->place & NARROW) {
        uint16_t half = (uint16_t)(on ? insn >> 16 : insn);
        uintptr_t pad = arch_probe_target(site);
        arch_text_write(site, &half, sizeof(half));
        if (!on) {
            pad_clear(pad);
        }
        return;
    }
    /* A trap is registered as long as it is in the text: an assertion in the writer may run into
     * it. */
    if (on) {
        arch_probe_known(site, (uintptr_t)slot, true);
        arch_probe_branch(&insn, site, (uintptr_t)slot, ARCH_PROBE_BYTES);
    }
    arch_text_write(site, &insn, ARCH_PROBE_BYTES);
    if (!on) {
        arch_probe_known(site, (uintptr_t)slot, false);
    }
}

static void patch_all(void *unused)
{
    (void)unused;
    for (uint32_t n = 1; n <= slots_used; n++) {
        const struct fbt_slot *slot = slot_at(n);
        if (slot_state(slot) == GOING_ON || slot_state(slot) == GOING_OFF) {
            fbt_slot_patch(slot, slot_state(slot) == GOING_ON);
        }
    }
}

/* Applies all requests of enable() and disable(). Afterwards no CPU is in a slot that was
 * disabled. */
void fbt_settle(void)
{
    kernel_assert(kernel_locked());
    if (!pending) {
        return;
    }
    pending = false;
    cpu_run_alone(patch_all, NULL); /* one CPU: interrupts stay enabled */
    for (uint32_t n = 1; n <= slots_used; n++) {
        const struct fbt_slot *slot = slot_at(n);
        if (slot_state(slot) == GOING_ON) {
            slot_set(slot, ON);
        } else if (slot_state(slot) == GOING_OFF) {
            slot_give(slot);
        }
    }
}

/* ---- places ------------------------------------------------------------------------ */

/* Encodes both branches, if there are two: no CPU reaches the pad before the first one is in
 * place. */
static bool branches_fit(struct fbt_slot *slot, const struct fbt_place *p, uintptr_t at)
{
    uint32_t first, second;

    memcpy(&slot->original, (const void *)p->at, sizeof(slot->original));
    if (!p->pad) {
        return arch_probe_branch(&first, p->at, at, ARCH_PROBE_BYTES);
    }
    if (!arch_probe_branch(&first, p->at, p->pad, 2) ||
        !arch_probe_branch(&second, p->pad, at, 4)) {
        return false;
    }
    slot->place |= NARROW;
    slot->original = (slot->original & 0xffff) | first << 16;
    arch_text_write(p->pad, &second, sizeof(second));
    return true;
}

int fbt_place_on(uint32_t probe, const struct fbt_place *p)
{
    uint32_t number = slot_take(), from_start = (uint32_t)(p->at - (uintptr_t)__kernel_start);
    struct fbt_slot slot = {.place = from_start | (uint32_t)GOING_ON << 28,
                            .probe = (uint16_t)probe,
                            .offset = (uint16_t)p->offset};

    if (!number) {
        return -ENOSPC;
    }
    uintptr_t at = (uintptr_t)slot_at(number);
    if (!arch_probe_slot(slot.code, at, p->at, p->length, p->returns) ||
        !branches_fit(&slot, p, at)) {
        slot_give(slot_at(number));
        return -ENOTSUP;
    }
    arch_text_write(at, &slot, sizeof(slot));
    pending = true;
    return 0;
}

void fbt_place_off(const struct fbt_place *p)
{
    const struct fbt_slot *slot = slot_find(p->at);

    if (slot && slot_state(slot) == GOING_ON) {
        if (p->pad) {
            pad_clear(p->pad);
        }
        slot_give(slot);
    } else if (slot) {
        slot_set(slot, GOING_OFF);
        pending = true;
    }
}
