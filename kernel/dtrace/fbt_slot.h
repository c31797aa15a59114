/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of function probes: the code to which a patched location branches. docs/inside/fbt.md
 * describes a slot's content. Kernel lock, except fbt_slot_of(): any context.
 */
#ifndef KERNEL_DTRACE_FBT_SLOT_H
#define KERNEL_DTRACE_FBT_SLOT_H

#include "kernel/arch/probe.h"
#include "kernel/dtrace/fbt_table.h"

/* A slot. It is in executable memory: read as data, written through arch_text_write(). */
struct fbt_slot {
    uint32_t code[ARCH_PROBE_WORDS];
    /* the replaced instruction; if NARROW, that in the lower half and the branch in the upper; in a
     * free slot the number of the next free one, from 1 */
    uint32_t original;
    /* NARROW, enum state, and in 28 bits the branch's offset from __kernel_start */
    uint32_t place;
    uint16_t probe;
    uint16_t offset; /* twice the offset of the return, or FBT_TAIL */
};
_Static_assert(sizeof(struct fbt_slot) == FBT_SLOT_BYTES, "host/fbt/main.c");
enum { FBT_TAIL = 1 }; /* the return is a jump to another function */

/* A location to patch. */
struct fbt_place {
    uintptr_t at; /* address of the branch */
    /* address of its pad, which branches to the slot; 0: the branch reaches the slot itself */
    uintptr_t pad;
    unsigned length; /* bytes displaced */
    unsigned offset; /* twice that of the return instruction in the function, or FBT_TAIL */
    bool returns;
};

/* Returns the slot. back: the address in it where execution continues. */
static inline const struct fbt_slot *fbt_slot_of(const void *back)
{
    uintptr_t at = (uintptr_t)back - (uintptr_t)fbt_slots;

    return (const struct fbt_slot *)fbt_slots + at / sizeof(struct fbt_slot);
}

/* Likewise, for the address that kernel_probe_entry() or _return() gets. */
static inline const struct fbt_slot *fbt_slot_fired(const void *back, bool returns)
{
    uintptr_t distance = arch_probe_back(returns);

    return distance ? (const struct fbt_slot *)((uintptr_t)back - distance) : fbt_slot_of(back);
}

/* Returns the address of the branch to a slot. Any context. */
uintptr_t fbt_slot_site(const struct fbt_slot *);
/* Request a change; fbt_settle() applies all requests at once. Errors: ENOSPC, ENOTSUP. */
int fbt_place_on(uint32_t probe, const struct fbt_place *);
void fbt_place_off(const struct fbt_place *);
void fbt_settle(void);

#endif
