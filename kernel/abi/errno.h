/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error numbers that the kernel returns.
 *
 * The values are those of newlib and picolibc (which agree), so that a user program's <errno.h> and
 * the kernel's answers are the same numbers; lib/errno_check.c asserts it for every name here.
 * The kernel itself includes this file and never a C library's.
 */
#ifndef KERNEL_ABI_ERRNO_H
#define KERNEL_ABI_ERRNO_H

#ifndef EOK
#define EOK 0
#endif
#ifndef EPERM
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define ENODEV 19
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOSPC 28
#define EPIPE 32
#define ERANGE 34
#define EDEADLK 45
#define ENOSYS 88
#define ENAMETOOLONG 91
#define ETIMEDOUT 116
#define ENOTSUP 134
#define EOVERFLOW 139
#define ECANCELED 140
#endif

#endif
