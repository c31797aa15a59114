/* SPDX-License-Identifier: BSD-2-Clause */
/* Configures the action at the end of a panic. kernel_panic() itself is in kernel/arch/panic.h. See
 * panic.c. */
#ifndef KERNEL_OBSERVE_PANIC_H
#define KERNEL_OBSERVE_PANIC_H

#include <stdint.h>

/* KYMO_PANIC_STOPS (the default) or KYMO_PANIC_RESETS. Returns 0 or -EINVAL. Lock held. */
long panic_then(uintptr_t what);

#endif
