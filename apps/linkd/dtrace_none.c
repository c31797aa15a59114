/* SPDX-License-Identifier: BSD-2-Clause */
/* DtraceControl() of a kernel that has no D engine: every command is ENOSYS. */
#include <errno.h>

#include "kernel/abi/sys/dtrace.h"

int DtraceControl(struct kymo_d_call *call, const void *in, void *out)
{
    (void)in;
    (void)out;
    call->result = -ENOSYS;
    call->out_bytes = 0;
    errno = ENOSYS;
    return -1;
}
