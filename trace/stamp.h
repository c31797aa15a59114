/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event that the log records and that fires D's probes has one time: its stamp is D's
 * `timestamp` while they fire, so that a clause computes the same live and on the capture.
 *
 *   irq = trace_stamp_begin();   interrupts are masked from here on
 *   ... the event is logged, or not: it is filtered out, or lost ...
 *   trace_stamp_take();          if it was logged: struct trace_cpu.stamp is its time
 *   ... D's probes fire ...
 *   trace_stamp_end(irq);        restores the interrupt state
 *
 * An event inside a clause fires no probes, and doesn't change the clause's stamp. Any context, own
 * CPU. Tested by test/trace/rows_test.c.
 */
#ifndef TRACE_STAMP_H
#define TRACE_STAMP_H

#include <stdint.h>

#include "abi/compiler.h"

COLD uintptr_t trace_stamp_begin(void);
COLD void trace_stamp_take(void);
COLD void trace_stamp_end(uintptr_t irq);

#endif
