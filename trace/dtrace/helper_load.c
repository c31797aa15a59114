/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading of helpers, see helper.h: their restrictions, and a bound of their steps. Control
 * context. Tested by test/trace/dtrace/machine/helper_test.c.
 */
#include "trace/dtrace/helper.h"

#include "trace/dtrace/cost.h"
#include "trace/dtrace/port.h"

static enum dtrace_reason helper_check_steps(const struct dif_object *o, uint32_t strsize)
{
    bool reads = false;
    const struct dtrace_cost_limits limits = {.weights = &dtrace_weights_steps,
                                              .strsize = strsize,
                                              .scratch = DTRACE_HELPER_SCRATCH,
                                              .element = strsize,
                                              .nspec = 1,
                                              .reads = &reads};
    dtrace_amount most = dtrace_amount_sum(DTRACE_HELPER_STEPS,
                                           dtrace_amount_product(DTRACE_HELPER_STRINGS, strsize));

    return dtrace_cost_object(o, &limits) > most ? DTRACE_REASON_HELPER_STEPS : DTRACE_REASON_NONE;
}

int dtrace_helpers_check(const struct dtrace_image *image, const struct dtrace_image_action *a,
                         uint32_t strsize, struct dtrace_refusal *refusal)
{
    /* An action that belongs to no clause was not checked: its range may be invalid. */
    for (uint32_t n = a->object; n && n <= a->weight && n <= image->objects.count; n++) {
        struct dif_object o;
        uint32_t offset;

        dtrace_window();
        dtrace_image_object_at(image, n - 1, &o);
        enum dtrace_reason reason = dtrace_helper_check(&o, &offset);
        reason = reason ? reason : helper_check_steps(&o, strsize);
        if (reason) {
            dtrace_refuse(refusal, reason);
            refusal->object = n - 1;
            refusal->offset = offset;
            return refusal->error;
        }
    }
    return 0;
}
