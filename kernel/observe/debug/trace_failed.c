/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug images: a failed assertion of trace/ is the kernel's panic. See trace/assert.h. */
#include "kernel/arch/panic.h"
#include "kernel/base/assert.h"
#include "trace/assert.h"

void trace_port_failed(const char *file, unsigned line, const char *condition)
{
    kernel_panic("%s:%u: assertion failed: %s", file, line, condition);
}
