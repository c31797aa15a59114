/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print: the state of the command, and its loop over the events.
 */
#ifndef HOST_PRINT_PRINT_H
#define HOST_PRINT_PRINT_H

#include "host/count.h"
#include "host/kymo.h"
#include "host/print/line.h"
#include "host/select.h"

#define PRINT_PATHS 64

enum print_shape { PRINT_LINES, PRINT_JSON, PRINT_CSV };

struct print {
    const char *input, *output;
    bool verbose, follow, recover, names, force;
    bool owners_wanted; /* an option needs the owner of each event */
    enum print_shape shape;
    bool both_shapes; /* --json and --csv */
    struct kymo_select select;
    struct kymo_when wait; /* --wait */
    struct line_style style;
    struct format format;           /* of -p: style.format points to it, or is NULL */
    const char *paths[PRINT_PATHS]; /* of --symbols */
    unsigned npaths;
    struct print_symbols symbols;
    struct owners *owners; /* NULL: not wanted */
    struct out *out;
    uint64_t events; /* read, of all kinds */
    struct count count;
    uint64_t last, late; /* time of the newest event; how many came after a newer one */
    bool past;           /* --to is reached */
    bool no_memory;      /* what is printed is half of it */
};

/* follow.c. Opens the capture; with --follow, waits until its header is there. */
struct kev *print_open(struct print *print, struct kev_error *error);
/* Prints what there is. Returns KEV_END when there is no more for now, or output fails. */
enum kev_result print_events(struct print *print, struct kev *kev, struct kev_error *error);
/* Reads all of the capture for names and symbols, which its end may have for its beginning. */
bool print_learn(struct print *print, struct kev *kev);
/* Prints while the capture is being written, until interrupted or a pipe's writer has ended. */
enum kev_result print_follow(struct print *print, struct kev *kev, struct kev_error *error);

#endif
