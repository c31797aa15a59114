/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables as text, generated from events.def and kercalls.def. See trace/event_text.h; format in
 * abi/syspage.h. Tested by test/trace/rows_test.c, calls_test.c.
 */
#include "trace/event_text.h"

const char trace_event_text[] =
#include "build/gen/trace_events.inc.h"
    ;
const unsigned trace_event_text_len = sizeof(trace_event_text) - 1;

const char trace_kercall_text[] =
#include "build/gen/trace_kercalls.inc.h"
    ;
const unsigned trace_kercall_text_len = sizeof(trace_kercall_text) - 1;
