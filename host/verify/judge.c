/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judge (verify.h): the reader's findings as messages and as an exit status.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/kev/inside.h"
#include "host/kymo.h"
#include "host/verify/verify.h"

static const char *const judge_remedies[] = {
    [VERIFY_RECOVER] = "`--recover` reads the undamaged parts",
    [VERIFY_CUT] = "`kymo cut --recover` makes a capture of the undamaged parts",
};

/* ---- texts ------------------------------------------------------------------------- */

void verify_error_text(const struct kev_error *error, enum verify_remedy remedy, char *to,
                       size_t room)
{
    snprintf(to, room, "%s%s%s", error->text, error->recoverable ? "; " : "",
             error->recoverable ? judge_remedies[remedy] : "");
}

/* libkev's remedy is a programmer's. */
void verify_fault_text(const struct kev_fault *fault, enum verify_remedy remedy, char *to,
                       size_t room)
{
    size_t length = strlen(fault->text);

    if (!fault->recoverable) {
        snprintf(to, room, "%s", fault->text);
        return;
    }
    length -= strlen(fault->remedy) + strlen("; ");
    snprintf(to, room, "%.*s; %s", (int)length, fault->text, judge_remedies[remedy]);
}

int verify_refuse(const struct kev_error *error)
{
    char text[1024];

    verify_error_text(error, VERIFY_RECOVER, text, sizeof(text));
    kymo_error("%s", text);
    return KYMO_FAILURE;
}

int verify_refuse_d(const struct kev_error *error)
{
    char text[1024];

    verify_error_text(error, VERIFY_CUT, text, sizeof(text));
    fprintf(stderr, "dtrace: %s\n", text);
    return KYMO_FAILURE;
}

int verify_refuse_fault(const struct kev_fault *fault)
{
    char text[1024];

    verify_fault_text(fault, VERIFY_RECOVER, text, sizeof(text));
    kymo_error("%s", text);
    return KYMO_FAILURE;
}

/* ---- findings ---------------------------------------------------------------------- */

/* Recovering found no buffer of a capture that is damaged or cut short. */
static bool judge_is_hopeless(const struct kev *kev)
{
    return kev_info(kev)->recovers && kev_info(kev)->buffers == 0 &&
           (kev_damage(kev)->first[0] != '\0' || kev_ended_by(kev) != NULL);
}

static void judge_recovered_print(const struct kev *kev)
{
    const struct kev_damage *damage = kev_damage(kev);
    const struct kev_info *info = kev_info(kev);
    char more[80] = "";

    if (damage->sums > 0) {
        snprintf(more, sizeof(more), ", %" PRIu64 " buffers with a wrong sum (not skipped)",
                 damage->sums);
    }
    kymo_error("%s: recovered; skipped: %" PRIu64 " bytes in %" PRIu64 " places, %" PRIu64
               " slots, %" PRIu64 " incomplete events, %" PRIu64
               " buffers out of order%s; first at byte %" PRIu64 ": %s",
               info->path, damage->bytes, damage->places, damage->slots, damage->events,
               damage->sequences, more, damage->first_offset, damage->first);
}

/* Returns true if anything is wrong. */
static bool judge_findings_print(const struct kev *kev)
{
    const struct kev_error *ended = kev_ended_by(kev);
    const struct kev_damage *damage = kev_damage(kev);
    const struct kev_info *info = kev_info(kev);

    if (info->equal_stamps > 0) {
        kymo_error("%s: warning: %" PRIu64 " events have the time of the one before them on their "
                   "CPU; their order is unknown",
                   info->path, info->equal_stamps);
    }
    if (ended != NULL) {
        verify_refuse(ended);
    }
    if (judge_is_hopeless(kev)) {
        kymo_error("%s: nothing to recover: no buffer of events is in its %" PRIu64 " bytes",
                   info->path, info->size);
    } else if (damage->first[0] != '\0') {
        judge_recovered_print(kev);
    } else if (damage->events > 0) {
        /* Another kernel's: nothing is wrong with them, but they are not all there. */
        kymo_error("%s: %" PRIu64 " combine events without a beginning or an end: left out",
                   info->path, damage->events);
    }
    return ended != NULL || damage->first[0] != '\0' || damage->events > 0;
}

static int judge_status(const struct kev *kev)
{
    const struct kev_error *ended = kev_ended_by(kev);

    if (ended == NULL) {
        return judge_is_hopeless(kev) ? KYMO_FAILURE : KYMO_OK;
    }
    return kev_info(kev)->recovers && ended->given && !judge_is_hopeless(kev) &&
                   kev_info(kev)->next_capture == 0
               ? KYMO_OK
               : KYMO_FAILURE;
}

/* ---- the end ----------------------------------------------------------------------- */

int verify_end(const struct kev *kev)
{
    judge_findings_print(kev);
    return judge_status(kev);
}

int verify_end_capture(const struct kev_capture *capture, int outcome, bool counted)
{
    const struct capture_inside inside = capture_inside(capture);
    bool said;

    if (outcome == KEV_FAILED) {
        return verify_refuse_fault(kev_capture_fault(capture));
    }
    said = judge_findings_print(inside.kev);
    if (counted && outcome == KEV_LOSSY && (inside.lost > 0 || !said)) {
        verify_refuse_fault(kev_capture_fault(capture));
    }
    return inside.lacks && !kev_info(inside.kev)->recovers ? KYMO_FAILURE
                                                           : judge_status(inside.kev);
}

bool verify_can_show(const struct kev *kev)
{
    const struct kev_error *ended = kev_ended_by(kev);

    return (ended == NULL || ended->given) && !judge_is_hopeless(kev);
}
