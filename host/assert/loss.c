/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready rule --no-loss, which is no D program: a loss is no event. Each loss that the capture
 * reports is a breach at the time of what reports it. See assert.h.
 */
#include <inttypes.h>
#include <string.h>

#include "host/assert/assert.h"
#include "host/kymo.h"
#include "host/verify/verify.h"

enum { PROGRESS_EACH = 65536 };

static void take_loss(struct assertion *a, struct rule *rule, const struct kev_item *item)
{
    static struct breach b;

    b = (struct breach){.cpu = item->cpu};
    b.ns = (uint64_t)((unsigned __int128)item->cycles * 1000000000u / a->hz);
    snprintf(b.text, sizeof(b.text), "%s", item->loss->text);
    snprintf(b.values, sizeof(b.values), "%" PRIu64 ",%" PRIu64, item->loss->events,
             item->loss->buffers);
    out_breach(a, rule, &b);
}

void loss_rule(struct assertion *a, struct rule *rule)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int outcome = capture ? kev_capture_open(capture, a->path) : KEV_FAILED;

    while (outcome >= 0 && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_LOSS) {
            take_loss(a, rule, item);
        } else if (item->kind == KEV_ITEM_SCOPE && item->loss->kind == KEV_SCOPE_FOREIGN) {
            judge_reason(rule, item->loss->text);
        } else if (item->kind == KEV_ITEM_EVENT && rule->checked++ % PROGRESS_EACH == 0) {
            kymo_progress(rule->name, item->offset, kev_capture_facts(capture)->bytes);
        }
    }
    kymo_progress_end();
    if (outcome == KEV_FAILED) {
        char text[1024] = "out of memory";

        if (capture != NULL) {
            verify_fault_text(kev_capture_fault(capture), VERIFY_CUT, text, sizeof(text));
        }
        judge_reason(rule, text);
    }
    rule->has_checked = rule->done = true;
    kev_capture_free(capture);
}
