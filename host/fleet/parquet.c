/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo export --parquet: captures into a folder of Parquet files, TABLE/device=D/firmware=F/date=T/
 * ID-PART.parquet. DuckDB, in a child (parquet.js), makes a file of Parquet of each file of rows.
 *
 * A capture is there when its file of table `captures` is, which gets its name last, once all is on
 * the medium. What a run that was killed has left is removed by the next one, under the lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/fleet/fleet.h"
#include "host/kymo.h"

#define STAGING ".staging-"
#define JOBS 2 /* under way at once: rows are written while others are converted */
#define MOVES 4096

struct move { /* a file that is ready, and where it belongs */
    unsigned table, part;
};

struct dataset {
    const char *path;
    int mark;         /* locked */
    char staging[64]; /* in the folder */
    char *ids;        /* of the captures that are there, each FLEET_ID bytes, sorted */
    size_t nids, room;
    struct fleet_child duckdb;
    unsigned under_way;
    struct fleet_capture *capture;
    struct move moves[MOVES];
    unsigned nmoves;
};

static int parquet_report_error(const struct dataset *dataset, const char *name, int error)
{
    kymo_error("%s%s%s: %s", dataset->path, name[0] == '\0' ? "" : "/", name, strerror(error));
    return -1;
}

/* ---- the folder -------------------------------------------------------------------- */

static int parquet_id_compare(const void *a, const void *b)
{
    return memcmp(a, b, FLEET_ID);
}

static bool parquet_id_known(const struct dataset *dataset, const char *id)
{
    return dataset->nids > 0 &&
           bsearch(id, dataset->ids, dataset->nids, FLEET_ID, parquet_id_compare) != NULL;
}

static int parquet_id_add(struct dataset *dataset, const char *id)
{
    if (dataset->nids == dataset->room) {
        size_t room = 2 * dataset->room + 64;
        char *ids = reallocarray(dataset->ids, room, FLEET_ID);

        if (ids == NULL) {
            return parquet_report_error(dataset, "", ENOMEM);
        }
        dataset->ids = ids;
        dataset->room = room;
    }
    memcpy(dataset->ids + dataset->nids++ * FLEET_ID, id, FLEET_ID);
    return 0;
}

/* Calls for each file of Parquet of a table; a folder that can't be read is an error. */
static int files_visit(struct dataset *dataset, unsigned table,
                       int (*visit)(struct dataset *, const FTSENT *))
{
    char path[PATH_MAX], *paths[] = {path, NULL};
    int status = 0;
    FTS *fts;

    snprintf(path, sizeof(path), "%s/%s", dataset->path, fleet_tables[table].name);
    if (access(path, F_OK) != 0) {
        return 0;
    }
    fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (fts == NULL) {
        return parquet_report_error(dataset, fleet_tables[table].name, errno);
    }
    for (FTSENT *e; status == 0 && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR) {
            status = parquet_report_error(dataset, fleet_tables[table].name, e->fts_errno);
        } else if (e->fts_info == FTS_F && e->fts_namelen > FLEET_ID &&
                   strspn(e->fts_name, "0123456789abcdef") == FLEET_ID) {
            status = visit(dataset, e);
        }
    }
    fts_close(fts);
    return status;
}

static int capture_note(struct dataset *dataset, const FTSENT *entry)
{
    return parquet_id_add(dataset, entry->fts_name);
}

static int orphan_remove(struct dataset *dataset, const FTSENT *entry)
{
    if (!parquet_id_known(dataset, entry->fts_name) && unlink(entry->fts_path) != 0) {
        return parquet_report_error(dataset, entry->fts_name, errno);
    }
    return 0;
}

/* Removes the remains of dead processes: the lock is ours. */
static int remains_remove(struct dataset *dataset)
{
    char *paths[] = {(char *)dataset->path, NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    for (FTSENT *e; fts != NULL && (e = fts_read(fts)) != NULL;) {
        if (e->fts_level == 1 && e->fts_info == FTS_D) {
            fts_set(fts, e, FTS_SKIP);
            if (strncmp(e->fts_name, STAGING, strlen(STAGING)) == 0) {
                fleet_folder_remove(e->fts_path);
            }
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
    if (files_visit(dataset, FLEET_CAPTURES, capture_note) != 0) {
        return -1;
    }
    if (dataset->nids > 0) {
        qsort(dataset->ids, dataset->nids, FLEET_ID, parquet_id_compare);
    }
    for (unsigned i = 0; i < FLEET_CAPTURES; i++) {
        if (files_visit(dataset, i, orphan_remove) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Files are removed in it, so it must be one that this command has made: it has the mark, or has
 * nothing. */
static bool dataset_is_empty(const struct dataset *dataset)
{
    DIR *folder = opendir(dataset->path);
    bool empty = folder != NULL;

    for (struct dirent *e; empty && (e = readdir(folder)) != NULL;) {
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                strcmp(e->d_name, FLEET_MARK) == 0; /* another run's, just made */
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return empty;
}

static int dataset_open(struct dataset *dataset)
{
    char path[PATH_MAX];
    bool is_empty;

    if (snprintf(path, sizeof(path), "%s/%s", dataset->path, FLEET_MARK) >=
        (int)sizeof(path) - 1024) {
        return parquet_report_error(dataset, "", ENAMETOOLONG);
    }
    if (mkdir(dataset->path, 0777) != 0 && errno != EEXIST) {
        return parquet_report_error(dataset, "", errno);
    }
    dataset->mark = open(path, O_RDWR | O_CLOEXEC);
    if (dataset->mark < 0 && errno == ENOENT) {
        if (!dataset_is_empty(dataset)) {
            kymo_error("%s: is no folder of kymo export --parquet: it has files, but no %s; name a "
                       "new folder",
                       dataset->path, FLEET_MARK);
            return -1;
        }
        dataset->mark = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (dataset->mark < 0) {
        return parquet_report_error(dataset, "", errno);
    }
    if (flock(dataset->mark, LOCK_EX | LOCK_NB) != 0) {
        kymo_error("%s: waiting for another kymo export", dataset->path);
        if (flock(dataset->mark, LOCK_EX) != 0) {
            return parquet_report_error(dataset, FLEET_MARK, errno);
        }
    }
    if (fleet_mark_check(dataset->path, dataset->mark, &is_empty) != 0 ||
        (is_empty && fleet_mark_write(dataset->path, dataset->mark) != 0) ||
        remains_remove(dataset) != 0) {
        return -1;
    }
    snprintf(dataset->staging, sizeof(dataset->staging), STAGING "%d", (int)getpid());
    return 0;
}

/* ---- jobs of DuckDB ---------------------------------------------------------------- */

/* Waits for the oldest job, and shows meanwhile how much of it is done. */
static int job_wait(struct dataset *dataset)
{
    const struct move *job = &dataset->moves[dataset->nmoves - dataset->under_way];
    char what[32], text[2048];
    bool given;

    snprintf(what, sizeof(what), "converting %s", fleet_tables[job->table].name);
    given = fleet_child_answer(&dataset->duckdb, what, text, sizeof(text));
    dataset->under_way--;
    if (given && strcmp(text, "ok") == 0) {
        return 0;
    }
    if (fleet_stopped == 0) {
        kymo_error("%s: %s", dataset->path,
                   given ? text : "node ended before its work was done; is there enough memory?");
    }
    return -1;
}

/* A file of rows becomes one of Parquet beside it. */
static int job_begin(void *arg, unsigned table, unsigned part, const char *path)
{
    struct dataset *dataset = arg;
    const int to = dataset->duckdb.to;
    bool sent;

    if (dataset->nmoves == MOVES) {
        kymo_error("%s: the capture is too large", dataset->path);
        return -1;
    }
    while (dataset->under_way >= JOBS) {
        if (job_wait(dataset) != 0) {
            return -1;
        }
    }
    sent = dprintf(to, "{\"csv\":\"%s\",\"parquet\":\"%s-%u.parquet\",\"columns\":{",
                   strrchr(path, '/') + 1, fleet_tables[table].name, part) > 0;
    for (const struct fleet_column *c = fleet_tables[table].columns; c->name != NULL && sent; c++) {
        sent =
            dprintf(to, "%s\"%s\":\"%s\"", c == fleet_tables[table].columns ? "" : ",", c->name,
                    c->type == FLEET_INT || c->type == FLEET_MAYBE_INT ? "BIGINT" : "VARCHAR") > 0;
    }
    if (!sent || dprintf(to, "}}\n") < 0) {
        kymo_error("%s: node ended before its work was done", dataset->path);
        return -1;
    }
    dataset->under_way++;
    dataset->moves[dataset->nmoves++] = (struct move){table, part};
    return 0;
}

static int duckdb_start(struct dataset *dataset)
{
    char script[PATH_MAX], module[PATH_MAX], staging[PATH_MAX];
    char *argv[] = {(char *)"node", script, module, staging, NULL};

    if (!fleet_file("parquet.js", script) || !fleet_duckdb(module)) {
        return -1;
    }
    snprintf(staging, sizeof(staging), "%s/%s", dataset->path, dataset->staging);
    return fleet_child_start(&dataset->duckdb, argv, -1, NULL, false, "apt-get install nodejs");
}

/* ---- a capture --------------------------------------------------------------------- */

/* Hive's form of a value in a path: what is no plain character is %XX. So is the first character of
 * the two words that readers take for no value. */
static void parquet_value_put(char to[3 * FLEET_NAME + 1], const char *text)
{
    bool word = strcasecmp(text, "NULL") == 0 || strcmp(text, "__HIVE_DEFAULT_PARTITION__") == 0;

    for (; *text != '\0'; text++, word = false) {
        if (strchr(FLEET_PLAIN, *text) != NULL && !word) {
            *to++ = *text;
        } else {
            to += sprintf(to, "%%%02X", (unsigned char)*text);
        }
    }
    *to = '\0';
}

/* A folder and those above it, below the dataset's. */
static int folder_make(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            *slash = '/';
            return -1;
        }
        *slash = '/';
    }
    return 0;
}

/* The files get their names; those of `captures`, which make it count, are the last. */
static int capture_commit(struct dataset *dataset)
{
    const struct fleet_capture *capture = dataset->capture;
    char device[3 * FLEET_NAME + 1], firmware[3 * FLEET_NAME + 1], from[PATH_MAX], to[PATH_MAX];

    parquet_value_put(device, capture->device);
    parquet_value_put(firmware, capture->firmware);
    if (syncfs(dataset->mark) != 0) {
        return parquet_report_error(dataset, "", errno);
    }
    for (unsigned i = 0; i < dataset->nmoves; i++) {
        const struct move *move = &dataset->moves[i];
        const char *table = fleet_tables[move->table].name;
        int n = snprintf(to, sizeof(to), "%s/%s/device=%s/firmware=%s/date=%s/%s-%u.parquet",
                         dataset->path, table, device, firmware, capture->date, capture->id,
                         move->part);

        snprintf(from, sizeof(from), "%s/%s/%s-%u.parquet", dataset->path, dataset->staging, table,
                 move->part);
        if (n >= (int)sizeof(to) || folder_make(to, strlen(dataset->path) + 1) != 0 ||
            (move->table == FLEET_CAPTURES && syncfs(dataset->mark) != 0) ||
            rename(from, to) != 0) {
            return parquet_report_error(dataset, to + strlen(dataset->path) + 1,
                                        n >= (int)sizeof(to) ? ENAMETOOLONG : errno);
        }
    }
    return syncfs(dataset->mark) == 0 ? 0 : parquet_report_error(dataset, "", errno);
}

static int capture_convert(struct dataset *dataset, const struct fleet_source *source,
                           const struct fleet_options *options)
{
    char staging[PATH_MAX];
    struct fleet_sink sink = {.folder = staging, .prefix = "", .arg = dataset, .take = job_begin};
    int status = fleet_capture_read(dataset->capture, source, options);
    bool broken = true;

    if (status != KYMO_OK) {
        return status;
    }
    dataset->nmoves = 0;
    snprintf(staging, sizeof(staging), "%s/%s", dataset->path, dataset->staging);
    status = fleet_tables_write(dataset->capture, &sink, &broken);
    while (!broken && dataset->under_way > 0) {
        broken = job_wait(dataset) != 0;
    }
    kymo_progress_end();
    if (broken || fleet_stopped != 0 || capture_commit(dataset) != 0 ||
        parquet_id_add(dataset, dataset->capture->id) != 0) {
        fleet_child_kill(&dataset->duckdb); /* what it does now is of no use */
        return KYMO_FAILURE;
    }
    qsort(dataset->ids, dataset->nids, FLEET_ID, parquet_id_compare);
    return status;
}

/* DuckDB, with an empty folder to work in. */
static int staging_begin(struct dataset *dataset)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dataset->path, dataset->staging);
    fleet_folder_remove(path);
    if (mkdir(path, 0700) != 0) {
        return parquet_report_error(dataset, dataset->staging, errno);
    }
    dataset->under_way = 0;
    return duckdb_start(dataset);
}

/* An exit status; one above KYMO_USAGE: no other capture can be added either. */
static int parquet_capture_add(struct dataset *dataset, const struct fleet_source *source,
                               const struct fleet_options *options)
{
    struct fleet_capture capture;
    int status = fleet_capture_open(&capture, source);

    dataset->capture = &capture;
    if (status == KYMO_OK && !parquet_id_known(dataset, capture.id)) {
        /* There is none yet, or a capture before this one was given up. */
        if (dataset->duckdb.pid <= 0 && staging_begin(dataset) != 0) {
            status = KYMO_USAGE + 1;
        } else {
            status = capture_convert(dataset, source, options);
        }
    }
    fleet_capture_close(&capture);
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static int captures_add(struct dataset *dataset, const struct fleet_sources *sources)
{
    char staging[PATH_MAX];
    size_t before = dataset->nids;
    int status = KYMO_OK;

    for (unsigned i = 0; i < sources->count && fleet_stopped == 0; i++) {
        int one = parquet_capture_add(dataset, &sources->list[i], sources->options);

        status = one == KYMO_OK ? status : KYMO_FAILURE;
        if (one > KYMO_USAGE) {
            break; /* without DuckDB none can be added */
        }
    }
    fleet_child_kill(&dataset->duckdb);
    snprintf(staging, sizeof(staging), "%s/%s", dataset->path, dataset->staging);
    fleet_folder_remove(staging);
    kymo_progress_end();
    if (fleet_stopped == 0) {
        printf("captures: %zu added, %zu in all\n", dataset->nids - before, dataset->nids);
    }
    return status;
}

bool fleet_is_wanted(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--parquet") == 0 || strncmp(argv[i], "--parquet=", 10) == 0) {
            return true;
        }
    }
    return false;
}

enum { OPT_PARQUET = 600 };

static int parquet_options_parse(struct dataset *dataset, struct fleet_options *options, int argc,
                                 char **argv)
{
    static const struct option names[] = {
        {"parquet", required_argument, NULL, OPT_PARQUET}, FLEET_OPTIONS, {NULL, 0, NULL, 0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", names, NULL)) != -1) {
        int status = KYMO_OK;

        if (option == 'h') {
            return kymo_help(&kymo_export_command);
        }
        if (option == OPT_PARQUET) {
            dataset->path = optarg;
        } else if (option < FLEET_OPT_DEVICE) {
            if (option == '?') {
                kymo_error("export --parquet takes whole captures; kymo cut cuts them");
            }
            status = kymo_bad_option("export", names, argc, argv, option);
        } else {
            status = fleet_option_use("export", options, option, optarg);
        }
        if (status != KYMO_OK) {
            return status;
        }
    }
    if (dataset->path[0] == '\0') {
        return kymo_usage("export", "export: --parquet: which folder?");
    }
    return optind == argc ? kymo_usage("export", "export: which captures?") : -1;
}

int fleet_export(int argc, char **argv)
{
    struct fleet_options options = {0};
    struct fleet_sources sources = {.options = &options};
    struct dataset *dataset = calloc(1, sizeof(*dataset));
    int status;

    if (dataset == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    dataset->mark = -1;
    dataset->duckdb = (struct fleet_child){-1, -1, -1};
    status = parquet_options_parse(dataset, &options, argc, argv);
    if (status < 0) {
        fleet_signals_catch();
        status = fleet_sources_find(&sources, argc - optind, argv + optind);
        if (status == KYMO_OK) {
            status = dataset_open(dataset) == 0 ? captures_add(dataset, &sources) : KYMO_FAILURE;
        }
        fleet_signals_end();
    }
    fleet_sources_free(&sources);
    free(dataset->ids);
    free(dataset);
    return status;
}
