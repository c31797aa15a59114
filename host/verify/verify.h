/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judge of whether a capture is whole: every command that reads one ends through it, so that
 * all say the same of a file, in the same words and with the same exit status (kymo-verify(1)):
 *
 * * without --recover a capture that is damaged, cut short, without buffers that were in it, or
 *   followed by another one makes the command fail. Losses that it counts itself do not.
 * * with --recover the valid part is what was asked for: the command fails only if not one buffer
 *   of events could be read, or another capture follows, of which nothing was.
 *
 * A selection by time that ends before the fault does not see it. Proof: test/host/verify.
 */
#ifndef HOST_VERIFY_VERIFY_H
#define HOST_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "host/kev/kev.h"
#include "host/reader/kev.h"

/* The remedy of a message: a command's own --recover, or, of a command that has none, kymo cut. */
enum verify_remedy { VERIFY_RECOVER, VERIFY_CUT };

/* Prints why a capture could not be opened. Returns the exit status. */
int verify_refuse(const struct kev_error *error);
/* Likewise, for libkev: it could not be opened, or reading it has failed. */
int verify_refuse_fault(const struct kev_fault *fault);

/* Likewise, under the name of dtrace(1M), which has no --recover. */
int verify_refuse_d(const struct kev_error *error);

/* The capture has been read to its end, or as far as it can be: prints each finding. Returns the
 * exit status. */
int verify_end(const struct kev *kev);
/* Likewise, for libkev: `outcome` is kev_capture_next()'s last one. Prints also what the capture
 * counts as lost, if `counted`. */
int verify_end_capture(const struct kev_capture *capture, int outcome, bool counted);
/* Returns true if what has been read is worth showing: reading was not ended by damage, and a
 * buffer of events was found. */
bool verify_can_show(const struct kev *kev);

/* The messages as texts, for programs that print them under another name. */
void verify_error_text(const struct kev_error *error, enum verify_remedy remedy, char *to,
                       size_t room);
void verify_fault_text(const struct kev_fault *fault, enum verify_remedy remedy, char *to,
                       size_t room);

#endif
