/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings that an event or an attribute of the capture states: crashes. See diagnose.h. */
#include <stdio.h>
#include <string.h>

#include "host/diagnose/own.h"
#include "host/event_numbers.h"
#include "host/kymo.h"
#include "trace/slot.h"

enum { /* of SLOG: kernel/entry/fault.c, and lib/retain/made.c for a panic */
       CRASH_OPCODE = 1,
       CRASH_CRITICAL = 1,
       CRASH_SHUTDOWN = 0,
};

static void crash_add(struct diagnosis *d, const struct flow_thread *thread, const char *text)
{
    struct finding f = diagnosis_finding(d, FINDING_CRASH, thread, d->now, d->now);

    if (thread != NULL) { /* what led to it */
        int64_t from = d->now > 10 * DIAGNOSE_MS ? d->now - 10 * DIAGNOSE_MS : 0;

        f = diagnosis_finding(d, FINDING_CRASH, thread, from, d->now);
        f.from = d->now;
    }
    f.harm = 1;
    snprintf(f.text, sizeof(f.text), "%.500s", text);
    diagnosis_add(d, &f);
}

/* Is the line the kernel's? A program that calls slogf() may choose the same opcode. */
static bool crash_is_kernels(const struct diagnosis *d, int64_t severity, const char *text)
{
    if (severity == CRASH_SHUTDOWN) {
        return kev_capture_attribute(d->capture, "PANIC_REASON") != NULL;
    }
    return severity == CRASH_CRITICAL && (strstr(text, " terminated: SIG") != NULL ||
                                          strstr(text, " terminated: signal") != NULL);
}

static void crash_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    const struct kev_value *opcode, *severity, *text;

    (void)self;
    if (d->item->class_id != TRACE_CLASS_SYSTEM || d->item->code != NUMBER_slog) {
        return;
    }
    opcode = kev_capture_value_of(d->capture, "opcode");
    if (opcode == NULL || opcode->integer != CRASH_OPCODE) {
        return;
    }
    severity = kev_capture_value_of(d->capture, "severity");
    text = kev_capture_value_of(d->capture, "text");
    if (severity != NULL && text != NULL && text->text != NULL &&
        crash_is_kernels(d, severity->integer, text->text)) {
        crash_add(d, step->current, text->text);
    }
}

static void crash_end(struct diagnosis *d, void *self)
{
    const char *panic = kev_capture_attribute(d->capture, "PANIC_REASON");
    char text[256];

    (void)self;
    if (panic != NULL) {
        snprintf(text, sizeof(text), "the kernel has stopped: %.200s", panic);
        crash_add(d, NULL, text);
    }
}

const struct family family_crash = {.bytes = 1, .step = crash_step, .end = crash_end};
