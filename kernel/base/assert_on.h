/* SPDX-License-Identifier: BSD-2-Clause */
/* Assertions of debug images and of tests: see kernel/base/assert.h, which includes this. */
#ifndef KERNEL_BASE_ASSERT_ON_H
#define KERNEL_BASE_ASSERT_ON_H

#include "abi/compiler.h"
#include "kernel/arch/panic.h"

/* kernel_panic() is called at the assertion itself, so that the panic's registers and stack are
 * those of the function that failed. */
#define kernel_assert(condition) \
    (unlikely(!(condition)) \
         ? kernel_panic("%s:%u: assertion failed: %s", __FILE__, (unsigned)__LINE__, #condition) \
         : (void)0)
#define kernel_debug(statement) statement

#endif
