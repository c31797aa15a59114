/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: decodes the fault registers. A fault of a thread goes to kernel_fault(), which ends its
 * process. A fault of the kernel is a panic, except at the few instructions in the fixup table that
 * access user memory with the user's rights.
 *
 * A fault that the CPU could not take as such (a breakpoint without a debugger) is taken as
 * HardFault, above every interrupt. HardFault only pends a memory fault, so that the kernel runs at
 * that fault's level, unless a program has executed an instruction that a trap had displaced
 * (step/step.c).
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/stack.h"

struct fixup {
    uint32_t insn, target;
};
extern const struct fixup __fixups_start[], __fixups_end[];

#define FAULTS_PENDED \
    (SHCSR_SVCALLPENDED | SHCSR_MEMFAULTPENDED | SHCSR_BUSFAULTPENDED | SHCSR_USGFAULTPENDED)
#define STACKING (CFSR_MSTKERR | CFSR_STKERR | CFSR_MUNSTKERR | CFSR_UNSTKERR)

/* Bits that a kernel access with the user's rights can set. The other bits may be a thread's own
 * fault that is still pending: an interrupt handler that fails to read a wild stack must not hide
 * it. */
#define ACCESS \
    (CFSR_DACCVIOL | CFSR_MMARVALID | CFSR_PRECISERR | CFSR_BFARVALID | CFSR_MLSPERR | \
     CFSR_LSPERR | CFSR_UNALIGNED)

/* Reads and clears the fault registers, and clears any other exception that the same instruction
 * pended. */
static uint32_t take_status(void)
{
    uint32_t status = CFSR;
    CFSR = status;
    HFSR = HFSR_FORCED | HFSR_DEBUGEVT;
    uintptr_t state = arch_irq_save();
    SHCSR &= ~FAULTS_PENDED;
    arch_irq_restore(state);
    return status;
}

/* Bit 4 of the first halfword means "load" in all 32-bit loads and stores; in the 16-bit ones bit
 * 11 does, except for register offsets (5xxx: the last five of eight) and push. */
static bool instruction_stores(const struct thread *t, uintptr_t ip)
{
    const uint16_t *code = kernel_user_ptr(t, ip, 2, KYMO_PROT_EXEC);
    if (!code) {
        return false;
    }
    uint16_t half = *code;
    armv7m_step_half(t, ip, &half);
    if ((half & 0xf800) >= 0xe800) {
        return (half & 0x10) == 0;
    }
    if ((half & 0xf000) == 0x5000) {
        return (half & 0x0e00) < 0x0600;
    }
    return (half & 0x0800) == 0;
}

struct reason {
    uint32_t bits;
    int signo;
    const char *what;
};

/* Reasons by importance: the first bit set decides. NULL: "read from" or "write to". */
static const struct reason reasons[] = {
    {CFSR_MSTKERR | CFSR_STKERR, KYMO_SIGSEGV, "stack pointer at"},
    {CFSR_MUNSTKERR | CFSR_UNSTKERR, KYMO_SIGSEGV, "stack pointer at"},
    {CFSR_MLSPERR | CFSR_LSPERR, KYMO_SIGSEGV, "stack pointer at"},
    {CFSR_IACCVIOL, KYMO_SIGSEGV, "jump to"},
    {CFSR_DACCVIOL, KYMO_SIGSEGV, NULL},
    {CFSR_IBUSERR, KYMO_SIGBUS, "jump to"},
    {CFSR_PRECISERR, KYMO_SIGBUS, NULL},
    {CFSR_IMPRECISERR, KYMO_SIGBUS, "bus error"},
    {CFSR_UNDEFINSTR, KYMO_SIGILL, "undefined instruction"},
    {CFSR_INVSTATE, KYMO_SIGILL, "jump to ARM code, or bad return state"},
    {CFSR_INVPC, KYMO_SIGILL, "bad return state"},
    {CFSR_NOCP, KYMO_SIGILL, "coprocessor instruction"},
    {CFSR_UNALIGNED, KYMO_SIGBUS, "unaligned access"},
    {CFSR_DIVBYZERO, KYMO_SIGFPE, "division by zero"},
    {0, KYMO_SIGILL, "breakpoint"},
};

static const struct reason *reason_of(uint32_t status)
{
    const struct reason *r = reasons;
    while (r->bits != 0 && (r->bits & status) == 0) {
        r++;
    }
    return r;
}

static uintptr_t fault_address(uint32_t status, const struct arch_context *ctx, uintptr_t ip,
                               uint32_t mmfar, uint32_t bfar)
{
    if (status & (STACKING | CFSR_MLSPERR | CFSR_LSPERR)) {
        return ctx->psp;
    }
    if (status & CFSR_MMARVALID) {
        return mmfar;
    }
    return (status & CFSR_BFARVALID) ? bfar : ip;
}

/* Called by armv7m_fault. Returns the thread to resume. */
struct thread *armv7m_thread_fault(struct thread *self)
{
    uint32_t mmfar = MMFAR, bfar = BFAR;
    uint32_t status = take_status();
    struct thread *first = armv7m_boot(self);
    first = first ? first : armv7m_step_break(self, status);
    if (first) {
        return first;
    }
    /* After a stacking error psp does not point to a frame, but perhaps to the thread's own
     * data. */
    struct arch_fault fault = {.ip = (status & STACKING) ? 0 : arch_context_ip(self)};
    if (status & STACKING) {
        context_of(self)->kind = CTX_KIND_BAD_FRAME;
    }
    const struct reason *r = reason_of(status);
    fault.signo = r->signo;
    fault.address = fault_address(status, context_of(self), fault.ip, mmfar, bfar);
    fault.what = r->what;
    if (!fault.what) {
        fault.what = instruction_stores(self, fault.ip) ? "write to" : "read from";
    }
    return kernel_fault(self, &fault);
}

/* Called by armv7m_resume: the thread's frame can't be written or was lost. */
struct thread *armv7m_bad_frame(struct thread *t)
{
    struct arch_context *ctx = context_of(t);
    ctx->kind = CTX_KIND_INTERRUPTED;
    struct arch_fault fault = {
        .signo = KYMO_SIGSEGV, .address = ctx->psp, .ip = 0, .what = "stack pointer at"};
    return kernel_fault(t, &fault);
}

void armv7m_thread_hardfault(void)
{
    if (!armv7m_step_left()) {
        SHCSR |= SHCSR_MEMFAULTPENDED;
    }
}

/*
 * The stack pointer is below the stack, at sp, so the CPU could not store the frame: of the
 * interrupted function's registers only r4-r11 are known. The innermost return address on the stack
 * is reported as its pc.
 */
void armv7m_stack_overflow(uintptr_t sp, const uint32_t *r4_r11)
{
    uint64_t registers[KYMO_PANIC_ARM_COUNT];
    const uintptr_t *word = (const uintptr_t *)kernel_stack_low;
    uintptr_t back = 0;

    armv7m_exception_registers(registers, NULL, r4_r11);
    while (word < (const uintptr_t *)kernel_stack_top && back == 0) {
        uintptr_t found = *word++;

        back = arch_return_address(&found, NULL) ? found : 0;
    }
    registers[KYMO_PANIC_ARM_pc] = back;
    registers[KYMO_PANIC_ARM_sp] = (uintptr_t)word;
    kernel_panic_at(KYMO_PANIC_FAULT, registers,
                    "kernel stack overflow: sp %08lx, near pc %08lx, cfsr %08lx mmfar %08lx",
                    (unsigned long)sp, (unsigned long)back, CFSR, MMFAR);
}

/* frame: on the kernel stack. Runs at the level of the fault, possibly above all interrupts. */
void armv7m_kernel_fault(struct frame *frame, const uint32_t *r4_r11)
{
    uint64_t registers[KYMO_PANIC_ARM_COUNT];

    for (const struct fixup *f = __fixups_start; f < __fixups_end; f++) {
        if ((f->insn & ~1u) == frame->pc) {
            frame->pc = f->target & ~1u;
            frame->xpsr &= ~XPSR_IT_ICI;
            CFSR = ACCESS;
            HFSR = HFSR_FORCED | HFSR_DEBUGEVT;
            return;
        }
    }
    armv7m_exception_registers(registers, frame, r4_r11);
    kernel_panic_at(KYMO_PANIC_FAULT, registers,
                    "fault in the kernel: pc %08lx lr %08lx sp %p cfsr %08lx hfsr %08lx "
                    "mmfar %08lx bfar %08lx",
                    frame->pc, frame->lr, (void *)frame, CFSR, HFSR, MMFAR, BFAR);
}
