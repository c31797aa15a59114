/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the host command's parts: exit statuses, messages, the options that several commands
 * have. `kymo` is one process with one thread.
 */
#ifndef HOST_KYMO_H
#define HOST_KYMO_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/reader/kev.h"

extern const char kymo_version[]; /* what scripts/version printed when kymo was linked */

#define KYMO_OK 0
#define KYMO_FAILURE 1
#define KYMO_USAGE 2

struct kymo_command {
    const char *name;
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
    const char *help;
};

extern const struct kymo_command kymo_export_command, kymo_report_command, kymo_why_command;
extern const struct kymo_command kymo_print_command, kymo_stat_command, kymo_run_command,
    kymo_dtrace_command, kymo_link_command, kymo_console_command, kymo_capture_command,
    kymo_extract_command, kymo_cut_command, kymo_symbols_command, kymo_top_command,
    kymo_collect_command, kymo_assert_command, kymo_diff_command, kymo_query_command,
    kymo_load_command, kymo_view_command, kymo_verify_command, kymo_diagnose_command;

/* diag.c. Escapes all that is printed to stderr from here on (escape.h). */
void kymo_messages_start(void);
/* Prints a message to standard error, as "kymo: …". */
void kymo_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the command with the message that there is no memory, for parts of it that can't go on
 * without: no output is left half written. */
_Noreturn void kymo_no_memory(void);
/* Returns memory that was asked for; ends the command likewise if that is NULL. */
static inline void *kymo_memory(void *made)
{
    if (made == NULL) {
        kymo_no_memory();
    }
    return made;
}
/* Prints a message with a hint at the command's help; returns KYMO_USAGE. */
int kymo_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports what getopt_long() returned '?' or ':' for, with the option that was probably meant;
 * returns KYMO_USAGE. */
int kymo_bad_option(const char *command, const struct option *options, int argc, char **argv,
                    int result);
int kymo_help(const struct kymo_command *command);
/* Flushes standard output. Returns the status; after a message that not all could be written,
 * KYMO_FAILURE in place of KYMO_OK. A reader that has closed its pipe is not a failure. */
int kymo_stdout_end(int status);
/* Prints the progress of long work on standard error, if that is a terminal. kymo_progress_end()
 * clears the line. */
void kymo_progress(void *what, uint64_t done, uint64_t total);
void kymo_progress_end(void);
/* From here on progress is written to this file, if it is a terminal; -1: never. */
void kymo_progress_on(int fd);

/* select.c. Lists as the options have them: "0,2-3"; "int,comm". -1: malformed. */
int kymo_parse_cpus(const char *text, uint64_t *mask);

/* A filter by class: external class names, some internal classes are split by event. */
struct kymo_classes {
    bool any;      /* no filter */
    uint32_t bits; /* KYMO_CLASS_* */
};
int kymo_parse_classes(const char *text, struct kymo_classes *classes, const char **bad);
/* Returns "; did you mean NAME?" for the name of no class, or "": until the next call. */
const char *kymo_class_hint(const char *name, size_t len);
bool kymo_class_wanted(const struct kymo_classes *classes, const struct kev_event *event);

#endif
