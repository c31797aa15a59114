/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface of the provider pid for DtraceControl(). Control context. The alternative is
 * none/hook.h. */
#ifndef KERNEL_DTRACE_USER_HOOK_H
#define KERNEL_DTRACE_USER_HOOK_H

#include <stdbool.h>

#include "abi/sys/dtrace.h"

struct process;

void dtrace_user_init(void);
/* Executes the command KYMO_D_USER. Returns call->result. */
int dtrace_user_command(const struct process *asker, uint32_t rights, struct kymo_d_call *call,
                        const void *in, void *out);

/* Returns false if the call is another command. */
static inline bool dtrace_user_call(const struct process *asker, uint32_t rights,
                                    struct kymo_d_call *call, const void *in, void *out)
{
    if (call->command != KYMO_D_USER) {
        return false;
    }
    dtrace_user_command(asker, rights, call, in, out);
    return true;
}

#endif
