/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets that are reached by messages. May be open several times.
 */
#ifndef HOST_REMOTE_TARGET_H
#define HOST_REMOTE_TARGET_H

#include "host/target/target.h"

struct wire;

/* is_here: as in struct target_ops. The wire is the target's from now on, also if it fails. NULL:
 * *why says why, until the next call.
 */
struct target *remote_target_open(struct wire *, bool is_here, const char **why);

#endif
