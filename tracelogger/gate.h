/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger -x: only the events that a D program lets pass are recorded. The program is a
 * compiled file of the boot image, as the target has no compiler.
 */
#ifndef TRACELOGGER_GATE_H
#define TRACELOGGER_GATE_H

/* Call after capture_open(). Returns 0 or -1 (reported). */
int gate_set(const char *file);
/* Prints how many events the program has stopped, by class. */
void gate_report(const char *file);

#endif
