/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64 in a kernel without probes of programs: every BRK is the program's own. */
#include "kernel/arch/aarch64/port.h"

struct thread *a64_step_break(struct thread *self, unsigned number)
{
    (void)self;
    (void)number;
    return NULL;
}

void a64_step_faulted(struct thread *self)
{
    (void)self;
}

uint32_t a64_step_insn(const struct thread *user, uintptr_t address, uint32_t insn)
{
    (void)user;
    (void)address;
    return insn;
}
