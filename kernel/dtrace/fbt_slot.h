/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of function probes: the code that a patched place branches to. docs/fbt.md tells what is in
 * one. Kernel lock, but for fbt_slot_of(): any context.
 */
#ifndef KERNEL_DTRACE_FBT_SLOT_H
#define KERNEL_DTRACE_FBT_SLOT_H

#include "kernel/arch/arch.h"
#include "kernel/dtrace/fbt_table.h"

/* In the text: read as data, written through arch_text_write(). */
struct fbt_slot {
    uint32_t code[ARCH_PROBE_WORDS];
    uint32_t original; /* what the branch replaces, if NARROW in the lower half and the branch in
                          the upper one; of a free slot: the next free one's number from 1 */
    uint32_t place;    /* NARROW, enum state, in 28 bits where the branch is, from __kernel_start */
    uint16_t probe;
    uint16_t offset; /* of the return; FBT_TAIL */
};
_Static_assert(sizeof(struct fbt_slot) == FBT_SLOT_BYTES, "host/fbt/main.c");
enum { FBT_TAIL = 1 }; /* the return is a jump to another function */

/* What to patch. */
struct fbt_place {
    uintptr_t at;    /* the branch */
    uintptr_t pad;   /* where it goes on from; 0: it goes to the slot */
    unsigned length; /* bytes displaced */
    unsigned offset; /* of the return instruction in the function; FBT_TAIL */
    bool returns;
};

/* From where in its slot the code goes on. */
static inline const struct fbt_slot *fbt_slot_of(const void *back)
{
    uintptr_t at = (uintptr_t)back - (uintptr_t)fbt_slots;

    return (const struct fbt_slot *)fbt_slots + at / sizeof(struct fbt_slot);
}

/* Where the branch to it is: any context. */
uintptr_t fbt_slot_site(const struct fbt_slot *);
/* Asked for until fbt_settle(), which does it all at once. ENOSPC, ENOTSUP. */
int fbt_place_on(uint32_t probe, const struct fbt_place *);
void fbt_place_off(const struct fbt_place *);
void fbt_settle(void);

#endif
