/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries for assertions of the ports: kernel/arch/assert.h. */
#include "kernel/arch/assert.h"

#include "kernel/base/cpu.h"

bool kernel_holds_lock(void)
{
    return kernel_locked();
}
