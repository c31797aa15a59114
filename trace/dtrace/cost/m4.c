/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of Cortex-M4: see cost.def. */
#include "trace/dtrace/cost.h"

const struct dtrace_weights dtrace_weights_m4 = {
    .unit = "instructions",
    .subr_once = DTRACE_SUBR_ONCE,
    .subr_each = DTRACE_SUBR_EACH,
    .of =
        {
#define DTRACE_COST(name, steps, m4, a64, doc) m4,
#include "trace/dtrace/cost.def"
        },
    .subr =
        {
#define DTRACE_SUBR_COST(name, m4_once, m4_each, a64_once, a64_each) \
    [DIF_SUBR_##name] = {(m4_once + DTRACE_SUBR_ONCE - 1) / DTRACE_SUBR_ONCE, \
                         (m4_each + DTRACE_SUBR_EACH - 1) / DTRACE_SUBR_EACH},
#include "trace/dtrace/cost.def"
        },
};
