/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target `self`: this process. May be open several times.
 */
#ifndef HOST_SELF_TARGET_H
#define HOST_SELF_TARGET_H

#include "host/target/target.h"

struct target *self_target_open(void); /* NULL: no memory */

#endif
