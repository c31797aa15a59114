/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own map: all RAM and the kernel's devices at KERNEL_VIRT + physical address. RAM is
 * mapped in 2 MB blocks, the range around the kernel's image in pages: text read-only, constants
 * read-only and not executable, the rest not executable, and unmapped guards below the stacks. A
 * second mapping of the text, KERNEL_TEXT_ALIAS above, is writable: for patching only. At the same
 * distance programs can execute the slots of instructions that probes have displaced in them. Boot,
 * CPU 0; the map never changes afterwards.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"

extern char __kernel_start[], __text_end[], __rodata_end[],
    __kernel_end[]; /* ldscripts/kernel.ld */

#define KERNEL_NORMAL (PTE_VALID | PTE_AF | PTE_INNER | PTE_ATTR(MAIR_NORMAL) | PTE_UXN)
#define KERNEL_DEVICE (PTE_VALID | PTE_AF | PTE_ATTR(MAIR_DEVICE) | PTE_UXN | PTE_PXN)
#define KERNEL_DATA (KERNEL_NORMAL | PTE_PXN)
#define KERNEL_RODATA (KERNEL_DATA | PTE_READONLY)
#define KERNEL_TEXT (KERNEL_NORMAL | PTE_READONLY)
#define USER_TEXT (PTE_VALID | PTE_AF | PTE_INNER | PTE_ATTR(MAIR_NORMAL) | PTE_READONLY | PTE_PXN)

char a64_step_slots[A64_STEP_SLOTS_BYTES] __attribute__((aligned(PAGE_SIZE)));

uint64_t a64_empty_ttbr0;
static uintptr_t tables_end; /* physical; tables are allocated after the image */

/* Zeroed explicitly: the loader may have left anything after the image. */
static uint64_t table_new(void)
{
    uint64_t *table = arch_phys_to_virt(tables_end);

    for (unsigned i = 0; i < PAGE_SIZE / sizeof(*table); i++) {
        table[i] = 0;
    }
    tables_end += PAGE_SIZE;
    return tables_end - PAGE_SIZE;
}

static uint64_t *mmu_table_below(uint64_t *entry)
{
    if (*entry == 0) {
        *entry = table_new() | PTE_TABLE | PTE_VALID;
    }
    return arch_phys_to_virt(*entry & PTE_ADDRESS);
}

static uint64_t *level2_entry(uint64_t *l1, uintptr_t va)
{
    return &mmu_table_below(&l1[L1_INDEX(va)])[L2_INDEX(va)];
}

static void map_blocks(uint64_t *l1, uintptr_t start, uintptr_t end, uint64_t attributes)
{
    for (uintptr_t pa = start & ~(BLOCK_SIZE - 1); pa < end; pa += BLOCK_SIZE) {
        *level2_entry(l1, KERNEL_VIRT + pa) = pa | attributes;
    }
}

static void map_page(uint64_t *l1, uintptr_t va, uintptr_t pa, uint64_t attributes)
{
    mmu_table_below(level2_entry(l1, va))[L3_INDEX(va)] = pa | attributes | PTE_TABLE;
}

bool a64_is_stack_guard(uintptr_t va)
{
    uintptr_t offset = va - (uintptr_t)a64_stacks;

    return offset < sizeof(a64_stacks) && offset % sizeof(a64_stacks[0]) < KERNEL_STACK_GUARD;
}

static uint64_t image_rights(uintptr_t va)
{
    if (va < (uintptr_t)__kernel_start || va >= (uintptr_t)__rodata_end) {
        return a64_is_stack_guard(va) ? 0 : KERNEL_DATA;
    }
    return va < (uintptr_t)__text_end ? KERNEL_TEXT : KERNEL_RODATA;
}

/* Maps pages from the block in which the image begins to the end of the block in which it ends. */
static void map_image(uint64_t *l1, uintptr_t start, uintptr_t end)
{
    for (uintptr_t pa = start; pa < end; pa += PAGE_SIZE) {
        uint64_t rights = image_rights(KERNEL_VIRT + pa);

        if (rights) {
            map_page(l1, KERNEL_VIRT + pa, pa, rights);
        }
    }
    start = arch_virt_to_phys(__kernel_start);
    end = arch_virt_to_phys(__text_end);
    for (uintptr_t pa = start; pa < end; pa += PAGE_SIZE) {
        map_page(l1, KERNEL_VIRT + KERNEL_TEXT_ALIAS + pa, pa, KERNEL_DATA);
    }
    start = arch_virt_to_phys(a64_step_slots);
    for (uintptr_t pa = start; pa < start + sizeof(a64_step_slots); pa += PAGE_SIZE) {
        map_page(l1, KERNEL_VIRT + KERNEL_TEXT_ALIAS + pa, pa, USER_TEXT);
    }
}

void a64_map_kernel(void)
{
    struct a64_region ram = a64_board_ram();
    uintptr_t image = arch_virt_to_phys(__kernel_start) & ~(BLOCK_SIZE - 1);
    uintptr_t image_end = (arch_virt_to_phys(__kernel_end) + BLOCK_SIZE - 1) & ~(BLOCK_SIZE - 1);
    uint64_t *l1;

    tables_end = arch_virt_to_phys(__kernel_end);
    a64_kernel_l1 = table_new();
    a64_empty_ttbr0 = table_new();
    l1 = arch_phys_to_virt(a64_kernel_l1);
    map_blocks(l1, ram.start, image, KERNEL_DATA);
    map_image(l1, image, image_end);
    map_blocks(l1, image_end, ram.start + ram.len, KERNEL_DATA);
    for (const struct a64_region *device = a64_board_devices; device->len; device++) {
        map_blocks(l1, device->start, device->start + device->len, KERNEL_DEVICE);
    }
    a64_map_switch(a64_kernel_l1);
    a64_write_sysreg(ttbr0_el1, a64_empty_ttbr0);
    a64_isb();
    /* Other CPUs read this before their caches are on. */
    __asm__ volatile("dc civac, %0" ::"r"(&a64_kernel_l1) : "memory");
}

void arch_ram(paddr_t *start, size_t *len)
{
    struct a64_region ram = a64_board_ram();

    *start = tables_end;
    *len = ram.start + ram.len - tables_end;
}

bool arch_device_allowed(paddr_t pa, size_t len)
{
    const struct a64_region *device = a64_board_driver_devices;

    while (device->len && (pa < device->start || pa - device->start > device->len ||
                           len > device->len - (pa - device->start))) {
        device++;
    }
    return device->len && len;
}
