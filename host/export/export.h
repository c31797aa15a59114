/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo export: a capture in the formats of other programs. cmd.c opens the capture through libkev
 * and gives each format the items in one pass, so memory does not grow with the capture; a format
 * is a struct of functions in the table of cmd.c. docs/reference/export.md says what each format
 * has of an event and of a loss. Proof: test/host/export/check.
 *
 * Names and texts of a capture are not trusted: a format writes them through text.c, or in another
 * way that never makes them structure.
 */
#ifndef HOST_EXPORT_EXPORT_H
#define HOST_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/count.h"
#include "host/kev/kev.h"
#include "host/print/out.h"

#define EXPORT_SYMBOLS 64 /* times that --symbols is given */

struct export_format;
struct symbols;

struct export
{
    const char *input;
    const char *path; /* of the output, as it was given; "-": standard output */
    bool force, recover;
    /* The selection takes single events, CPUs or threads: what is between is not known. */
    bool partial;
    const struct export_format *format;
    const char *symbol_paths[EXPORT_SYMBOLS]; /* of --symbols */
    unsigned nsymbols;
    struct symbols *symbols;     /* NULL: functions have no names */
    struct kev_capture *capture; /* open; names and lives are learned */
    const struct kev_facts *facts;
    struct out *out;       /* the output; of a folder: NULL */
    struct count count;    /* events given so far */
    uint64_t losses, lost; /* likewise; `lost`: events that the losses count */
    int32_t fault;         /* at the end: enum kev_fault_code, 0: nothing is missing */
    void *state;           /* the format's */
};

/* A format. Functions that fail have said why (kymo_error()) and return -1, else 0; what fails to
 * be written to `out` is noticed by cmd.c. */
struct export_format {
    const char *name; /* of its option: "csv" */
    /* true: the output is a folder, which the format makes itself; it has its name only once
     * end() has returned 0. -o is required. */
    bool folder;
    bool binary; /* not written to a terminal */
    bool draws;  /* functions are slices, which may have names: --symbols */
    /* Before the first item. */
    int (*begin)(struct export *);
    /* An event, a loss or a statement of scope, by time; kinds that it does not know it skips. */
    int (*item)(struct export *, const struct kev_item *);
    /* After the last item: `events` to `fault` are final. */
    int (*end)(struct export *);
    /* Frees `state`, after end(), or after any function that failed: then a folder's parts are
     * removed. NULL: there is nothing to free. */
    void (*discard)(struct export *);
};

extern const struct export_format export_csv, export_jsonl, export_chrome, export_ctf,
    export_tracedat, export_perfetto, export_speedscope;

/* cmd.c, for a command that opens captures itself. Names and lives of the whole capture, which is
 * open. An exit status. */
int export_names_learn(struct export *export);
/* All items into the format. An exit status; *broken: nothing of it may stay. */
int export_format_run(struct export *export, bool *broken);

/* text.c: ,"name": and a value; `name` is a constant. */
void export_json_member(struct out *out, const char *name, const char *text);
void export_json_number(struct out *out, const char *name, int64_t value);
/* The numbers of events and losses at the end, as the first members of an object. */
void export_json_counts(struct out *out, const struct export *export);
/* Likewise, but null if the value is `unknown`. */
void export_json_known(struct out *out, const char *name, int64_t value, int64_t unknown);
/* Likewise, the members that say what the capture is of. */
void export_json_capture(struct out *out, const struct kev_facts *facts);
/* {"pid":1,...}: the values of the event last given. A number that may need more than 53 bits, and
 * an address, is a string of hexadecimal digits. */
void export_json_args(struct out *out, struct kev_capture *capture);

/* The name under which the event last given is drawn: a function by its address, an interrupt with
 * its number and name, others as they are. Returns true if that is not its own name. */
bool export_slice_name(struct export *export, const struct kev_item *item, char *to, size_t room);

/* The name of a kind of loss or scope: "counted", "filter"; "unknown" of later ones. */
const char *export_loss_kind(uint32_t kind);

#endif
