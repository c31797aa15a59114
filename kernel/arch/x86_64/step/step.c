/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: traps in programs (kernel/arch/step.h). The trap is INT3, one byte. What branches is
 * emulated (isa/x86_64/effect.h). Any other instruction is executed in a slot of its own, in a page
 * that programs can execute and only the kernel can write: the instruction, and INT3 up to the
 * slot's end. An operand that counts from the instruction's end gets another displacement.
 *
 * Meanwhile the program runs with interrupts masked, which it can neither do nor undo. So the
 * thread leaves the slot by an exception of this one instruction, on this CPU, before anything else
 * happens: an unwinder, another CPU, or the end of its probe never finds a thread in a slot; an NMI
 * is reported at the instruction's original address (x86_step_origin()). If the instruction itself
 * faults, the fault is reported at its original address, too.
 */
#include "kernel/arch/step.h"
#include "abi/sys/kymo.h"
#include "isa/x86_64/effect.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"
#include "kernel/arch/x86_64/port.h"

#define SLOT_BYTES 16
#define SLOTS (X86_STEP_SLOTS_BYTES / SLOT_BYTES)
_Static_assert(SLOT_BYTES > ARCH_STEP_MOST && ARCH_STEP_MOST == X86_INSN_MOST, "room for a trap");

/* [k] data of the slots; handlers read that of a site, which is set before the site. */
static struct {
    uintptr_t from; /* original address of the instruction */
    struct x86_step insn;
} slots[SLOTS];

static uintptr_t x86_slot_address(unsigned slot)
{
    return X86_STEP_SLOTS_AT + slot * SLOT_BYTES;
}

/* Returns the address of an operand that is relative to the instruction's end. */
static uintptr_t near_target(const struct arch_step *step, const struct x86_step *insn)
{
    int32_t distance;

    __builtin_memcpy(&distance, step->code + insn->near, sizeof(distance));
    return step->address + insn->length + (uintptr_t)(intptr_t)distance;
}

/* Returns whether the operand is within reach of any slot. */
static bool is_within_reach(uintptr_t target)
{
    const intptr_t first = (intptr_t)(target - X86_STEP_SLOTS_AT);
    const intptr_t last = first - X86_STEP_SLOTS_BYTES;

    return first == (int32_t)first && last == (int32_t)last;
}

bool arch_step_able(const struct arch_step *step)
{
    if (step->bytes > sizeof(step->code)) {
        return false;
    }
    const struct x86_step insn = x86_step_read(step->code, step->bytes);

    return insn.length == step->bytes && insn.kind >= X86_STEP_MOVED &&
           (!insn.near || is_within_reach(near_target(step, &insn)));
}

unsigned arch_step_slots(void)
{
    return SLOTS;
}

void arch_step_prepare(const struct arch_step *step)
{
    kernel_assert(kernel_holds_lock() && step->slot < SLOTS);
    const struct x86_step insn = x86_step_read(step->code, step->bytes);
    char *slot = x86_step_slots + step->slot * SLOT_BYTES;

    slots[step->slot].from = step->address;
    slots[step->slot].insn = insn;
    __builtin_memset(slot, X86_BREAKPOINT, SLOT_BYTES);
    if (insn.kind == X86_STEP_MOVED) {
        __builtin_memcpy(slot, step->code, insn.length);
    }
    if (insn.near) {
        const int32_t distance =
            (int32_t)(near_target(step, &insn) - x86_slot_address(step->slot) - insn.length);
        __builtin_memcpy(slot + insn.near, &distance, sizeof(distance));
    }
    arch_text_sync(slot, SLOT_BYTES);
}

/* A trap is one byte: only that byte is restored, whatever follows it. */
bool arch_step_is_there(const void *at, const struct arch_step *step, bool trap)
{
    const volatile uint8_t *text = at;

    if (trap) {
        return *text == X86_BREAKPOINT;
    }
    for (unsigned n = 0; n < step->bytes; n++) {
        if (text[n] != step->code[n]) {
            return false;
        }
    }
    return true;
}

/* It is one byte: another CPU that fetched the text before finds its site or the instruction. */
void arch_step_write(void *at, const struct arch_step *step, bool trap)
{
    kernel_assert(kernel_holds_lock());
    *(volatile uint8_t *)at = trap ? X86_BREAKPOINT : step->code[0];
}

uintptr_t arch_step_argument(const struct thread *t, unsigned n)
{
    static const uint8_t registers[] = {RDI, RSI, RDX, RCX, 8, 9};

    return n < sizeof(registers) ? x86_context(t)->r[registers[n]] : 0;
}

uintptr_t arch_step_result(const struct thread *t)
{
    return x86_context(t)->r[RAX];
}

static struct thread *x86_step_exit(struct thread *self)
{
    return kernel_work_pending(arch_cpu()) ? kernel_exit(self) : self;
}

/* ---- emulation ----------------------------------------------------------------------- */

static bool is_canonical(uintptr_t va)
{
    return (uintptr_t)((intptr_t)(va << 16) >> 16) == va;
}

/* Reports the CPU's fault for an address that no table can map: by way of the stack or not. */
static struct thread *fault_impossible(struct thread *self, uintptr_t ip, bool stack)
{
    const struct arch_fault fault = {.ip = ip,
                                     .address = ip,
                                     .signo = stack ? KYMO_SIGBUS : KYMO_SIGSEGV,
                                     .what = stack ? "impossible stack address near"
                                                   : "access to an impossible address near"};
    return kernel_fault(self, &fault);
}

/* Reports a failed access of 8 bytes. */
static struct thread *fault_access(struct thread *self, uintptr_t ip, uintptr_t at, bool write,
                                   bool stack)
{
    if (!is_canonical(at)) {
        return fault_impossible(self, ip, stack);
    }
    struct arch_fault fault = {
        .ip = ip, .address = at, .signo = KYMO_SIGSEGV, .what = write ? "write to" : "read from"};

    if (pages_translate(at, true, write)) {
        fault.address = (at | (PAGE_SIZE - 1)) + 1; /* the next page */
    }
    return kernel_fault(self, &fault);
}

static bool is_by_stack(const struct x86_step *insn)
{
    return insn->op == X86_OP_RETURN || insn->base == RSP || insn->base == RBP;
}

/* Emulates in the CPU's order: the load, the target, the store. */
static struct thread *step_does(struct thread *self, const struct x86_step *insn, uintptr_t ip)
{
    struct arch_context *ctx = x86_context(self);
    uint64_t word = 0, at;

    ctx->rip = ip;
    if (x86_step_loads(insn, ip, ctx->r, &at) && !arch_peek(&word, at, sizeof(word), self)) {
        return fault_access(self, ip, at, false, is_by_stack(insn));
    }
    const struct x86_step_effect does = x86_step_emulate(insn, ip, ctx->r, ctx->rflags, word);
    if (!is_canonical(does.next)) {
        return fault_impossible(self, ip, false);
    }
    if (does.pushes && !arch_poke(does.rsp, &does.pushed, sizeof(does.pushed), self)) {
        return fault_access(self, ip, does.rsp, true, true);
    }
    ctx->r[RCX] = does.rcx;
    ctx->r[RSP] = does.rsp;
    ctx->rip = does.next;
    return x86_step_exit(self);
}

/* ---- the slot ------------------------------------------------------------------------- */

static bool is_in_slot(const struct arch_context *ctx)
{
    return !(ctx->rflags & RFLAGS_IF);
}

static void x86_step_move(struct arch_context *ctx, unsigned slot)
{
    x86_this_cpu()->slot = slot;
    ctx->rip = x86_slot_address(slot);
    ctx->rflags &= ~(uint64_t)RFLAGS_IF;
}

/* Leaves a slot: either the instruction was executed, so that the ip is at its end, or it has
 * faulted. */
static void x86_step_leave(struct arch_context *ctx)
{
    const unsigned slot = (unsigned)x86_this_cpu()->slot;
    const unsigned length = slots[slot].insn.length;
    const bool done = ctx->rip == x86_slot_address(slot) + length;

    ctx->rip = slots[slot].from + (done ? length : 0);
    ctx->rflags |= RFLAGS_IF;
}

struct thread *x86_step_break(struct thread *self)
{
    kernel_assert(x86_irq_masked());
    struct arch_context *ctx = x86_context(self);
    struct arch_step step;

    if (is_in_slot(ctx)) {
        ctx->rip--;
        x86_step_leave(ctx);
        return x86_step_exit(self);
    }
    ctx->rip--; /* for the clauses: the frame is that of the location's instruction */
    if (!kernel_user_probe(self, ctx->rip, &step)) {
        ctx->rip++;
        return NULL;
    }
    const struct x86_step *insn = &slots[step.slot].insn;
    if (insn->kind == X86_STEP_EMULATED) {
        return step_does(self, insn, step.address);
    }
    x86_step_move(ctx, step.slot);
    return self;
}

void x86_step_faulted(struct thread *self)
{
    struct arch_context *ctx = x86_context(self);

    if (unlikely(is_in_slot(ctx))) {
        x86_step_leave(ctx);
    }
}

uintptr_t x86_step_origin(uintptr_t ip)
{
    const uintptr_t within = ip - X86_STEP_SLOTS_AT;

    return within < X86_STEP_SLOTS_BYTES ? slots[within / SLOT_BYTES].from : ip;
}

uint8_t x86_step_byte(const struct thread *user, uintptr_t address, uint8_t byte)
{
    uint32_t insn = byte;

    if (byte == X86_BREAKPOINT) {
        kernel_user_displaced(user, address, &insn);
    }
    return (uint8_t)insn;
}
