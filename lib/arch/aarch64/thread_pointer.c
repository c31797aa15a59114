/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64: TPIDR_EL0 is the program's own register; the kernel preserves it across switches. */
#include "lib/arch/tls.h"

#include <stdint.h>

size_t kymo_tls_offset(void)
{
    size_t align = (size_t)__tls_align;

    return align > 16 ? align : 16;
}

int kymo_tls_set(void *thread_pointer)
{
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(thread_pointer) : "memory");
    return 0;
}
