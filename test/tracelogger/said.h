/* SPDX-License-Identifier: BSD-2-Clause */
/* Put before everything else: what the code under test prints goes to the test. */
#ifndef TEST_TRACELOGGER_SAID_H
#define TEST_TRACELOGGER_SAID_H

#include <stdio.h>

int said(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define printf said

#endif
