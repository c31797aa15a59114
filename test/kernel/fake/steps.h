/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps that an operation takes: basic blocks of the files that are compiled with
 * -fsanitize-coverage=trace-pc. A test sets steps to 0, runs one, and asks steps_end(). */
#ifndef TEST_KERNEL_FAKE_STEPS_H
#define TEST_KERNEL_FAKE_STEPS_H

#include "test/kernel/fake/fake.h"

static unsigned steps, steps_worst; /* of this operation; of all since it was set to 0 */

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

/* The operation is over: it took no more than so many. */
static inline void steps_end(unsigned most)
{
    steps_worst = steps > steps_worst ? steps : steps_worst;
    if (steps > most) {
        fail_msg("%u steps", steps);
    }
}

#endif
