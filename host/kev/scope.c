/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scope: events that were not meant to be recorded, or not meant to be given. It is no loss, but a
 * program that takes absence for silence has to know it, so it stands before the first event.
 * Proof: test/host/kev/kev_test.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/kev/capture.h"

static struct capture_scope *scope_add(struct kev_capture *capture, uint32_t kind, const char *text)
{
    struct capture_scope *scope;

    scope = &capture->scopes[capture->nscopes];
    capture->nscopes += capture->nscopes < CAPTURE_SCOPES;
    *scope = (struct capture_scope){.kind = kind, .cpu = -1, .to_ns = KEV_NEVER, .text = text};
    return scope;
}

static bool kev_scope_begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A filter as the header has it (docs/reference/format.md, "What was recorded"). */
static void filter_add(struct kev_capture *capture, const char *value)
{
    static const char *const all[] = {"all classes", "fast", "wide", "all processes and threads"};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(value, all[i]) == 0) {
            return;
        }
    }
    scope_add(capture,
              kev_scope_begins_with(value, "gate ") || strcmp(value, "gate") == 0 ? KEV_SCOPE_GATE
              : strcmp(value, "applications start and stop") == 0                 ? KEV_SCOPE_PAUSES
              : kev_scope_begins_with(value, "unknown") ||
                      kev_scope_begins_with(value, "form set by")
                  ? KEV_SCOPE_UNKNOWN
                  : KEV_SCOPE_FILTER,
              value);
}

static void filters_find(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);

    for (unsigned i = 0; i < info->nattrs; i++) {
        if (kev_scope_begins_with(info->attrs[i].key, "FILTER_")) {
            filter_add(capture, info->attrs[i].value);
        }
    }
    if (kev_attr(capture->kev, "FILTER_1") == NULL) {
        scope_add(capture, KEV_SCOPE_UNKNOWN, "the header does not say what was recorded");
    }
}

static void rings_find(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);

    for (unsigned cpu = 0; cpu < info->ncpu && cpu < KEV_CPUS; cpu++) {
        const struct kev_cpu_info *of = &info->cpu[cpu];
        const struct capture_cpu *covered = &capture->cpus[cpu];

        if (of->buffers > 0 && of->first_sequence > 1) {
            struct capture_scope *scope = scope_add(capture, KEV_SCOPE_OVERWRITTEN, NULL);

            scope->cpu = (int)cpu;
            scope->buffers = of->first_sequence - 1;
            if (covered->nspans > 0) {
                scope->to_ns = capture_ns(capture, covered->spans[0].from);
            }
        }
    }
}

void scope_find(struct kev_capture *capture)
{
    if (kev_info(capture->kev)->kymo) {
        filters_find(capture);
        rings_find(capture);
    } else {
        scope_add(capture, KEV_SCOPE_FOREIGN,
                  "another kernel's capture: events that are missing go unnoticed");
    }
    if (kev_attr(capture->kev, "CUT_OF") != NULL) {
        scope_add(capture, KEV_SCOPE_CUT, kev_attr(capture->kev, "CUT_OF"));
    }
    if (kev_attr(capture->kev, "RETAINED") != NULL) {
        scope_add(capture, KEV_SCOPE_RETAINED, kev_attr(capture->kev, "RETAINED"));
    }
    if (capture->nselected > 0) {
        scope_add(capture, KEV_SCOPE_SELECTION, capture->selection);
    }
}

bool scope_next(struct kev_capture *capture)
{
    const struct capture_scope *scope = &capture->scopes[capture->scope];

    if (capture->scope == capture->nscopes) {
        return false;
    }
    capture->scope++;
    capture->loss = (struct kev_loss){.kind = scope->kind,
                                      .class_id = -1,
                                      .from_ns = KEV_EVER,
                                      .to_ns = scope->to_ns,
                                      .buffers = scope->buffers,
                                      .text = scope->text};
    if (scope->text == NULL) {
        snprintf(capture->loss_text, sizeof(capture->loss_text),
                 "%" PRIu64 " older buffers of CPU %d are not here: they were overwritten before "
                 "its first one",
                 scope->buffers, scope->cpu);
        capture->loss.text = capture->loss_text;
    }
    item_loss(capture, scope->cpu, kev_info(capture->kev)->start, 0);
    capture->item.kind = KEV_ITEM_SCOPE;
    return true;
}
