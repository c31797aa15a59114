/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * newlib's struct _reent through the FS base, which each thread has: it points to a word with the
 * address of the struct. This newlib is built so that it calls __getreent() (scripts/newlib).
 */
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/newlib/reent.h"

struct _reent *__getreent(void);

struct _reent *__getreent(void)
{
    struct _reent *reent;

    __asm__("mov %%fs:0, %0" : "=r"(reent));
    return reent;
}

struct _reent *kymo_reent(void)
{
    return __getreent();
}

int kymo_reent_main(void)
{
    static struct _reent *self;
    static void *tls;

    self = _global_impure_ptr;
    tls = &self;
    return LibWord_r((void *)&tls) < 0 ? -1 : 0;
}

void *kymo_reent_tls(struct _reent **self)
{
    return self;
}
