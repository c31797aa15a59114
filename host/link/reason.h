/* SPDX-License-Identifier: BSD-2-Clause */
/* Error numbers on the link are the target's (abi/errno.h); here are both ways of telling. */
#ifndef HOST_LINK_REASON_H
#define HOST_LINK_REASON_H

/* The target's negative errno in words. */
const char *reason_text(int reason);
/* An errno of this host as the target's, EIO if it has no such. */
int reason_to_target(int error);

#endif
