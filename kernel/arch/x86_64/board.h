/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the functions that the port requires of a board in addition to kernel/arch/, and those of
 * the port that a board may use.
 */
#ifndef KERNEL_ARCH_X86_64_BOARD_H
#define KERNEL_ARCH_X86_64_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/arch/cpu.h"

/* ---- the board supplies ------------------------------------------------------------ */

struct x86_region {
    uintptr_t start;
    size_t len;
};
/* Devices in the fourth GB that the kernel drives; ends with len 0. The map has them from
 * x86_map_kernel() on. */
extern const struct x86_region x86_board_devices[];
/* Ports that a program with ABILITY_DEVICE may access; ends with len 0. */
extern const struct x86_region x86_board_ports[];
/* Returns the RAM that contains the kernel's image, as far as it is contiguous. */
struct x86_region x86_board_ram(void);
/* Returns the local APIC's identifier of CPU n, below arch_cpu_count(); CPU 0 is the one that
 * boots. */
uint32_t x86_board_cpu(unsigned n);
/* Returns the physical addresses of the screen's pixels, in any range; len 0: the kernel drives no
 * screen. */
struct x86_region x86_board_screen(void);
/* Initializes the interrupt controllers: all lines masked. CPU 0, once, with the final map. */
void x86_board_irq_init(void);
/* Returns a counter of known frequency, by which the CPU's counters are calibrated; it runs for at
 * least 50 ms from its return. */
struct x86_reference {
    uint64_t (*read)(void);
    uint64_t hz;
};
struct x86_reference x86_board_reference(void);
/* Returns an alarm. Its set() makes CPU 0 get an NMI after this number of ticks, and replaces the
 * previous setting. It is called in any context, even by several CPUs at once, of which any one
 * wins. hz 0: the board has none. CPU 0, once. */
#define X86_ALARM_MOST 0x40000000u
struct x86_alarm {
    void (*set)(uint32_t ticks);
    uint64_t hz;
};
struct x86_alarm x86_board_alarm(void);
/* Called when a device's message has arrived: `line` is one from x86_message_first() on. Returns
 * false if the line is masked; the board then raises it again when it unmasks it. CPU 0. */
bool x86_board_message(unsigned line);

/* ---- the board may use ------------------------------------------------------------- */

/* The information that the loader left: the physical address of its PVH start info, or of a copy of
 * Multiboot2's information (at most LOADER_INFO_MOST bytes: kernel/arch/x86_64/shared.h). */
extern uint64_t x86_start_info;
/* Return a line's vector, and the identifier of this CPU's local APIC: the addressee of a
 * controller's interrupt. */
unsigned x86_line_vector(unsigned line);
uint32_t x86_apic_id(void);
/* Makes the CPUs use x2APIC, which reaches identifiers above X86_XAPIC_ID_MOST; lines and messages
 * still go to one up to that. Returns false if the CPU has none. CPU 0, in x86_board_irq_init(). */
#define X86_XAPIC_ID_MOST 0xfe
bool x86_apic_wide(void);
/* Messages (MSI): return the first line that is one; the address to which a device writes its
 * line's vector; the third sends the same interrupt from this CPU. All go to CPU 0. */
unsigned x86_message_first(void);
uint64_t x86_message_address(void);
void x86_message_raise(unsigned line);
/* Maps tables of the firmware, in the first 4 GB, for reading. Returns their address, or 0 if they
 * are above. Before kernel_main(), with the final map. */
uintptr_t x86_firmware(uintptr_t pa, size_t len);
/* Maps PCI's configuration space, which is in the first 4 GB, as a device's registers. Returns its
 * address. Before kernel_main(), with the final map. */
uintptr_t x86_config_space(uintptr_t pa, size_t len);
/* Returns the mapped address of x86_board_screen(), from x86_map_kernel() on. */
volatile uint32_t *x86_screen(void);
/* Stops this CPU. */
void x86_stop(void) __attribute__((noreturn));

static inline uintptr_t x86_device(uintptr_t pa)
{
    return pa + KERNEL_DEVICES;
}

/* For memory that a program will map as a device: writes cached data back. */
static inline void x86_cache_write_back(void)
{
    __asm__ volatile("wbinvd" ::: "memory");
}

static inline uint8_t x86_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline uint32_t x86_in32(uint16_t port)
{
    uint32_t value;

    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void x86_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static inline void x86_out16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}

static inline void x86_out32(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

#endif
