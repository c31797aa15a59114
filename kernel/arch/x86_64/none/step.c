/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64 in a kernel without probes of programs: every breakpoint is the program's own. */
#include "kernel/arch/x86_64/port.h"

struct thread *x86_step_break(struct thread *self)
{
    (void)self;
    return NULL;
}

void x86_step_faulted(struct thread *self)
{
    (void)self;
}

uintptr_t x86_step_origin(uintptr_t ip)
{
    return ip;
}

uint8_t x86_step_byte(const struct thread *user, uintptr_t address, uint8_t byte)
{
    (void)user;
    (void)address;
    return byte;
}
