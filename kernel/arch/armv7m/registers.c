/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: registers for a panic, in the order of abi/sys/panic.h; and the NMI, which the watchdog
 * raises: it was not armed again in time, so the kernel or the process that arms it hangs. Any
 * context.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"

/* r0-r11, r12 unset, sp, lr, as kernel_panic() in entry.S saves them. */
uint32_t armv7m_panicked[KYMO_PANIC_ARM_lr + 1];

void armv7m_watchdog(const struct frame *frame, const uint32_t *r4_r11, uint32_t of_thread)
    __attribute__((noreturn));
void armv7m_kernel_fault(struct frame *frame, const uint32_t *r4_r11);

void arch_panic_registers(uint64_t *registers)
{
    for (unsigned i = 0; i < sizeof(armv7m_panicked) / sizeof(armv7m_panicked[0]); i++) {
        registers[i] = armv7m_panicked[i];
    }
    registers[KYMO_PANIC_ARM_pc] = armv7m_panicked[KYMO_PANIC_ARM_lr] & ~1u;
}

void armv7m_exception_registers(uint64_t *registers, const struct frame *frame,
                                const uint32_t *r4_r11)
{
    for (unsigned i = 0; i < KYMO_PANIC_ARM_COUNT; i++) {
        bool saved = i >= KYMO_PANIC_ARM_r4 && i <= KYMO_PANIC_ARM_r11;

        registers[i] = saved ? r4_r11[i - KYMO_PANIC_ARM_r4] : 0;
    }
    if (frame) {
        registers[KYMO_PANIC_ARM_r0] = frame->r0;
        registers[KYMO_PANIC_ARM_r1] = frame->r1;
        registers[KYMO_PANIC_ARM_r2] = frame->r2;
        registers[KYMO_PANIC_ARM_r3] = frame->r3;
        registers[KYMO_PANIC_ARM_r12] = frame->r12;
        registers[KYMO_PANIC_ARM_lr] = frame->lr;
        registers[KYMO_PANIC_ARM_pc] = frame->pc;
        registers[KYMO_PANIC_ARM_xpsr] = frame->xpsr;
        registers[KYMO_PANIC_ARM_sp] =
            (uint32_t)(frame + 1) + ((frame->xpsr & XPSR_ALIGNED) ? 4 : 0);
    }
    registers[KYMO_PANIC_ARM_cfsr] = CFSR;
    registers[KYMO_PANIC_ARM_hfsr] = HFSR;
    registers[KYMO_PANIC_ARM_mmfar] = MMFAR;
    registers[KYMO_PANIC_ARM_bfar] = BFAR;
}

/* Runs above all other exceptions: a fault in it would be a CPU lockup, so a thread's frame is read
 * only if it is in its process's memory. */
void armv7m_watchdog(const struct frame *frame, const uint32_t *r4_r11, uint32_t of_thread)
{
    uint64_t registers[KYMO_PANIC_ARM_COUNT];
    const uint32_t *saved = armv7m_port.saved;
    const struct thread *t = NULL;

    if (of_thread && saved) {
        t = (const struct thread *)((uintptr_t)saved - offsetof(struct arch_context, kind));
        frame = ((uintptr_t)frame & 3) == 0
                    ? kernel_user_ptr(t, (uintptr_t)frame, sizeof(*frame), KYMO_PROT_READ)
                    : NULL;
    }
    armv7m_exception_registers(registers, frame, r4_r11);
    kernel_panic_at(KYMO_PANIC_WATCHDOG, registers,
                    "watchdog: not armed again in time; at pc %08lx",
                    (unsigned long)registers[KYMO_PANIC_ARM_pc]);
}
