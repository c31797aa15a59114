/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as a target: `kymo dtrace -r FILE` with a program (docs/guide/d-after.md). One a
 * process.
 */
#ifndef HOST_AFTER_TARGET_H
#define HOST_AFTER_TARGET_H

#include "host/target/target.h"

#include <signal.h>

/* NULL after a message: it can't be read, or is another kernel's. interrupted: not 0 ends a
 * feed. */
struct target *after_target_open(const char *path, const volatile sig_atomic_t *interrupted);

#endif
