/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attacks. Each runs in a process of its own. What they have in common: at the next exception
 * the CPU itself, not an instruction of the program, is to write or read the process's stack.
 */
#include "test/board/armv7m/kinds.h"
#include "test/board/programs/check.h"

#include <stdlib.h>

#define NOP_CALL "mov r12, #0\n\tsvc 0\n\t"
#define WITH_SP(address, code) \
    __asm__ volatile("mov sp, %0\n\t" code "1: b 1b" ::"r"((uintptr_t)(address)) \
                     : "r12", "memory", "r0", "r1", "r2", "r3")
#define FP_USED() __asm__ volatile("vmov s0, %0" ::"r"(1) : "s0")

#define KERNEL_DATA 0x20000800u
#define NOWHERE 0x70000000u
#define PPB 0xe000e100u

static uintptr_t mapped(size_t len)
{
    struct kymo_map map = {.len = len, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    return MemMap(&map) == 0 ? (uintptr_t)map.vaddr : 0;
}

/* Whether the kernel finds memory of this process there. */
static bool owned(uintptr_t at)
{
    struct kymo_name name;

    return NameLookup((const char *)at, &name) == 0 || errno != EFAULT;
}

/* Maps 4 KB that none of the process's memory is next to: of a few pieces, one that only others of
 * them are next to, which are then unmapped. */
static uintptr_t mapped_apart(void)
{
    enum { PIECES = 4, PIECE = 4096 };
    uintptr_t pieces[PIECES], found = 0;
    bool own[PIECES][2];

    for (unsigned i = 0; i < PIECES; i++) {
        pieces[i] = mapped(PIECE);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        own[i][0] = owned(pieces[i] - 8);
        own[i][1] = owned(pieces[i] + PIECE);
        for (unsigned j = 0; j < PIECES; j++) {
            own[i][0] &= pieces[j] + PIECE != pieces[i];
            own[i][1] &= pieces[j] != pieces[i] + PIECE;
        }
        found = own[i][0] || own[i][1] ? found : pieces[i];
    }
    for (unsigned i = 0; i < PIECES; i++) {
        if (pieces[i] != found) {
            MemUnmap((void *)pieces[i], PIECE);
        }
    }
    return found;
}

static void sp_call_kernel(void)
{
    WITH_SP(KERNEL_DATA, NOP_CALL);
}
static void sp_call_nowhere(void)
{
    WITH_SP(NOWHERE, NOP_CALL);
}
static void sp_call_zero(void)
{
    WITH_SP(0, NOP_CALL);
}
static void sp_call_ppb(void)
{
    WITH_SP(PPB, NOP_CALL);
}
static void sp_call_text(void)
{
    WITH_SP((uintptr_t)&sp_call_kernel & ~7u, NOP_CALL);
}
static void sp_undefined(void)
{
    WITH_SP(NOWHERE, "udf #0\n\t");
}
static void sp_breakpoint(void)
{
    WITH_SP(NOWHERE, "bkpt 0xab\n\t");
}
/* No exception of its own: the next interrupt stacks. */
static void sp_interrupt(void)
{
    WITH_SP(NOWHERE, "");
}
static void sp_interrupt_kernel(void)
{
    WITH_SP(KERNEL_DATA, "");
}
static void sp_interrupt_text(void)
{
    WITH_SP((uintptr_t)&sp_call_kernel & ~7u, "");
}
static void sp_low(void)
{
    WITH_SP(mapped_apart() + 16, NOP_CALL);
}
static void sp_low_fp(void)
{
    uintptr_t low = mapped_apart();
    FP_USED();
    WITH_SP(low + 64, NOP_CALL);
}
/* The basic frame fits, what lazy stacking writes later is above the mapping. */
static void sp_high_fp(void)
{
    uintptr_t low = mapped_apart();
    FP_USED();
    WITH_SP(low + 4096 + 48, "2: mov r12, #90\n\tsvc 0\n\tb 2b\n\t");
}
static void sp_odd(void)
{
    __asm__ volatile("sub sp, #4\n\t" NOP_CALL "add sp, #4" ::
                         : "r0", "r1", "r2", "r3", "r12", "memory");
}

/* ---- a thread that waits, and what others of its process do to its frame ----------- */

#define STACK 4096
static sync_t door;

static void *wait_at_door(void *arg)
{
    (void)arg;
    SyncSemWait(&door, 0);
    exit(0);
}

static uintptr_t waiting_thread(void)
{
    uintptr_t stack = mapped(STACK);
    struct _thread_attr attr = {
        .policy = SCHED_NOCHANGE, .priority = 11, .stackaddr = (void *)stack, .stacksize = STACK};

    SyncTypeCreate(SYNC_SEM, &door, NULL);
    ThreadCreate(0, wait_at_door, NULL, &attr);
    return stack;
}

static void fill_and_wake(uint32_t word)
{
    volatile uint32_t *stack = (volatile uint32_t *)waiting_thread();
    for (unsigned i = 0; i < STACK / 4; i++) {
        stack[i] = word;
    }
    SyncSemPost(&door);
}
static void frame_ones(void)
{
    fill_and_wake(0xffffffff);
}
static void frame_zeros(void)
{
    fill_and_wake(0);
}
static void frame_kernel(void)
{
    fill_and_wake(KERNEL_DATA);
}
/* As xPSR: to handler mode, in an SVC. */
static void frame_handler(void)
{
    fill_and_wake(0x0100000b);
}
static void frame_exc_return(void)
{
    fill_and_wake(0xfffffff1);
}
static void frame_unmapped(void)
{
    uintptr_t stack = waiting_thread();
    MemUnmap((void *)stack, STACK);
    SyncSemPost(&door);
}

/* ---- instructions ------------------------------------------------------------------ */

static void privileged_registers(void)
{
    /* All ignored at user level. */
    __asm__ volatile("cpsid i\n\tcpsid f\n\tmovs r0, #0\n\tmsr control, r0\n\tmsr basepri, r0\n\t"
                     "msr msp, r0\n\tmsr psp, r0\n\tisb" ::
                         : "r0", "memory");
    sleep_ms(1);
}
static void jump_exc_return(void)
{
    __asm__ volatile("bx %0" ::"r"(0xfffffff1u));
}
static void other_svc(void)
{
    __asm__ volatile("mov r12, #0\n\tsvc 255" ::: "r0", "r1", "r2", "r3", "r12", "memory");
}
static void software_trigger(void)
{
    *(volatile uint32_t *)0xe000ef00u = 9;
}
static void bit_band(void)
{
    *(volatile uint32_t *)0x22000000u = 1;
}
static void hold_fp(void)
{
    exit(fp_rounds(7, 100) != 0);
}
static void fresh_fp(void)
{
    exit(fp_not_zero() != 0);
}

#define SEGV KYMO_SIGSEGV
#define BUS KYMO_SIGBUS
#define ILL KYMO_SIGILL
const struct kind kinds[] = {
    {"sp_call_kernel", sp_call_kernel, SEGV, 0},
    {"sp_call_nowhere", sp_call_nowhere, SEGV, 0},
    {"sp_call_zero", sp_call_zero, SEGV, 0},
    {"sp_call_ppb", sp_call_ppb, SEGV, BUS},
    {"sp_call_text", sp_call_text, SEGV, 0},
    {"sp_undefined", sp_undefined, SEGV, 0},
    {"sp_breakpoint", sp_breakpoint, SEGV, 0},
    {"sp_interrupt", sp_interrupt, SEGV, 0},
    {"sp_interrupt_kernel", sp_interrupt_kernel, SEGV, 0},
    {"sp_interrupt_text", sp_interrupt_text, SEGV, 0},
    {"sp_low", sp_low, SEGV, 0},
    {"sp_low_fp", sp_low_fp, SEGV, 0},
    {"sp_high_fp", sp_high_fp, SEGV, 0},
    {"sp_odd", sp_odd, 0, 0},
    {"frame_ones", frame_ones, SEGV, ILL},
    {"frame_zeros", frame_zeros, SEGV, ILL},
    {"frame_kernel", frame_kernel, SEGV, ILL},
    {"frame_handler", frame_handler, SEGV, ILL},
    {"frame_exc_return", frame_exc_return, SEGV, ILL},
    {"frame_unmapped", frame_unmapped, SEGV, 0},
    {"privileged_registers", privileged_registers, 0, 0},
    {"jump_exc_return", jump_exc_return, SEGV, ILL},
    {"other_svc", other_svc, 0, 0},
    {"software_trigger", software_trigger, BUS, SEGV},
    {"bit_band", bit_band, SEGV, BUS},
    {"fp", hold_fp, 0, 0},
    {"fp_fresh", fresh_fp, 0, 0},
};
const unsigned kinds_count = COUNT(kinds);
