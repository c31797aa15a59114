/* SPDX-License-Identifier: BSD-2-Clause */
/* What a panic does at its end. kernel_panic() itself is in kernel/arch/arch.h. See panic.c. */
#ifndef KERNEL_OBSERVE_PANIC_H
#define KERNEL_OBSERVE_PANIC_H

#include <stdint.h>

/* KYMO_PANIC_STOPS (as before the first call) or KYMO_PANIC_RESETS. 0, -EINVAL. Lock held. */
long panic_then(uintptr_t what);

#endif
