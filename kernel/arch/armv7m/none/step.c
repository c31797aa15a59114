/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv7-M in a kernel without probes of programs: every UDF is the program's own. */
#include "kernel/arch/armv7m/private.h"

struct thread *armv7m_step_break(struct thread *self, uint32_t status)
{
    (void)self;
    (void)status;
    return NULL;
}

bool armv7m_step_left(void)
{
    return false;
}

void armv7m_step_half(const struct thread *user, uintptr_t at, uint16_t *half)
{
    (void)user;
    (void)at;
    (void)half;
}
