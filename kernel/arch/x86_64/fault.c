/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions: in a program, a fault, which is reported in words and ends the program; in the
 * kernel, a register dump and a panic. Tested by test/board (isolation) and test/board/x86_64/.
 */
#include "abi/sys/kymo.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/x86_64/port.h"

enum { /* exceptions */
       TRAP_DIVIDE = 0,
       TRAP_DEBUG = 1,
       TRAP_NMI = VECTOR_NMI,
       TRAP_BREAKPOINT = VECTOR_BREAKPOINT,
       TRAP_OVERFLOW = 4,
       TRAP_BOUND = 5,
       TRAP_DOUBLE = 8,
       TRAP_STACK = 12,
       TRAP_PROTECTION = 13,
       TRAP_PAGE = 14,
       TRAP_X87 = 16,
       TRAP_ALIGNMENT = 17,
       TRAP_MACHINE_CHECK = 18,
       TRAP_SIMD = 19
};
enum { PAGE_WRITE = 2, PAGE_FETCH = 16 }; /* error code of a page fault */

static uint64_t x86_cr2(void)
{
    uint64_t address;

    __asm__ volatile("mov %%cr2, %0" : "=r"(address));
    return address;
}

/* Returns whether the instruction at ip is one that programs may not use; the other causes of a
 * general protection fault are accesses to non-canonical addresses. */
static bool is_privileged(const struct thread *t, uintptr_t ip)
{
    const uint8_t *at;

    for (unsigned prefixes = 0; prefixes < 4; prefixes++, ip++) {
        if ((at = kernel_user_ptr(t, ip, 1, KYMO_PROT_READ)) == NULL) {
            return false;
        }
        switch (x86_step_byte(t, ip, *at)) {
        case 0x66:
        case 0xf2:
        case 0xf3:
        case 0x40 ... 0x4f: /* REX */
            continue;
        case 0x6c ... 0x6f: /* INS, OUTS */
        case 0xe4 ... 0xe7: /* IN, OUT */
        case 0xec ... 0xef:
        case 0xcf: /* IRET */
        case 0xf4: /* HLT */
        case 0xfa: /* CLI */
        case 0xfb: /* STI */
            return true;
        case 0x0f:
            at = kernel_user_ptr(t, ip + 1, 1, KYMO_PROT_READ);
            return at && (*at <= 0x09 || (*at >= 0x20 && *at <= 0x23) ||
                          (*at >= 0x30 && *at <= 0x35) || *at == 0xc7);
        default:
            return false;
        }
    }
    return false;
}

static void protection_fault(struct arch_fault *fault, const struct thread *self, uint64_t error)
{
    if (error != 0) {
        fault->signo = KYMO_SIGILL;
        fault->what = "undefined interrupt or segment";
    } else if (is_privileged(self, fault->ip)) {
        fault->signo = KYMO_SIGILL;
        fault->what = "privileged instruction";
    } else {
        fault->signo = KYMO_SIGSEGV;
        fault->what = "access to an impossible address near";
    }
}

struct thread *x86_trap_from_user(struct thread *self, unsigned vector, uint64_t error)
{
    static const struct {
        uint8_t vector, signo;
        const char *what;
    } table[] = {
        {TRAP_DIVIDE, KYMO_SIGFPE, "integer division"},
        {TRAP_DEBUG, KYMO_SIGILL, "debug trap"},
        {TRAP_BREAKPOINT, KYMO_SIGILL, "breakpoint instruction"},
        {TRAP_OVERFLOW, KYMO_SIGSEGV, "overflow trap"},
        {TRAP_BOUND, KYMO_SIGSEGV, "bounds trap"},
        {TRAP_STACK, KYMO_SIGBUS, "impossible stack address near"},
        {TRAP_X87, KYMO_SIGFPE, "floating-point exception"},
        {TRAP_ALIGNMENT, KYMO_SIGBUS, "unaligned access near"},
        {TRAP_SIMD, KYMO_SIGFPE, "floating-point exception"},
    };
    struct thread *next = NULL;

    kernel_assert(x86_irq_masked() && !(x86_flags() & RFLAGS_AC));
    if (vector >= VECTOR_EXCEPTIONS) {
        return x86_irq_from_user(self, vector);
    }
    if (vector == TRAP_BREAKPOINT && (next = x86_step_break(self))) {
        return next;
    }
    x86_step_faulted(self);
    struct arch_fault fault = {.ip = x86_context(self)->rip,
                               .address = x86_context(self)->rip,
                               .signo = KYMO_SIGILL,
                               .what = "undefined instruction"};

    if (vector == TRAP_NMI || vector == TRAP_DOUBLE || vector == TRAP_MACHINE_CHECK) {
        kernel_panic("%s in a program, at %p", vector == TRAP_NMI ? "NMI" : "machine error",
                     (void *)fault.ip); /* no program causes these */
    }
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].vector == vector) {
            fault.signo = table[i].signo;
            fault.what = table[i].what;
        }
    }
    if (vector == TRAP_PAGE) {
        fault.address = x86_cr2();
        fault.signo = KYMO_SIGSEGV;
        fault.what = error & PAGE_FETCH ? "jump to" : error & PAGE_WRITE ? "write to" : "read from";
    } else if (vector == TRAP_PROTECTION) {
        protection_fault(&fault, self, error);
    }
    return kernel_fault(self, &fault);
}

/* ---- in the kernel ----------------------------------------------------------------- */

struct x86_panic_frame x86_panicked; /* filled by kernel_panic() in entry.S */

static void registers_of(uint64_t *registers, const struct x86_panic_frame *frame)
{
    for (unsigned i = 0; i < 16; i++) {
        registers[i] = frame->r[i];
    }
    registers[KYMO_PANIC_X86_64_rip] = frame->rip;
    registers[KYMO_PANIC_X86_64_rflags] = frame->rflags;
    registers[KYMO_PANIC_X86_64_vector] = frame->vector;
    registers[KYMO_PANIC_X86_64_error] = frame->error;
    registers[KYMO_PANIC_X86_64_cr2] = 0;
}

void arch_panic_registers(uint64_t *registers)
{
    registers_of(registers, &x86_panicked);
}

static const char *x86_fatal_reason(const struct x86_panic_frame *frame, uint64_t address)
{
    bool page = frame->vector == TRAP_PAGE || frame->vector == TRAP_DOUBLE;

    if (page && x86_is_stack_guard(address)) {
        return "kernel stack overflow";
    }
    if (frame->vector == TRAP_PAGE) {
        return frame->error & PAGE_FETCH   ? "kernel jump to"
               : frame->error & PAGE_WRITE ? "kernel write to"
                                           : "kernel read from";
    }
    return frame->vector == TRAP_NMI ? "NMI" : "kernel exception";
}

void x86_fatal(const struct x86_panic_frame *frame)
{
    uint64_t registers[KYMO_PANIC_X86_64_COUNT];
    uint64_t address = x86_cr2();

    registers_of(registers, frame);
    registers[KYMO_PANIC_X86_64_cr2] = address;
    kernel_panic_at(KYMO_PANIC_FAULT, registers, "%s %p at %p (vector %u, error %x)",
                    x86_fatal_reason(frame, address), (void *)address, (void *)frame->rip,
                    (unsigned)frame->vector, (unsigned)frame->error);
}
