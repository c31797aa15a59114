/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path from boot.S to the portable kernel: segments, system registers, names and ELF kind of
 * this port. Boot only.
 */
#include "kernel/arch/board.h"
#include "kernel/arch/coroutine.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/lapic.h"
#include "kernel/arch/x86_64/port.h"

#define EM_X86_64 62

_Static_assert(CONFIG_CPUS <= X86_MAX_CPUS, "entry code");

uint64_t x86_start_info;
struct x86_cpu x86_cpus[CONFIG_CPUS];
char x86_stacks[CONFIG_CPUS + 1][KERNEL_STACK_GUARD + KERNEL_STACK_SIZE]
    __attribute__((aligned(KERNEL_STACK_GUARD)));
/* Stacks for exceptions that must not use the stack that they interrupt: see port.h. */
char x86_emergency_stacks[EMERGENCY_STACKS * CONFIG_CPUS][KERNEL_STACK_GUARD + EMERGENCY_STACK_SIZE]
    __attribute__((aligned(KERNEL_STACK_GUARD)));

/* ---- segments ---------------------------------------------------------------------- */

struct gate {
    uint16_t low, selector;
    uint8_t ist, type;
    uint16_t middle;
    uint32_t high, reserved;
};
static struct gate idt[256] __attribute__((aligned(16))); /* [I] */

#define GATE_INTERRUPT 0x8e
#define GATE_USER 0x60 /* a program may use the instruction */
enum { VECTOR_DOUBLE = 8, VECTOR_MACHINE_CHECK = 18 };

#define MSR_SYSENTER_CS 0x174
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100
#define MSR_KERNEL_GS_BASE 0xc0000102
#define FLAGS_CLEARED 0x47700 /* AC, NT, IOPL, DF, IF, TF in the kernel */

static void idt_fill(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uintptr_t at = (uintptr_t)x86_vectors + 16 * i;
        bool fatal = i == VECTOR_DOUBLE || i == VECTOR_MACHINE_CHECK;

        idt[i] = (struct gate){
            .low = (uint16_t)at,
            .selector = SEL_KERNEL_CODE,
            .ist = i == VECTOR_NMI ? 1 + EMERGENCY_NMI
                   : fatal         ? 1 + EMERGENCY_FATAL
                                   : 0,
            .type = GATE_INTERRUPT | (i == VECTOR_BREAKPOINT ? GATE_USER : 0),
            .middle = (uint16_t)(at >> 16),
            .high = (uint32_t)(at >> 32),
        };
    }
}

static void table_load(const char *which, const void *at, size_t bytes)
{
    struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) pointer = {(uint16_t)(bytes - 1), (uintptr_t)at};

    if (which[0] == 'g') {
        __asm__ volatile("lgdt %0" ::"m"(pointer));
    } else {
        __asm__ volatile("lidt %0" ::"m"(pointer));
    }
}

static void tss_fill(struct x86_cpu *cpu, unsigned n)
{
    uintptr_t at = (uintptr_t)&cpu->tss;
    const size_t limit = sizeof(cpu->tss) - 1;

    cpu->tss.rsp[0] = cpu->stack_top;
    for (unsigned i = 0; i < EMERGENCY_STACKS; i++) {
        cpu->tss.ist[i] = (uintptr_t)x86_emergency_stacks[EMERGENCY_STACKS * n + i] +
                          sizeof(x86_emergency_stacks[0]);
    }
    cpu->tss.iomap = X86_PORTS_NONE;
    __builtin_memset(cpu->tss.ports, 0xff, sizeof(cpu->tss.ports));
    for (const struct x86_region *ports = x86_board_ports; ports->len; ports++) {
        for (size_t port = ports->start; port < ports->start + ports->len; port++) {
            cpu->tss.ports[port / 8] &= (uint8_t) ~(1u << port % 8);
        }
    }
    cpu->gdt[SEL_TSS / 8] = (limit & 0xffff) | (at & 0xffffff) << 16 | 0x89ul << 40 |
                            (limit >> 16) << 48 | (at >> 24 & 0xff) << 56;
    cpu->gdt[SEL_TSS / 8 + 1] = at >> 32;
}

void x86_cpu_load(unsigned n)
{
    struct x86_cpu *cpu = &x86_cpus[n];

    cpu->own = cpu;
    cpu->bit = 1u << n;
    cpu->space = x86_cr3();
    cpu->self = kernel_cpu_at(n);
    cpu->stack_top = (uintptr_t)x86_stacks[n + 1];
    cpu->gdt[SEL_KERNEL_CODE / 8] = 0x00af9b000000ffff;
    cpu->gdt[SEL_KERNEL_DATA / 8] = 0x00cf93000000ffff;
    cpu->gdt[SEL_USER_DATA / 8] = 0x00cff3000000ffff;
    cpu->gdt[SEL_USER_CODE / 8] = 0x00affb000000ffff;
    tss_fill(cpu, n);
    table_load("gdt", cpu->gdt, sizeof(cpu->gdt));
    table_load("idt", idt, sizeof(idt));
    __asm__ volatile("ltr %w0" ::"r"(SEL_TSS));
    /* There is no local table: a reset leaves one of 64 KB at address 0, in a program's memory. */
    __asm__ volatile("lldt %w0" ::"r"(0));
    x86_wrmsr(MSR_FS_BASE, 0);
    x86_wrmsr(MSR_GS_BASE, (uintptr_t)cpu);
    x86_wrmsr(MSR_KERNEL_GS_BASE, 0); /* the program's value, until SWAPGS */
    x86_wrmsr(MSR_STAR, (uint64_t)(SEL_USER_BASE | 3) << 48 | (uint64_t)SEL_KERNEL_CODE << 32);
    x86_wrmsr(MSR_LSTAR, (uintptr_t)x86_syscall);
    x86_wrmsr(MSR_FMASK, FLAGS_CLEARED);
    x86_wrmsr(MSR_SYSENTER_CS, 0);
}

/* ---- features of the CPU ----------------------------------------------------------- */

#define CR4_MCE 0x40ul
#define CR4_PGE 0x80ul
#define CR4_UMIP 0x800ul
#define CR4_PCIDE 0x20000ul
#define CR4_SMEP 0x100000ul
#define CR4_SMAP 0x200000ul

#define CPUID_1_ECX_PCID 0x20000u

/* CONFIG_PCID is set in board.mk. All CPUs are assumed to be like the first. */
static void x86_features_find(void)
{
    uint32_t features[4];

    x86_cpuid(1, features);
    x86_pcid_begin(CONFIG_PCID && features[2] & CPUID_1_ECX_PCID);
}

/* The kernel never uses a program's addresses (it has all RAM at its own), so it needs no STAC.
 * PCIDs may be enabled while PCID 0 is in use. */
void x86_protection_on(void)
{
    uint32_t known[4], features[4] = {0};
    uint64_t cr4;

    x86_cpuid(0, known);
    if (known[0] >= 7) {
        x86_cpuid(7, features);
    }
    __asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
    cr4 |= CR4_PGE | CR4_MCE; /* every 64-bit CPU has both */
    cr4 |= features[1] & 1u << 7 ? CR4_SMEP : 0;
    cr4 |= features[1] & 1u << 20 ? CR4_SMAP : 0;
    cr4 |= features[2] & 1u << 2 ? CR4_UMIP : 0;
    cr4 |= x86_pcid_used() ? CR4_PCIDE : 0;
    __asm__ volatile("mov %0, %%cr4" ::"r"(cr4));
}

const char *arch_cpu_name(void)
{
    static char name[49];
    uint32_t *words = (uint32_t *)(void *)name;
    uint32_t known[4];

    x86_cpuid(0x80000000, known);
    if (known[0] < 0x80000004) {
        return "x86-64";
    }
    for (unsigned i = 0; i < 3; i++) {
        x86_cpuid(0x80000002 + i, &words[4 * i]);
    }
    return name;
}

/* ---- start ------------------------------------------------------------------------- */

struct thread *x86_start(uint64_t start_info)
{
    x86_start_info = start_info;
    kernel_stack_fill();
    retain_boot();
    arch_board_init();
    idt_fill();
    x86_cpu_load(0);
    x86_features_find();
    x86_map_kernel();
    x86_lapic_begin();
    x86_board_irq_init();
    x86_apic_cpu_init();
    x86_timer_calibrate();
    x86_sample_init();
    return kernel_main();
}

void arch_kernel_stack(unsigned n, uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)x86_stacks[n] + KERNEL_STACK_GUARD;
    *high = (uintptr_t)x86_stacks[n + 1];
}

void arch_long_stack(uintptr_t *low, uintptr_t *high)
{
    arch_kernel_stack(CONFIG_CPUS, low, high);
}

uint16_t arch_elf_machine(void)
{
    return EM_X86_64;
}
