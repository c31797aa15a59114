/* SPDX-License-Identifier: BSD-2-Clause */
/* <sys/trace.h>, as QNX has it: TraceEvent()'s commands and classes, and the helpers. */
#ifndef LIB_SYS_TRACE_H
#define LIB_SYS_TRACE_H

#include "kernel/abi/sys/trace.h"
#include "lib/include/sys/tracelog.h"

#endif
