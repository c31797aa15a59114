/* SPDX-License-Identifier: BSD-2-Clause */
/* What assertions of the ports ask the kernel: kernel/arch/assert.h. */
#include "kernel/arch/assert.h"

#include "kernel/base/cpu.h"

bool kernel_holds_lock(void)
{
    return kernel_locked();
}
