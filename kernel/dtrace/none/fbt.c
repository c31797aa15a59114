/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider fbt of kernels that have none: without D, or with text that nothing can patch. */
#include "kernel/dtrace/dtrace.h"

void dtrace_fbt_init(void)
{
}

bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *behind)
{
    (void)ip;
    (void)site;
    (void)behind;
    return false;
}
