/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print: what its files share.
 */
#ifndef HOST_PRINT_PRINT_H
#define HOST_PRINT_PRINT_H

#include "host/kymo.h"
#include "host/print/line.h"

#define PRINT_PATHS 64

struct print {
    const char *input, *output;
    bool verbose, follow, recover;
    uint64_t cpus;
    struct kymo_classes classes;
    struct line_style style;
    struct format format;           /* of -p: style.format is it, or NULL */
    const char *paths[PRINT_PATHS]; /* of --symbols */
    unsigned npaths;
    struct symbols *symbols;
    struct out *out;
    uint64_t events;
};

/* follow.c. Opens the capture; when following, waits until its header is there. */
struct kev *print_open(struct print *print, struct kev_error *error);
/* Prints what there is. KEV_END when there is no more for now, or output fails. */
enum kev_result print_events(struct print *print, struct kev *kev, struct kev_error *error);
/* symbols_learn() of all that there is, if it can be read twice. */
void print_learn(const struct print *print);
/* The same while the capture is being written, until interrupted or a pipe's writer is gone. */
enum kev_result print_follow(struct print *print, struct kev *kev, struct kev_error *error);

#endif
