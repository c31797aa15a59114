/* SPDX-License-Identifier: BSD-2-Clause */
/* newlib's heap with static probes: all that it has of malloc() ends in these. */
#include <reent.h>

#define HEAP_REAL(name) __real__##name##_r
#define HEAP_WRAP(name) __wrap__##name##_r
#define HEAP_FIRST struct _reent *reent,
#define HEAP_PASS reent,
#include "lib/heap_probes.h"
