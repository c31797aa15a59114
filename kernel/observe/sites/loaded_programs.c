/* SPDX-License-Identifier: BSD-2-Clause */
/* Static probes of programs where text runs from flash: they stay off. See patched_programs.c. */
#include "abi/errno.h"
#include "kernel/observe/observe.h"
#include "kernel/observe/trace_dump.h"

long user_sites_register(struct process *proc, uintptr_t table, size_t count)
{
    (void)proc;
    (void)table;
    return count ? -ENOTSUP : 0;
}

void user_sites_follow(void)
{
}
