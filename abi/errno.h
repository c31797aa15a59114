/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error numbers that the kernel returns.
 *
 * The values are those of newlib and picolibc (which agree), so that a user program's <errno.h> and
 * the kernel use the same numbers; lib/errno_check.c asserts it for every name in this file. The
 * kernel itself includes this file and never a C library's. A user program's #include <errno.h>
 * finds this file first (it is compiled with -Iabi), instead of the C library's.
 */
#ifndef ABI_ERRNO_H
#define ABI_ERRNO_H

#define KYMO_ERRNO_LIST(E) \
    E(EPERM, 1) \
    E(ENOENT, 2) \
    E(ESRCH, 3) \
    E(EINTR, 4) \
    E(EIO, 5) \
    E(ENXIO, 6) \
    E(E2BIG, 7) \
    E(ENOEXEC, 8) \
    E(EBADF, 9) \
    E(ECHILD, 10) \
    E(EAGAIN, 11) \
    E(ENOMEM, 12) \
    E(EACCES, 13) \
    E(EFAULT, 14) \
    E(EBUSY, 16) \
    E(EEXIST, 17) \
    E(ENODEV, 19) \
    E(EINVAL, 22) \
    E(ENFILE, 23) \
    E(EMFILE, 24) \
    E(ENOSPC, 28) \
    E(EPIPE, 32) \
    E(ERANGE, 34) \
    E(EDEADLK, 45) \
    E(ENOSYS, 88) \
    E(ENAMETOOLONG, 91) \
    E(ETIMEDOUT, 116) \
    E(EMSGSIZE, 122) \
    E(ENOTSUP, 134) \
    E(EOVERFLOW, 139) \
    E(ECANCELED, 140)

#ifndef EOK
#define EOK 0
#endif

#if !defined(KYMO_KERNEL) && __has_include(<newlib.h>) /* defined by both newlib and picolibc */
#include <sys/errno.h>
#elif !defined(EPERM)
enum kymo_errno {
#define E(name, value) name = value,
    KYMO_ERRNO_LIST(E)
#undef E
};
#endif

#endif
