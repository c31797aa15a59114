/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel without the provider pid: programs' text can't be patched, or the port can't execute the
 * instruction that a trap displaces (kernel/arch/step.h). The machine doesn't know the command.
 */
#ifndef KERNEL_DTRACE_USER_HOOK_H
#define KERNEL_DTRACE_USER_HOOK_H

#include <stdbool.h>

#include "abi/sys/dtrace.h"

struct process;

static inline void dtrace_user_init(void)
{
}

static inline bool dtrace_user_call(const struct process *asker, uint32_t rights,
                                    struct kymo_d_call *call, const void *in, void *out)
{
    (void)asker;
    (void)rights;
    (void)call;
    (void)in;
    (void)out;
    return false;
}

#endif
