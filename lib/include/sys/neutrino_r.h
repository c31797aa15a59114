/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `_r` variants of the kernel calls: same arguments, but they return the value or the negative
 * errno and leave errno alone. Any thread, even before the C library is set up.
 */
#ifndef LIB_SYS_NEUTRINO_R_H
#define LIB_SYS_NEUTRINO_R_H

#include "abi/sys/dtrace.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

#define CALL(type, name, NAME, parameters, ...) type name##_r parameters;
#include "lib/include/sys/calls.def"
#undef CALL

int TraceEvent_r(int cmd, ...);

#endif
