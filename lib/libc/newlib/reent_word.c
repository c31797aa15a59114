/* SPDX-License-Identifier: BSD-2-Clause */
/* newlib's struct _reent through _impure_ptr, which the kernel sets to the running thread's struct
 * at every switch, on one CPU. */
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/newlib/reent.h"

struct _reent *kymo_reent(void)
{
    return _impure_ptr;
}

int kymo_reent_main(void)
{
    return LibWord_r(&_impure_ptr) < 0 ? -1 : 0;
}

void *kymo_reent_tls(struct _reent **self)
{
    return *self;
}
