/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider pid of kernels that have none: programs' text that nothing can patch, or a port that
 * can't execute what a trap displaces (kernel/arch/step.h). */
#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "kernel/dtrace/dtrace.h"

int dtrace_user_call(const struct process *asker, uint32_t rights, struct kymo_d_call *call,
                     const void *in, void *out)
{
    (void)asker;
    (void)rights;
    (void)in;
    (void)out;
    call->out_bytes = 0;
    return call->result = -ENOTSUP;
}

void dtrace_user_init(void)
{
}
