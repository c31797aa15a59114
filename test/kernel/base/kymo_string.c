/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/base/string.c with names that the host's C library doesn't have. */
#define memcpy kymo_memcpy
#define memmove kymo_memmove
#define memset kymo_memset
#define memcmp kymo_memcmp
#define strlen kymo_strlen
#define strcmp kymo_strcmp
#include "kernel/base/string.c"
