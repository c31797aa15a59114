/* SPDX-License-Identifier: BSD-2-Clause */
/* newlib's heap, for lib/heap/heap.h: all its allocation functions call these. */
#ifndef LIB_LIBC_NEWLIB_HEAP_H
#define LIB_LIBC_NEWLIB_HEAP_H

#include <reent.h>

#define HEAP_REAL(name) __real__##name##_r
#define HEAP_WRAP(name) __wrap__##name##_r
#define HEAP_FIRST struct _reent *reent,
#define HEAP_PASS reent,

#endif
