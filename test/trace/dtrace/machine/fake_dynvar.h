/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake machine's dynamic variables: a table that a test can look into. See fake.h. */
#ifndef TEST_TRACE_DTRACE_MACHINE_FAKE_DYNVAR_H
#define TEST_TRACE_DTRACE_MACHINE_FAKE_DYNVAR_H

#include "test/trace/dtrace/machine/fake.h"

enum { FAKE_DATUM = 1024 };
extern uint64_t fake_dynamic[FAKE_ELEMENTS][FAKE_DATUM / 8]; /* where data of variables are */

/* What dtrace_scratch_find() says. On the heap, so that ASan guards it. */
extern uint8_t *fake_scratch;
extern size_t fake_scratch_size;

void fake_dynvar_reset(void);
/* How many dynamic variables there are. */
unsigned fake_elements(void);

#endif
