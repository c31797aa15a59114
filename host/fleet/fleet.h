/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures of many devices as tables: `kymo export --parquet` and `kymo query`, through DuckDB in a
 * child process, and `kymo load`, into ClickHouse. tables.c makes rows of a capture, source.c says
 * where a capture is from, child.c runs the programs that do what the command does not do itself.
 * docs/guide/fleet.md explains the tables; proof: test/host/fleet/check.py,
 * test/host/fleet/shards.py.
 *
 * A capture's id is the SHA-256 of its bytes: what is loaded twice is there once. One thread.
 */
#ifndef HOST_FLEET_FLEET_H
#define HOST_FLEET_FLEET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/export/export.h"

#define FLEET_NAME 256 /* bytes of a device's or firmware's name */
#define FLEET_GIVEN 64 /* of one that an option gives */
/* Characters of a name that Hive's form in a path has as they are; others are %XX. */
#define FLEET_PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define FLEET_ID 64 /* hexadecimal digits */
/* In the folder of kymo export --parquet; engines pass over names that begin with _. */
#define FLEET_MARK "_kymo"

/* mark.c. Writes the mark. 0, or -1 after a message. */
int fleet_mark_write(const char *folder, int fd);
/* Returns 0 if this kymo knows the folder's layout, -1 after a message. *is_empty: the mark has no
 * text yet, as a process that was killed leaves it. */
int fleet_mark_check(const char *folder, int fd, bool *is_empty);

/* ---- source.c: captures, and where they are from ----------------------------------- */

struct fleet_source {
    char *path;
    char device[FLEET_NAME + 1];   /* "": as the capture says */
    char firmware[FLEET_NAME + 1]; /* likewise */
    char date[11];                 /* YYYY-MM-DD, likewise */
};

struct fleet_options {
    const char *device, *firmware, *date; /* NULL: not given */
    const char *path;                     /* a rule of path.c, likewise */
    bool recover;
};

struct fleet_sources {
    struct fleet_source *list;
    unsigned count;
    const struct fleet_options *options;
};

/* Takes the words of the command line: captures, and folders of captures. An exit status. */
int fleet_sources_find(struct fleet_sources *sources, int argc, char **argv);
void fleet_sources_free(struct fleet_sources *sources);
/* Takes one of FLEET_OPTIONS but --help. An exit status, after a message. */
int fleet_option_use(const char *command, struct fleet_options *options, int option,
                     const char *value);
enum {
    FLEET_OPT_DEVICE = 512,
    FLEET_OPT_FIRMWARE,
    FLEET_OPT_DATE,
    FLEET_OPT_PATH,
    FLEET_OPT_RECOVER
};
#define FLEET_OPTIONS \
    {"device", required_argument, NULL, FLEET_OPT_DEVICE}, \
        {"firmware", required_argument, NULL, FLEET_OPT_FIRMWARE}, \
        {"date", required_argument, NULL, FLEET_OPT_DATE}, \
        {"path", required_argument, NULL, FLEET_OPT_PATH}, \
        {"recover", no_argument, NULL, FLEET_OPT_RECOVER}, \
    { \
        "help", no_argument, NULL, 'h' \
    }

/* A capture that is open. */
struct fleet_capture {
    struct export export;
    int fd;
    uint64_t bytes;
    char id[FLEET_ID + 1];
    char device[FLEET_NAME + 1], firmware[FLEET_NAME + 1], date[11];
    const char *file; /* the last part of its path */
};

/* Opens the file and takes its id; it is no capture yet. An exit status, after a message. */
int fleet_capture_open(struct fleet_capture *capture, const struct fleet_source *source);
/* Reads it as a capture, and finds out where it is from. An exit status, after a message. */
int fleet_capture_read(struct fleet_capture *capture, const struct fleet_source *source,
                       const struct fleet_options *options);
void fleet_capture_close(struct fleet_capture *capture);
uint32_t fleet_hash(const char *text);
/* Returns true if the text is a day YYYY-MM-DD that the calendar has. */
bool fleet_is_date(const char *text);

/* ---- path.c: what the path of a capture says --------------------------------------- */

bool fleet_path_is_rule(const char *rule);
/* Takes what the rule finds in a path below a folder. Returns 0, or -1 after a message. */
int fleet_path_use(struct fleet_source *source, const char *rule, const char *below);
/* Visits each file NAME.kev below the folder in the order of names: its path, and the part of that
 * below the folder. Symbolic links are not followed. Returns 0, or -1 after a message. */
typedef int (*fleet_path_visit_t)(void *arg, const char *path, const char *below);
int fleet_path_walk(const char *folder, fleet_path_visit_t visit, void *arg);

/* ---- wall.c: times in UTC ---------------------------------------------------------- */

/* In ns since 1970; KEV_NEVER: not known. */
struct fleet_times {
    int64_t recorded, booted;
    int64_t started;   /* at which the capture's ns is 0 */
    const char *clock; /* how `started` is known: "stated", "boot"; NULL: it is not */
};

/* The capture is open, and its names are learned. */
void fleet_times_find(const struct export *export, struct fleet_times *times);
/* Returns the time of an event, or KEV_NEVER. */
int64_t fleet_time_at(const struct fleet_times *times, int64_t ns);

/* ---- tables.c: a capture as rows --------------------------------------------------- */

/* FLEET_TIME: in UTC, may be unknown; in rows ns since 1970. */
enum fleet_type { FLEET_INT, FLEET_MAYBE_INT, FLEET_TEXT, FLEET_MAYBE_TEXT, FLEET_TIME };

struct fleet_column {
    const char *name;
    enum fleet_type type;
};

/* `captures` is the last to be written: what it does not name is not there. */
enum { FLEET_EVENTS, FLEET_STATES, FLEET_MESSAGES, FLEET_LOSSES, FLEET_CAPTURES, FLEET_TABLES };

struct fleet_table {
    const char *name;
    const struct fleet_column *columns; /* ended by one without a name */
    const char *order;                  /* by which rows of a capture are sorted */
};
extern const struct fleet_table fleet_tables[FLEET_TABLES];

struct fleet_sink {
    const char *folder; /* for files of CSV */
    const char *prefix; /* what each row begins with: further columns; "" */
    void *arg;
    /* Takes over a file of rows, the table's number `part`, from 0. 0, or -1 after a message. */
    int (*take)(void *arg, unsigned table, unsigned part, const char *path);
};

/* All rows of an open capture into the sink. An exit status: of `*broken` nothing may stay. */
int fleet_tables_write(struct fleet_capture *capture, const struct fleet_sink *sink, bool *broken);

/* ---- child.c: programs that help --------------------------------------------------- */

struct fleet_child {
    pid_t pid;
    int to, from; /* its standard input, unless that is a file, and its output; -1: closed */
};

/* A signal that ends the command has come: what is being done is given up. */
extern volatile int fleet_stopped;
void fleet_signals_catch(void);
/* Ends the process by the signal that has come, if one has. */
void fleet_signals_end(void);

/* Starts a program with `input` as its standard input, -1: a pipe; `config`, if it is not NULL, can
 * be read from descriptor 3; errors come with the output if `joined`. 0, or -1 after a message that
 * ends with `remedy`. */
int fleet_child_start(struct fleet_child *child, char *const argv[], int input, const char *config,
                      bool joined, const char *remedy);
/* Reads until the end of its output, at most room - 1 bytes, the rest is dropped; waits for the
 * child. Returns its exit status, -1: it was killed. */
int fleet_child_end(struct fleet_child *child, char *text, size_t room);
/* Reads a line, without its newline. Returns false if there is none. */
bool fleet_child_line(struct fleet_child *child, char *text, size_t room);
/* Reads a line. Those of the form "N %" before it are shown as progress of `what`. */
bool fleet_child_answer(struct fleet_child *child, char *what, char *text, size_t room);
/* Waits until the child says something or ends, or a signal has come, and shows meanwhile how many
 * of the `total` bytes of `input`, the file that is its standard input, it has read. */
void fleet_child_watch(const struct fleet_child *child, const char *what, int input,
                       uint64_t total);
void fleet_child_kill(struct fleet_child *child);

/* Path of a file that comes with the command. */
bool fleet_file(const char *name, char path[PATH_MAX]);
/* DuckDB's module for node. False, after a message with the remedy: it is not installed. */
bool fleet_duckdb(char path[PATH_MAX]);
/* Removes a folder and all that is in it. */
void fleet_folder_remove(const char *path);

/* ---- commands ---------------------------------------------------------------------- */

/* parquet.c: kymo export --parquet. */
bool fleet_is_wanted(int argc, char **argv);
int fleet_export(int argc, char **argv);

#endif
