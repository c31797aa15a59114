/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that is not there, to compile for: elf:PATH.
 */
#ifndef HOST_TARGET_OFFLINE_H
#define HOST_TARGET_OFFLINE_H

#include "host/target/target.h"

struct target *offline_target_open(const char *path, const char **why);

#endif
