/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes that every board has, with the types of their args[], for programs that are compiled
 * for a board that isn't there: those of trace/probes.def, of sdt and of syscall. Not those that a
 * target makes or finds: profile, fbt, pid. A struct dt_probe_source in all but the probes that are
 * missing. Tested by test/host/remote/board_test.c; against the boards by test/dtrace/scripts.py.
 */
#ifndef HOST_TARGET_BOARD_PROBES_H
#define HOST_TARGET_BOARD_PROBES_H

#include "host/dt/dt.h"

/* Calls fn for each probe that the description matches until it returns false; how many match. */
unsigned board_probes_each(const char *provider, const char *module, const char *function,
                           const char *name, bool (*fn)(void *arg, const struct dt_probe_info *),
                           void *arg);
/* Returns the type for a probe passed to fn; NULL: it has no args[n]. */
const char *board_probe_type(uint32_t id, unsigned n);

#endif
