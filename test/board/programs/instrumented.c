/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled with -finstrument-functions. */
#include "test/board/programs/instrumented.h"

__attribute__((noinline)) int instrumented_sum(int n)
{
    return n == 0 ? 0 : n + instrumented_sum(n - 1);
}
