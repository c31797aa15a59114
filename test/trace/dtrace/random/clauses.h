/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of random clauses on one probe, in pair.image and pair.program. */
#ifndef TEST_TRACE_DTRACE_RANDOM_CLAUSES_H
#define TEST_TRACE_DTRACE_RANDOM_CLAUSES_H

#include "test/trace/dtrace/random/pair.h"

enum { CLAUSES_BUFFER = 700 }; /* bufsize of the tame ones */

/* Data and aggregations only, of which a model knows what they record. */
struct dtrace_image *clauses_make(uint32_t probe);
/* All actions, sizes and policies. */
struct dtrace_image *clauses_make_wild(uint32_t probe);

#endif
