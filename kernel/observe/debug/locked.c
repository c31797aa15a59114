/* SPDX-License-Identifier: BSD-2-Clause */
/* The answers to assertions of the ports: kernel/arch/assert.h. */
#include "kernel/arch/assert.h"

#include "kernel/base/cpu.h"

bool kernel_holds_lock(void)
{
    return kernel_locked();
}
