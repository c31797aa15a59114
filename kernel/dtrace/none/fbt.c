/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider fbt for kernels without it: without D, or with text that can't be patched. */
#include "kernel/dtrace/dtrace.h"

void dtrace_fbt_init(void)
{
}

bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *offset)
{
    (void)ip;
    (void)site;
    (void)offset;
    return false;
}
