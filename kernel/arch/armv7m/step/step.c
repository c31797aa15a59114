/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: traps in programs (kernel/arch/step.h). The trap is a UDF of 16 bits. An instruction
 * that branches is emulated (isa/armv7m/step.h). Any other is executed at its own place: there is
 * one CPU, so the kernel puts the instruction back and a second UDF behind it, sets PRIMASK, which
 * a program can't change, and returns to it. The program's next exception is of this one
 * instruction, before anything else, a HardFault, because PRIMASK is set; then the text is again as
 * before. So no thread is ever found there, by a sample, an unwinder, or the end of the probe, no
 * other one executes the text meanwhile, and a fault of the instruction is one at its own address,
 * with the thread's own rights. No memory is needed that programs can execute and only the kernel
 * can write.
 *
 * An instruction in an IT block is executed as if it were outside, if its condition holds.
 */
#include "kernel/arch/step.h"
#include "isa/armv7m/step.h"
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"

#define REGION 32u /* the smallest region of the MPU, and the granularity of regions */
#define SLOTS 2048 /* locations: the only bound is that of the tables */
#define XPSR_FLAGS (0xfu << 28)

/* The instruction that is being executed in its location. PRIMASK is set while `at` is not NULL. */
static struct {
    volatile uint16_t *at; /* [c] NULL: none */
    uint16_t after;        /* [c] the halfword that the second trap replaces */
    uint8_t bytes;         /* [c] of the instruction */
    uint32_t insn, it;     /* [c] the instruction; the state of the IT block that it is in */
    uint32_t xpsr;         /* [c] before it */
} in_place;

static uint32_t emulated[SLOTS / 32]; /* [k] a bit for each place */
static bool faulted;        /* [c] it has faulted: the restored trap must not fire again */
static struct frame *frame; /* [c] frame of the thread that has hit a trap */

static uint16_t first_half(const struct arch_step *step, bool trap)
{
    return trap ? T2_STEP_BREAK : (uint16_t)step->insn;
}

/* A single small copy in the kernel, not on the path of a probe firing. */
static COLD enum t2_step insn_kind(uint32_t insn)
{
    return t2_step_kind(insn);
}

bool arch_step_able(const struct arch_step *step)
{
    return step->address % 2 == 0 && step->bytes == t2_step_bytes(step->insn) &&
           insn_kind(step->insn) != T2_STEP_REFUSED;
}

unsigned arch_step_slots(void)
{
    return SLOTS;
}

void arch_step_prepare(const struct arch_step *step)
{
    const uint32_t bit = 1u << step->slot % 32;
    const bool is = insn_kind(step->insn) == T2_STEP_EMULATED;

    kernel_assert(kernel_holds_lock() && step->slot < SLOTS);
    emulated[step->slot / 32] = (emulated[step->slot / 32] & ~bit) | (is ? bit : 0);
}

bool arch_step_is_there(const void *at, const struct arch_step *step, bool trap)
{
    const volatile uint16_t *half = at;

    return half[0] == first_half(step, trap) && (step->bytes == 2 || half[1] == step->insn >> 16);
}

void arch_step_write(void *at, const struct arch_step *step, bool trap)
{
    kernel_assert(kernel_holds_lock());
    *(volatile uint16_t *)at = first_half(step, trap);
}

/* Returns the stack pointer before the trap. */
static uint32_t frame_sp(const struct arch_context *ctx)
{
    return (uint32_t)(frame + 1) + (armv7m_no_fp(ctx) ? 0 : FP_FRAME_BYTES) +
           (frame->xpsr & XPSR_ALIGNED ? 4 : 0);
}

/* Four arguments are in registers, the others on the stack. */
uintptr_t arch_step_argument(const struct thread *t, unsigned n)
{
    uintptr_t word = 0;

    if (n < 4) {
        return (&frame->r0)[n];
    }
    return arch_peek(&word, frame_sp(context_of(t)) + 4 * (n - 4), sizeof(word), t) ? word : 0;
}

uintptr_t arch_step_result(const struct thread *t)
{
    (void)t;
    return frame->r0;
}

/* ---- in its place ------------------------------------------------------------------ */

static void text_written(void)
{
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

/* Returns false if nothing can be written after the instruction. */
static bool step_in_place(struct thread *self, const struct arch_step *step)
{
    volatile uint16_t *at = (volatile uint16_t *)step->address;
    const unsigned after = step->bytes / 2u, bytes = step->bytes + ARCH_STEP_AFTER;

    /* The trap was in the process's own text, and rights don't change within a region. */
    if (step->address % REGION + bytes > REGION &&
        !kernel_user_ptr(self, step->address, bytes, KYMO_PROT_EXEC | MAPPING_OWNED)) {
        return false;
    }
    in_place.bytes = step->bytes;
    in_place.insn = step->insn;
    in_place.xpsr = frame->xpsr;
    in_place.it = t2_step_it_state(frame->xpsr);
    in_place.after = at[after];
    frame->xpsr &= ~XPSR_IT_ICI;
    __asm__ volatile("cpsid i" ::: "memory");
    in_place.at = at;
    at[0] = (uint16_t)step->insn;
    at[after] = T2_STEP_END;
    text_written();
    return true;
}

/* Restores the flags and the state of an IT block after an instruction that was executed as if
 * outside. */
static void it_continue(struct frame *f)
{
    if (in_place.bytes == 2 && !t2_step_compares(in_place.insn)) {
        f->xpsr = (f->xpsr & ~XPSR_FLAGS) | (in_place.xpsr & XPSR_FLAGS);
    }
    f->xpsr = t2_step_with_it(f->xpsr, t2_step_it_next(in_place.it));
}

/* Called in HardFault. The CPU has just stacked the frame, with the thread's rights, or reports
 * that it could not. */
bool armv7m_step_left(void)
{
    volatile uint16_t *at = in_place.at;
    const unsigned after = in_place.bytes / 2u;
    const uint32_t status = CFSR;
    struct frame *f;

    if (!at) {
        return false;
    }
    at[0] = T2_STEP_BREAK;
    at[after] = in_place.after;
    in_place.at = NULL;
    text_written();
    __asm__ volatile("mrs %0, psp\n\tcpsie i" : "=r"(f)::"memory");
    faulted = status != CFSR_UNDEFINSTR || f->pc != (uintptr_t)&at[after];
    if (faulted) {
        return false;
    }
    CFSR = status;
    HFSR = HFSR_FORCED;
    if (in_place.it) {
        it_continue(f);
    }
    return true;
}

/* ---- emulated ---------------------------------------------------------------------- */

static void cpu_read(struct t2_step_cpu *cpu, const struct arch_context *ctx)
{
    for (unsigned i = 0; i < 4; i++) {
        cpu->r[i] = (&frame->r0)[i];
    }
    for (unsigned i = 0; i < 8; i++) {
        cpu->r[4 + i] = ctx->r4_r11[i];
    }
    cpu->r[12] = frame->r12;
    cpu->r[13] = frame_sp(ctx);
    cpu->r[14] = frame->lr;
    cpu->r[15] = frame->pc;
    cpu->xpsr = frame->xpsr;
}

/* The CPU derives the stack pointer from the frame's address: so the frame moves, upwards only.
 * Returns false if the thread may not write there, because an LDR can add more than it loads. */
static bool frame_move(const struct thread *self, struct arch_context *ctx, uint32_t sp)
{
    const bool has_fp = !armv7m_no_fp(ctx);
    const uint32_t bytes = sizeof(*frame) + (has_fp ? FP_FRAME_BYTES : 0);
    const uint32_t to = (sp - bytes) & ~7u;
    const uint32_t *from = (const uint32_t *)(frame + 1);
    struct frame *moved = kernel_user_ptr(self, to, bytes, KYMO_PROT_READ | KYMO_PROT_WRITE);

    ctx->psp = to;
    if (!moved) {
        return false;
    }
    if (has_fp && (FPCCR & FPCCR_LSPACT)) {
        FPCAR = (uint32_t)(moved + 1); /* not stored yet */
    } else if (has_fp) {
        for (unsigned i = FP_FRAME_BYTES / 4; i-- > 0;) {
            ((uint32_t *)(moved + 1))[i] = from[i];
        }
    }
    frame = moved;
    return true;
}

/* Returns false if there can't be a frame at the new stack pointer. */
static bool cpu_write(const struct t2_step_cpu *cpu, struct thread *self, uint32_t sp)
{
    struct arch_context *ctx = context_of(self);

    if (cpu->r[13] != sp && !frame_move(self, ctx, cpu->r[13])) {
        return false;
    }
    *frame = (struct frame){.r0 = cpu->r[0],
                            .r1 = cpu->r[1],
                            .r2 = cpu->r[2],
                            .r3 = cpu->r[3],
                            .r12 = cpu->r[12],
                            .lr = cpu->r[14],
                            .pc = cpu->r[15],
                            .xpsr = cpu->xpsr};
    frame->xpsr = (frame->xpsr & ~XPSR_ALIGNED) | (cpu->r[13] & 4 ? XPSR_ALIGNED : 0);
    for (unsigned i = 0; i < 8; i++) {
        ctx->r4_r11[i] = cpu->r[4 + i];
    }
    return true;
}

/* Makes the state of an exception after the instruction whose frame the CPU could not store. */
static struct thread *fault_frame(struct thread *self)
{
    struct arch_context *ctx = context_of(self);
    const struct arch_fault fault = {
        .signo = KYMO_SIGSEGV, .address = ctx->psp, .ip = 0, .what = "stack pointer at"};

    ctx->kind = CTX_KIND_BAD_FRAME;
    return kernel_fault(self, &fault);
}

/* Emulates a branch. Returns the thread to resume. */
static struct thread *step_jump(struct thread *self, uint32_t insn)
{
    uint32_t words[T2_STEP_WORDS], from = 0;
    struct t2_step_cpu cpu;

    cpu_read(&cpu, context_of(self));
    const uint32_t sp = cpu.r[13];
    const unsigned bytes = t2_step_loads(insn, &cpu, &from);
    if (bytes) {
        const void *at = kernel_user_ptr(self, from, bytes, KYMO_PROT_READ);
        struct arch_fault fault = {
            .signo = KYMO_SIGSEGV, .address = from, .ip = cpu.r[15], .what = "read from"};
        if (bytes >= 4 && from & 3) {
            fault.signo = KYMO_SIGBUS;
            fault.what = "unaligned access";
        } else if (at) {
            fault.signo = 0;
            __builtin_memcpy(words, at, bytes);
        }
        if (fault.signo) {
            return kernel_fault(self, &fault);
        }
    }
    t2_step_emulate(insn, &cpu, words);
    return cpu_write(&cpu, self, sp) ? self : fault_frame(self);
}

/* ---- traps ------------------------------------------------------------------------- */

/* Returns whether the condition of an IT block's instruction fails: a CPU may or may not raise the
 * trap then. */
static bool it_skips(const struct thread *self)
{
    const uint32_t it = t2_step_it_state(frame->xpsr);
    uint32_t insn = 0;

    if (!it || t2_step_holds(it >> 4, frame->xpsr)) {
        return false;
    }
    kernel_user_displaced(self, frame->pc, &insn);
    frame->pc += t2_step_bytes(insn);
    frame->xpsr = t2_step_with_it(frame->xpsr, t2_step_it_next(it));
    return true;
}

/* status: of the thread's fault, which was cleared. A thread that was interrupted within a multiple
 * transfer, where the trap is now, reaches it in a state that the trap must not have. */
struct thread *armv7m_step_break(struct thread *self, uint32_t status)
{
    struct arch_step step;

    if (faulted || (status != CFSR_UNDEFINSTR && status != CFSR_INVSTATE)) {
        faulted = false;
        return NULL;
    }
    /* The CPU has just stored the frame with the thread's rights, and read the instruction. */
    frame = (struct frame *)(uintptr_t)context_of(self)->psp;
    const uint16_t *code = status == CFSR_UNDEFINSTR
                               ? (const uint16_t *)(uintptr_t)frame->pc
                               : kernel_user_ptr(self, frame->pc, sizeof(*code), KYMO_PROT_EXEC);
    if (!code || *code != T2_STEP_BREAK || !(frame->xpsr & XPSR_THUMB)) {
        return NULL;
    }
    if (it_skips(self)) {
        return self;
    }
    if (!kernel_user_probe(self, frame->pc, &step)) {
        return NULL;
    }
    if (kernel_work_pending(arch_cpu())) {
        arch_request_exit();
    }
    if (emulated[step.slot / 32] >> step.slot % 32 & 1) {
        return step_jump(self, step.insn);
    }
    return step_in_place(self, &step) ? self : NULL;
}

void armv7m_step_half(const struct thread *user, uintptr_t at, uint16_t *half)
{
    uint32_t insn = *half;

    if (insn == T2_STEP_BREAK) {
        kernel_user_displaced(user, at, &insn);
        *half = (uint16_t)insn;
    }
}
