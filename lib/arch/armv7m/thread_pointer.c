/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv7-M has no thread register. The kernel keeps kymo_thread_pointer set to the running
 * thread's. */
#include "lib/arch/tls.h"

#include "lib/include/sys/neutrino_r.h"

void *volatile kymo_thread_pointer; /* read by __aeabi_read_tp() */

size_t kymo_tls_offset(void)
{
    size_t align = (size_t)__tls_align;

    return align > 8 ? align : 8;
}

int kymo_tls_set(void *thread_pointer)
{
    kymo_thread_pointer = thread_pointer;
    return LibWord_r((void *)&kymo_thread_pointer) < 0 ? -1 : 0;
}
