/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Through the FS base, which is each thread's own: it points to a word that has the address of the
 * struct _reent. This newlib is built so that it asks __getreent() (scripts/newlib).
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
