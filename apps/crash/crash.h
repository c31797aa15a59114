/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways to crash, as functions. */
#ifndef APPS_CRASH_CRASH_H
#define APPS_CRASH_CRASH_H

#include "apps/crash/kinds.h"

#define KIND(name, text) void kind_##name(void);
KIND_LIST(KIND)
#undef KIND

void crash_argument(const char *text); /* for kind_other() */

#endif
