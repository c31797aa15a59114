/* SPDX-License-Identifier: BSD-2-Clause */
/* picolibc's heap, for lib/heap/heap.h. Its other functions, such as calloc(), use these. */
#ifndef LIB_LIBC_PICOLIBC_HEAP_H
#define LIB_LIBC_PICOLIBC_HEAP_H

#define HEAP_REAL(name) __real_##name
#define HEAP_WRAP(name) __wrap_##name
#define HEAP_FIRST
#define HEAP_PASS

#endif
