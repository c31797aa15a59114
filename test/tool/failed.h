/* SPDX-License-Identifier: BSD-2-Clause */
/* How a unit test ends when an assertion of the kernel or the trace fails; or goes on, if that is
 * what it wants to see. */
#ifndef TEST_TOOL_FAILED_H
#define TEST_TOOL_FAILED_H

#include <stdbool.h>

/* True: an assertion failed in step(), which was left there; failed_text says which. */
bool failed_in(void (*step)(void));
/* True: it was the assertion of this condition; else says which one it was. */
bool failed_as(void (*step)(void), const char *condition);
extern char failed_text[256];

#endif
