/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the system's servers, which other programs trust: attaching one, or one below it (with a
 * slash), needs the ability that the server needs for its work. All other names are free for the
 * first process that attaches them.
 *
 * X-macro: SYSTEM_NAME(name, ABILITY)
 */
#ifndef ABI_SYS_NAMES_H
#define ABI_SYS_NAMES_H

#include "abi/sys/ability.h"

#define SYSTEM_NAME_LIST(SYSTEM_NAME) \
    SYSTEM_NAME("console", DEVICE) \
    SYSTEM_NAME("disk0", DEVICE) \
    SYSTEM_NAME("link", DEVICE) \
    SYSTEM_NAME("tracelogger", TRACE)

#endif
