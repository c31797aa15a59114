/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses when a debug kernel checks its objects: see check.h. Tests check them after each call
 * instead. */
#include "kernel/observe/debug/check.h"
#include "kernel/observe/observe.h"

#define EACH 64

void kernel_check_sometimes(void)
{
    static uint32_t calls; /* [k] */

    if (++calls % EACH == 0) {
        kernel_check();
    }
}
