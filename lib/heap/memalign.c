/* SPDX-License-Identifier: BSD-2-Clause */
/* See heap.h. */
#include "lib/heap/heap.h"

HEAP_ALIGNED(memalign)
