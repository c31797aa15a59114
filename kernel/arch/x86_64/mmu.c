/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own map: all RAM at KERNEL_VIRT + physical address, the kernel's devices at
 * KERNEL_DEVICES + physical address. RAM is mapped in 2 MB blocks, the range around the kernel's
 * image in pages: text read-only, constants read-only and not executable, the rest not executable,
 * and unmapped guards below the stacks. A second mapping of the text, KERNEL_TEXT_ALIAS away from
 * it, is writable: for patching only. Boot, CPU 0; the map never changes afterwards.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/board.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/x86_64/port.h"

extern char __kernel_start[], __text_end[], __rodata_end[],
    __kernel_end[]; /* ldscripts/kernel.ld */

#define KERNEL_TEXT (PTE_VALID | PTE_USED | PTE_GLOBAL)
#define KERNEL_RODATA (KERNEL_TEXT | PTE_NX)
#define KERNEL_DATA (KERNEL_RODATA | PTE_WRITE)
#define KERNEL_DEVICE (KERNEL_DATA | PTE_DEVICE)
#define FIRMWARE_MOST 0x100000000ul
#define KERNEL_TABLE (PTE_VALID | PTE_WRITE | PTE_USED)

/* Slots of displaced instructions: programs execute them at X86_STEP_SLOTS_AT, the kernel writes
 * them at this address. */
char x86_step_slots[X86_STEP_SLOTS_BYTES] __attribute__((aligned(PAGE_SIZE)));
uint64_t x86_kernel_cr3;
uintptr_t x86_linear_end;
static uintptr_t tables_end; /* physical; tables are allocated after the image */
static bool ram_given;       /* from then on there is no memory for tables */

/* Zeroed explicitly: the loader may have left anything after the image. */
static uint64_t x86_table_new(void)
{
    arch_clear(arch_phys_to_virt(tables_end), PAGE_SIZE);
    tables_end += PAGE_SIZE;
    return tables_end - PAGE_SIZE;
}

static uint64_t *x86_mmu_table_below(uint64_t *entry)
{
    if (*entry == 0) {
        *entry = x86_table_new() | KERNEL_TABLE;
    }
    return arch_phys_to_virt(*entry & PTE_ADDRESS);
}

static uint64_t *x86_level2_entry(uintptr_t va)
{
    uint64_t *top = arch_phys_to_virt(x86_kernel_cr3);
    uint64_t *level1 = x86_mmu_table_below(&top[TOP_INDEX(va)]);

    return &x86_mmu_table_below(&level1[L1_INDEX(va)])[L2_INDEX(va)];
}

static void x86_map_blocks(uintptr_t virt, uintptr_t start, uintptr_t end, uint64_t attributes)
{
    for (uintptr_t pa = start & ~(BLOCK_SIZE - 1); pa < end; pa += BLOCK_SIZE) {
        *x86_level2_entry(virt + pa) = pa | attributes | PTE_BLOCK;
    }
}

static void x86_map_page(uintptr_t va, uintptr_t pa, uint64_t attributes)
{
    x86_mmu_table_below(x86_level2_entry(va))[L3_INDEX(va)] = pa | attributes;
}

bool x86_is_stack_guard(uintptr_t va)
{
    uintptr_t offset = va - (uintptr_t)x86_stacks;
    uintptr_t emergency = va - (uintptr_t)x86_emergency_stacks;

    return (offset < sizeof(x86_stacks) && offset % sizeof(x86_stacks[0]) < KERNEL_STACK_GUARD) ||
           (emergency < sizeof(x86_emergency_stacks) &&
            emergency % sizeof(x86_emergency_stacks[0]) < KERNEL_STACK_GUARD);
}

static uint64_t x86_image_rights(uintptr_t va)
{
    if (va < (uintptr_t)__kernel_start || va >= (uintptr_t)__rodata_end) {
        return x86_is_stack_guard(va) ? 0 : KERNEL_DATA;
    }
    return va < (uintptr_t)__text_end ? KERNEL_TEXT : KERNEL_RODATA;
}

/* Maps pages from the block in which the image begins to the end of the block in which it ends. */
static void x86_map_image(uintptr_t start, uintptr_t end)
{
    for (uintptr_t pa = start; pa < end; pa += PAGE_SIZE) {
        uint64_t rights = x86_image_rights(KERNEL_VIRT + pa);

        if (rights) {
            x86_map_page(KERNEL_VIRT + pa, pa, rights);
        }
    }
    start = arch_virt_to_phys(__kernel_start);
    end = arch_virt_to_phys(__text_end);
    for (uintptr_t pa = start; pa < end; pa += PAGE_SIZE) {
        x86_map_page(KERNEL_VIRT + pa + (uintptr_t)KERNEL_TEXT_ALIAS, pa, KERNEL_DATA);
    }
}

/* The upper tables allow access by programs; everything else in them is protected by its own
 * entry. */
static void x86_map_step(void)
{
    uint64_t *top = arch_phys_to_virt(x86_kernel_cr3);
    const uintptr_t from = X86_STEP_SLOTS_AT;

    for (uintptr_t at = 0; at < X86_STEP_SLOTS_BYTES; at += PAGE_SIZE) {
        x86_map_page(from + at, arch_virt_to_phys(x86_step_slots) + at, KERNEL_TEXT | PTE_USER);
    }
    uint64_t *level1 = x86_mmu_table_below(&top[TOP_INDEX(from)]);
    top[TOP_INDEX(from)] |= PTE_USER;
    level1[L1_INDEX(from)] |= PTE_USER;
    *x86_level2_entry(from) |= PTE_USER;
}

volatile uint32_t *x86_screen(void)
{
    return (volatile uint32_t *)(KERNEL_SCREEN + x86_board_screen().start % BLOCK_SIZE);
}

void x86_map_kernel(void)
{
    struct x86_region screen = x86_board_screen(), ram = x86_board_ram();
    uintptr_t image = arch_virt_to_phys(__kernel_start) & ~(BLOCK_SIZE - 1);
    uintptr_t image_end = (arch_virt_to_phys(__kernel_end) + BLOCK_SIZE - 1) & ~(BLOCK_SIZE - 1);

    tables_end = arch_virt_to_phys(__kernel_end);
    x86_kernel_cr3 = x86_table_new();
    /* Mapped from 0 on, because the first MB has the loader's and the firmware's tables. */
    x86_map_blocks(KERNEL_VIRT, 0, image, KERNEL_DATA);
    x86_map_image(image, image_end);
    x86_map_blocks(KERNEL_VIRT, image_end, ram.start + ram.len, KERNEL_DATA);
    x86_linear_end = ram.start + ram.len;
    for (const struct x86_region *device = x86_board_devices; device->len; device++) {
        x86_map_blocks(KERNEL_DEVICES, device->start, device->start + device->len, KERNEL_DEVICE);
    }
    x86_map_blocks(KERNEL_SCREEN - (screen.start & ~(BLOCK_SIZE - 1)), screen.start,
                   screen.start + screen.len, KERNEL_DEVICE);
    x86_map_step();
    x86_space_switch(x86_kernel_cr3);
    x86_protection_on();
}

uintptr_t x86_firmware(uintptr_t pa, size_t len)
{
    kernel_assert(!ram_given);
    if (pa >= FIRMWARE_MOST || len > FIRMWARE_MOST - pa) {
        return 0;
    }
    x86_map_blocks(KERNEL_FIRMWARE, pa, pa + len, KERNEL_RODATA);
    return KERNEL_FIRMWARE + pa;
}

uintptr_t x86_config_space(uintptr_t pa, size_t len)
{
    kernel_assert(!ram_given && pa < FIRMWARE_MOST && len <= FIRMWARE_MOST - pa);
    x86_map_blocks(KERNEL_CONFIG, pa, pa + len, KERNEL_DEVICE);
    return KERNEL_CONFIG + pa;
}

void arch_ram(paddr_t *start, size_t *len)
{
    struct x86_region ram = x86_board_ram();

    ram_given = true;
    *start = tables_end;
    *len = ram.start + ram.len - tables_end;
}
