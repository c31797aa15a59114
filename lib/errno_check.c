/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks at compile time that the C library's error numbers are the kernel's. No code. */
#include <errno.h>

#include "abi/errno.h"

#define E(name, value) _Static_assert((name) == (value), #name " differs from the C library's");
KYMO_ERRNO_LIST(E)
#undef E
