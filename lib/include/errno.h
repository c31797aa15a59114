/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's <errno.h>, and QNX's name of success. */
#ifndef LIB_ERRNO_H
#define LIB_ERRNO_H

#include_next <errno.h>

#define EOK 0

#endif
