/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: address spaces are eight MPU regions; virtual addresses are physical. The kernel itself
 * runs on the default map (PRIVDEFENA), processes see only their regions. Kernel lock held.
 *
 * A region is a power of two in size and aligned to its size; its subregion bits disable it in
 * eighths. Both rights fields give the kernel write access, because it loads text and fills
 * read-only buffers.
 *
 * The last region is the kernel stack's guard, which allows no access, until a process needs it as
 * its eighth region: while that process runs, kernel_stack_check() replaces the guard (systick.c).
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/panic.h"

#define RBAR_VALID 0x10u
#define RASR_ENABLE 1u
#define RASR_SIZE(log2) (((log2)-1u) << 1)
#define RASR_SRD(mask) ((mask) << 8)
#define RASR_NORMAL (1u << 19 | 1u << 17 | 1u << 16) /* write-back, allocate */
#define RASR_DEVICE (1u << 18)                       /* strongly ordered: bus errors are precise */
#define RASR_NO_ACCESS (0u << 24)
#define RASR_USER_RO (2u << 24)
#define RASR_USER_RW (3u << 24)
#define RASR_XN (1u << 28)

#define REGION_MIN 32u
#define REGION_MAX 0x40000000u
#define SUBREGIONS_FROM 256u /* smaller regions have no subregions */

#define GUARD_REGION (ARMV7M_REGIONS - 1)
#define GUARD_RASR \
    (RASR_ENABLE | RASR_SIZE(KERNEL_STACK_GUARD_LOG2) | RASR_NO_ACCESS | RASR_NORMAL | RASR_XN)

static bool region_is_free(const struct arch_aspace *as, unsigned i)
{
    return as->region[i].rasr == (i == GUARD_REGION ? GUARD_RASR : 0);
}

static void region_clear(struct arch_aspace *as, unsigned i)
{
    bool guard = i == GUARD_REGION;

    as->region[i].rbar = (guard ? (uint32_t)kernel_stack_guard : 0) | RBAR_VALID | i;
    as->region[i].rasr = guard ? GUARD_RASR : 0;
}

/* Returns the size of the smallest region that holds len bytes, as a power of two, or 0. */
static unsigned region_log2(size_t len)
{
    unsigned log2 = 5;
    if (len == 0 || len > REGION_MAX) {
        return 0;
    }
    while ((1u << log2) < len) {
        log2++;
    }
    return log2;
}

int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align)
{
    unsigned log2 = region_log2(len);
    (void)flags;
    if (log2 == 0) {
        return -ENOMEM;
    }
    size_t size = (size_t)1 << log2;
    size_t part = size >= SUBREGIONS_FROM ? size / 8 : size;
    *align = size;
    *rounded = (len + part - 1) / part * part;
    return 0;
}

int arch_aspace_create(struct arch_aspace *as)
{
    for (unsigned i = 0; i < ARMV7M_REGIONS; i++) {
        region_clear(as, i);
    }
    return 0;
}

static void mpu_reload(struct arch_aspace *as)
{
    if (armv7m_port.loaded == as) {
        armv7m_mpu_load(as);
    }
}

/* The struct may be reused for another process, which must not be mistaken for loaded. */
void arch_aspace_destroy(struct arch_aspace *as)
{
    arch_aspace_create(as);
    mpu_reload(as);
    if (armv7m_port.loaded == as) {
        armv7m_port.loaded = NULL;
    }
}

static uint32_t mpu_attributes(size_t len, unsigned flags)
{
    unsigned log2 = region_log2(len);
    size_t size = (size_t)1 << log2;
    uint32_t rasr = RASR_ENABLE | RASR_SIZE(log2);
    if (size >= SUBREGIONS_FROM) {
        unsigned used = len / (size / 8);
        rasr |= RASR_SRD(0xffu & (0xffu << used));
    }
    rasr |= (flags & KYMO_PROT_WRITE) ? RASR_USER_RW : RASR_USER_RO;
    rasr |= (flags & KYMO_PROT_EXEC) ? 0 : RASR_XN;
    return rasr | ((flags & KYMO_MAP_DEVICE) ? RASR_DEVICE : RASR_NORMAL);
}

/* Returns a free region, or ARMV7M_REGIONS if there is none. */
static unsigned region_free(const struct arch_aspace *as)
{
    unsigned i = 0;
    while (i < ARMV7M_REGIONS && !region_is_free(as, i)) {
        i++;
    }
    return i;
}

int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others)
{
    kernel_assert(kernel_holds_lock());
    size_t rounded, align;
    unsigned i = region_free(as);
    (void)others;
    if (i == ARMV7M_REGIONS || arch_map_shape(m->len, m->flags, &rounded, &align) != 0) {
        return -ENOMEM;
    }
    if (m->vaddr == 0) {
        m->vaddr = m->phys;
    }
    if (m->vaddr != m->phys || m->len != rounded || (m->phys & (align - 1)) != 0) {
        return -ENOMEM;
    }
    m->arch = i;
    as->region[i].rbar = m->phys | RBAR_VALID | i;
    as->region[i].rasr = mpu_attributes(m->len, m->flags);
    mpu_reload(as);
    return 0;
}

void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m)
{
    kernel_assert(kernel_holds_lock() && !region_is_free(as, m->arch));
    region_clear(as, m->arch);
    mpu_reload(as);
}

void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    kernel_assert(kernel_holds_lock() && !region_is_free(as, m->arch));
    as->region[m->arch].rasr = mpu_attributes(m->len, m->flags);
    mpu_reload(as);
}

/* Nothing has to be done: mapping and unmapping load at once. */
void arch_aspace_refresh(struct process *proc)
{
    (void)proc;
}

struct arch_aspace armv7m_no_memory;

void armv7m_mpu_init(void)
{
    if (((MPU_TYPE >> 8) & 0xff) < ARMV7M_REGIONS) {
        kernel_panic("this CPU has no MPU with %d regions", ARMV7M_REGIONS);
    }
    arch_aspace_create(&armv7m_no_memory);
    armv7m_mpu_load(&armv7m_no_memory);
    armv7m_port.loaded = &armv7m_no_memory;
    MPU_CTRL = MPU_CTRL_ON;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

void arch_clear(void *at, size_t len)
{
    __builtin_memset(at, 0, len);
}

/* Data and instructions share one memory: only the pipeline's prefetched instructions are
 * dropped. */
void arch_text_sync(const void *start, size_t len)
{
    (void)start;
    (void)len;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
