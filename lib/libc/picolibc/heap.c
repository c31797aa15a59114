/* SPDX-License-Identifier: BSD-2-Clause */
/* picolibc's heap with static probes. Its other functions, as calloc(), use these. */
#define HEAP_REAL(name) __real_##name
#define HEAP_WRAP(name) __wrap_##name
#define HEAP_FIRST
#define HEAP_PASS
#include "lib/heap_probes.h"
