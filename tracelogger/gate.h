/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger -x: only what a D program lets pass is recorded. The program is a file of the boot
 * image: the kernel has no compiler.
 */
#ifndef TRACELOGGER_GATE_H
#define TRACELOGGER_GATE_H

/* Call after capture_open(). Returns 0 or -1 (reported). */
int gate_set(const char *file);
/* Prints how many events it has stopped, by class. */
void gate_report(const char *file);

#endif
