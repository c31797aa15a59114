/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults: one text that names the file, the place, the error and the remedy. Proof:
 * test/host/kev/kev_test.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/kev/capture.h"

const struct kev_fault *kev_capture_fault(const struct kev_capture *capture)
{
    return &capture->fault;
}

int capture_fault(struct kev_capture *capture, enum kev_fault_code code, const char *remedy,
                  const char *format, ...)
{
    struct kev_fault *fault = &capture->fault;
    size_t used;
    va_list args;

    va_start(args, format);
    vsnprintf(capture->fault_text, sizeof(capture->fault_text), format, args);
    va_end(args);
    *fault = (struct kev_fault){.code = (int32_t)code, .offset = -1, .text = capture->fault_text};
    if (remedy != NULL) {
        snprintf(capture->remedy, sizeof(capture->remedy), "%s", remedy);
        fault->remedy = capture->remedy;
        used = strlen(capture->fault_text);
        snprintf(capture->fault_text + used, sizeof(capture->fault_text) - used, "; %s", remedy);
    }
    return KEV_FAILED;
}

int capture_fault_of(struct kev_capture *capture, const struct kev_error *error)
{
    enum kev_fault_code code = !error->placed      ? KEV_FAULT_SYSTEM
                               : error->incomplete ? KEV_FAULT_CUT_SHORT
                                                   : KEV_FAULT_DAMAGED;
    const char *remedy = error->recoverable ? "kev_capture_set_recover() gives the undamaged parts"
                         : code == KEV_FAULT_CUT_SHORT && error->offset > 0
                             ? "what is here can be read"
                             : NULL;

    capture_fault(capture, code, remedy, "%s", error->text);
    capture->fault.recoverable = error->recoverable;
    capture->fault.offset = error->placed ? (int64_t)error->offset : -1;
    return KEV_FAILED;
}
