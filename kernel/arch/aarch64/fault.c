/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions other than kernel calls and interrupts. In a program: the first use of FP, otherwise a
 * fault, which is reported in words and ends the program. In the kernel: a register dump and a
 * panic. Tested by test/board (isolation).
 */
#include "abi/sys/kymo.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"

enum { /* exception classes, ESR_EL1 bits 31-26 */
       EC_FP = 0x07,
       EC_SVC = 0x15,
       EC_SYSREG = 0x18,
       EC_FETCH_EL0 = 0x20,
       EC_FETCH_EL1 = 0x21,
       EC_PC = 0x22,
       EC_DATA_EL0 = 0x24,
       EC_DATA_EL1 = 0x25,
       EC_SP = 0x26,
       EC_FP_TRAP = 0x2c,
       EC_BRK = 0x3c
};
#define ESR_EC(esr) (((esr) >> 26) & 0x3f)
#define ESR_BRK_NUMBER 0xffff
#define ESR_WRITE 0x40
#define ESR_CACHE 0x100
#define ESR_FSC(esr) ((esr)&0x3f)
#define FSC_ALIGNMENT 0x21
#define FSC_IS_ACCESS(fsc) ((fsc) < 0x10) /* translation, access flag, permission */

static void data_fault(struct arch_fault *fault, uint64_t esr, uint64_t far)
{
    bool write = (esr & ESR_WRITE) && !(esr & ESR_CACHE);

    fault->address = far;
    if (ESR_FSC(esr) == FSC_ALIGNMENT) {
        fault->signo = KYMO_SIGBUS;
        fault->what = write ? "unaligned write to" : "unaligned read from";
        return;
    }
    fault->signo = FSC_IS_ACCESS(ESR_FSC(esr)) ? KYMO_SIGSEGV : KYMO_SIGBUS;
    fault->what = write ? "write to" : "read from";
}

static void jump_fault(struct arch_fault *fault, uint64_t far, int signo, const char *what)
{
    fault->address = far;
    fault->signo = signo;
    fault->what = what;
}

static void other_fault(struct arch_fault *fault, uint64_t esr)
{
    static const struct {
        uint8_t class;
        uint8_t signo;
        const char *what;
    } table[] = {
        {EC_FP_TRAP, KYMO_SIGFPE, "floating-point exception"},
        {EC_BRK, KYMO_SIGILL, "breakpoint instruction"},
        {EC_SYSREG, KYMO_SIGILL, "privileged instruction"},
        {EC_SVC, KYMO_SIGILL, "undefined kernel call instruction"},
    };

    fault->address = fault->ip;
    fault->signo = KYMO_SIGILL;
    fault->what = "undefined instruction";
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].class == ESR_EC(esr)) {
            fault->signo = table[i].signo;
            fault->what = table[i].what;
        }
    }
}

/* Handles the first use of FP since this thread got the CPU. */
static struct thread *fp_enable(struct thread *self)
{
    a64_write_sysreg(cpacr_el1, 3ul << 20);
    a64_isb();
    a64_fp_load(a64_context(self));
    a64_context(self)->fp_live = 1;
    return self;
}

struct thread *a64_fault_from_user(struct thread *self, uint64_t esr, uint64_t far)
{
    kernel_assert(a64_irq_masked());
    struct thread *next = NULL;

    if (ESR_EC(esr) == EC_FP) {
        return fp_enable(self);
    }
    if (ESR_EC(esr) == EC_BRK && (next = a64_step_break(self, esr & ESR_BRK_NUMBER))) {
        return next;
    }
    a64_step_faulted(self);
    struct arch_fault fault = {.ip = a64_context(self)->elr};

    switch (ESR_EC(esr)) {
    case EC_DATA_EL0:
        data_fault(&fault, esr, far);
        break;
    case EC_FETCH_EL0:
        jump_fault(&fault, far, FSC_IS_ACCESS(ESR_FSC(esr)) ? KYMO_SIGSEGV : KYMO_SIGBUS,
                   "jump to");
        break;
    case EC_PC:
        jump_fault(&fault, far, KYMO_SIGBUS, "unaligned jump to");
        break;
    case EC_SP:
        jump_fault(&fault, a64_context(self)->sp, KYMO_SIGBUS, "unaligned stack at");
        break;
    default:
        other_fault(&fault, esr);
    }
    return kernel_fault(self, &fault);
}

/* Handles an SError: the bus refused an access late, most likely a driver's. The access can't be
 * identified. */
struct thread *a64_other_from_user(struct thread *self, uint64_t esr)
{
    uintptr_t ip = a64_context(self)->elr;
    const struct arch_fault fault = {
        .ip = ip, .address = ip, .signo = KYMO_SIGBUS, .what = "asynchronous bus error near"};

    (void)esr;
    return kernel_fault(self, &fault);
}

static const char *fatal_reason(unsigned vector, uint64_t esr, uint64_t far, uint64_t sp)
{
    if (vector != 4) {
        return "unexpected exception";
    }
    if (a64_is_stack_guard(far)) {
        return "kernel stack overflow";
    }
    if (sp & 15) {
        return "kernel stack misaligned";
    }
    switch (ESR_EC(esr)) {
    case EC_DATA_EL1:
        return esr & ESR_WRITE ? "kernel write to" : "kernel read from";
    case EC_FETCH_EL1:
        return "kernel jump to";
    default:
        return "kernel exception";
    }
}

void a64_fatal(const struct a64_fatal_frame *frame, unsigned vector)
{
    uint64_t esr = a64_read_sysreg(esr_el1);
    uint64_t far = a64_read_sysreg(far_el1);
    uint64_t elr = a64_read_sysreg(elr_el1);
    uint64_t registers[KYMO_PANIC_AARCH64_COUNT];

    a64_registers(registers, frame, elr, a64_read_sysreg(spsr_el1));
    registers[KYMO_PANIC_AARCH64_esr] = esr;
    registers[KYMO_PANIC_AARCH64_far] = far;
    kernel_panic_at(KYMO_PANIC_FAULT, registers, "%s %p at %p (vector %u, esr %x)",
                    fatal_reason(vector, esr, far, frame->sp), (void *)far, (void *)elr, vector,
                    (unsigned)esr);
}
