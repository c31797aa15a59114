/* SPDX-License-Identifier: BSD-2-Clause */
/* Data passed by the kernel at the program's start; valid from crt0 on, read-only afterwards. */
#ifndef LIB_STARTUP_H
#define LIB_STARTUP_H

#include "abi/sys/kymo.h"

extern struct kymo_startup *kymo_startup;
/* lib/io.c: connects fds 0-2 to the server "console", if there is one. */
void kymo_io_start(void);
/* lib/sbrk.c: takes bytes permanently from the heap's start; NULL: no room. */
void *kymo_heap_carve(size_t bytes, size_t align);

#endif
