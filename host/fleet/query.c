/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo query: SQL over the folder of kymo export --parquet. Checks the command line, then becomes
 * node with query.js, which has the SQL and the output. Proof: test/host/fleet/check.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/fleet/fleet.h"
#include "host/kymo.h"

#define QUERY_MOST (100 << 10) /* bytes of SQL: a word of a command line has at most 128 KB */

static const char query_help[] =
    "Usage: kymo query [options] DIR ['SQL']\n"
    "       kymo query [options] DIR -f FILE\n"
    "\n"
    "Runs SQL on the captures of many devices that kymo export --parquet has put into the folder\n"
    "DIR. Without SQL it lists the tables and the ready views. Needs make install-query.\n"
    "\n"
    "  -f FILE         take the SQL from a file; - is standard input\n"
    "  --csv           RFC 4180, with a line of names first\n"
    "  --json          a JSON object a row\n"
    "  --memory SIZE   use at most so much memory, as 512M; the default is 2G\n"
    "  -h, --help      print this text\n";

struct query {
    const char *format, *file, *folder, *sql;
    uint64_t memory;
    char text[QUERY_MOST + 1]; /* of the file */
};

static int file_read(struct query *query)
{
    bool standard = strcmp(query->file, "-") == 0;
    FILE *file = standard ? stdin : fopen(query->file, "re");
    size_t n = 0;

    if (file != NULL) {
        n = fread(query->text, 1, sizeof(query->text), file);
    }
    if (file == NULL || ferror(file)) {
        kymo_error("%s: %s", query->file, strerror(errno));
        return KYMO_FAILURE;
    }
    if (!standard) {
        fclose(file);
    }
    if (n > QUERY_MOST || memchr(query->text, '\0', n) != NULL) {
        kymo_error("%s: SQL has at most %d bytes, and no NUL", query->file, QUERY_MOST);
        return KYMO_FAILURE;
    }
    query->text[n] = '\0';
    query->sql = query->text;
    return KYMO_OK;
}

static int fleet_query_options_parse(struct query *query, int argc, char **argv)
{
    static const struct option names[] = {
        {"csv", no_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"memory", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *chosen = NULL;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":f:h", names, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_query_command);
        case 'f':
            query->file = optarg;
            break;
        case 'c':
        case 'j':
            query->format = option == 'c' ? "csv" : "json";
            if (chosen != NULL && strcmp(chosen, query->format) != 0) {
                return kymo_usage("query", "query: --csv or --json, not both");
            }
            chosen = query->format;
            break;
        case 'm':
            if (!disk_size(optarg, &query->memory)) {
                return kymo_usage("query", "query: --memory: %s: is no size, as 512M", optarg);
            }
            break;
        default:
            return kymo_bad_option("query", names, argc, argv, option);
        }
    }
    if (optind == argc) {
        return kymo_usage("query", "query: which folder?");
    }
    query->folder = argv[optind++];
    query->sql = optind < argc ? argv[optind++] : NULL;
    if (optind < argc || (query->sql != NULL && query->file != NULL)) {
        return kymo_usage("query", "query: one SQL text: in quotes, or -f FILE");
    }
    return query->file != NULL ? (file_read(query) == KYMO_OK ? -1 : KYMO_FAILURE) : -1;
}

/* Returns true if the folder is one that this kymo reads; else false after a message. */
static bool query_folder_is_known(const char *folder)
{
    char path[PATH_MAX];
    bool known, is_empty;
    int mark;

    snprintf(path, sizeof(path), "%s/%s", folder, FLEET_MARK);
    mark = open(path, O_RDONLY | O_CLOEXEC);
    if (mark < 0 && errno == ENOENT && access(folder, F_OK) == 0) {
        kymo_error("%s: is no folder of kymo export --parquet: it has no %s", folder, FLEET_MARK);
        return false;
    }
    if (mark < 0) {
        kymo_error("%s: %s", folder, strerror(errno));
        return false;
    }
    known = fleet_mark_check(folder, mark, &is_empty) == 0;
    close(mark);
    return known;
}

/* node inherits the lock, and so holds it until the end: kymo export --compact removes no file
 * meanwhile. Where there are no locks, as on some network file systems, it may. */
static void query_lock_take(void)
{
    int folder = open(".", O_RDONLY | O_DIRECTORY); /* without O_CLOEXEC */

    if (folder >= 0 && flock(folder, LOCK_SH) != 0) {
        close(folder);
    }
}

static int query_run(const struct query *query)
{
    char script[PATH_MAX], module[PATH_MAX], views[PATH_MAX], memory[32];
    char *argv[] = {(char *)"node",
                    script,
                    module,
                    (char *)query->folder,
                    views,
                    (char *)query->format,
                    memory,
                    (char *)query->sql,
                    NULL};

    snprintf(memory, sizeof(memory), "%" PRIu64, query->memory);
    if (!query_folder_is_known(query->folder)) {
        return KYMO_FAILURE;
    }
    if (!fleet_file("query.js", script) || !fleet_file("views.sql", views) ||
        !fleet_duckdb(module)) {
        return KYMO_FAILURE;
    }
    if (chdir(query->folder) != 0) {
        kymo_error("%s: %s", query->folder, strerror(errno));
        return KYMO_FAILURE;
    }
    query_lock_take();
    execvp(argv[0], argv);
    if (errno == ENOENT) {
        kymo_error("node is not installed: apt-get install nodejs");
    } else {
        kymo_error("node: can't be run: %s", strerror(errno));
    }
    return KYMO_FAILURE;
}

static int query_main(int argc, char **argv)
{
    struct query *query = calloc(1, sizeof(*query));
    int status;

    if (query == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    query->format = "table";
    query->memory = UINT64_C(2) << 30;
    status = fleet_query_options_parse(query, argc, argv);
    status = status < 0 ? query_run(query) : status;
    free(query);
    return status;
}

const struct kymo_command kymo_query_command = {
    .name = "query",
    .summary = "run SQL on the captures of many devices",
    .run = query_main,
    .help = query_help,
};
