/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo_self() as a function: lib/libc/self_call.h. */
#include "lib/thread.h"

extern _Thread_local struct kymo_tcb *kymo_self_tcb;

struct kymo_tcb *kymo_self(void)
{
    return kymo_self_tcb;
}
