/* SPDX-License-Identifier: BSD-2-Clause */
/* See lib/heap/heap.h. newlib implements it by memalign(). */
#include "lib/heap/heap.h"

HEAP_ALIGNED(aligned_alloc)
