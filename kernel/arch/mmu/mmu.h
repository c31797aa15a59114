/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the ports with an MMU: the operations of an MMU that pages.c uses. The port's header
 * ARCH_PAGES_H, which scripts/board.mk names, has the bits of an entry and the inlines below. Not a
 * topic of the port interface: only pages.c and these ports include it.
 */
#ifndef KERNEL_ARCH_MMU_MMU_H
#define KERNEL_ARCH_MMU_MMU_H

#include "kernel/arch/aspace.h"

#define PAGE_SIZE 4096ul
#define BLOCK_SIZE 0x200000ul
/* Bounds of program addresses: accesses near a null pointer fault, and addresses fit 32 bits. */
#define USER_LOW 0x10000ul
#define USER_HIGH 0xf0000000ul
#define L1_INDEX(va) (((va) >> 30) & 511)
#define L2_INDEX(va) (((va) >> 21) & 511)
#define L3_INDEX(va) (((va) >> 12) & 511)

/*
 * ARCH_PAGES_H defines
 *   PTE_ADDRESS          the bits of an entry that are an address
 *   PTE_TO_TABLE         the other bits of an entry that leads to a table
 *   PTE_IGNORED_SHIFT    the first of ten bits of such an entry that the CPU ignores
 * and the members of struct arch_aspace that pages.c uses: search_from.
 */
#include ARCH_PAGES_H

/* Returns the table whose entries map 1 GB each. */
static inline uint64_t *pages_level1(const struct arch_aspace *as);
/* Return the bits other than the address of a page's entry, by KYMO_PROT_* and KYMO_MAP_*; and the
 * entry of a block, from that of its first page. */
static inline uint64_t pages_attributes(uint32_t flags);
static inline uint64_t pages_as_block(uint64_t page);
/* The first is called when a new table was zeroed, before an entry leads to it; the second when
 * entries were set, before they are used. */
static inline void pages_zeroed(void);
static inline void pages_set_done(void);
/* Returns the physical address that a load or store at va would access, by a program or the kernel,
 * or 0 if it would fault or hit a device. */
static inline uint64_t pages_translate(uintptr_t va, bool user, bool write);
/* Returns whether this context's space is the CPU's present one. */
static inline bool pages_loaded(const struct arch_context *ctx);
/* Called when entries of these addresses were cleared or changed: when these return, no CPU's TLB
 * has the old entries. Kernel lock held. */
void pages_tlb_drop_space(const struct arch_aspace *as);
void pages_tlb_drop_range(const struct arch_aspace *as, uintptr_t va, size_t len);

#endif
