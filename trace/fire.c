/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A site that serves every enabling (TRACE_SITE_ALL): the event log, if it takes the event, then
 * D's probes on the site, with all arguments of the entry's wider form as 64-bit words. One
 * function trace_fire_<name>() for each entry of events.def, generated. Any context. Proof:
 * test/unit/test_rows.c.
 */
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/hook.h"
#include "trace/threads.h"

#include "build/gen/trace_fire.inc.h"
