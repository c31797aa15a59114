/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo export --parquet: captures into a folder of Parquet files, TABLE/device=D/firmware=F/date=T/
 * ID-PART.parquet. DuckDB, in a child (parquet.js), makes a file of Parquet of each file of rows.
 *
 * A capture is there when its file of table `captures` is, which gets its name last, once all is on
 * the medium. What a run that was killed has left is removed by the next one, under the lock.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/fleet/dataset.h"
#include "host/kymo.h"

#define JOBS 2 /* under way at once: rows are written while others are converted */

/* ---- jobs of DuckDB ---------------------------------------------------------------- */

/* Waits for the oldest job, and shows meanwhile how much of it is done. */
static int job_wait(struct dataset *dataset)
{
    const struct dataset_move *job = &dataset->moves[dataset->nmoves - dataset->under_way];
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
    static const char *const types[] = {[FLEET_INT] = "BIGINT",
                                        [FLEET_MAYBE_INT] = "BIGINT",
                                        [FLEET_TEXT] = "VARCHAR",
                                        [FLEET_MAYBE_TEXT] = "VARCHAR",
                                        [FLEET_TIME] = "TIMESTAMP_NS"};
    const int to = dataset->duckdb.to;
    bool sent;

    if (dataset->nmoves == DATASET_MOVES) {
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
        sent = dprintf(to, "%s\"%s\":\"%s\"", c == fleet_tables[table].columns ? "" : ",", c->name,
                       types[c->type]) > 0;
    }
    if (!sent || dprintf(to, "}}\n") < 0) {
        kymo_error("%s: node ended before its work was done", dataset->path);
        return -1;
    }
    dataset->under_way++;
    dataset->moves[dataset->nmoves++] = (struct dataset_move){table, part};
    return 0;
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
        return dataset_error(dataset, "", errno);
    }
    for (unsigned i = 0; i < dataset->nmoves; i++) {
        const struct dataset_move *move = &dataset->moves[i];
        const char *table = fleet_tables[move->table].name;
        int n = snprintf(to, sizeof(to), "%s/%s/device=%s/firmware=%s/date=%s/%s-%u.parquet",
                         dataset->path, table, device, firmware, capture->date, capture->id,
                         move->part);

        snprintf(from, sizeof(from), "%s/%s/%s-%u.parquet", dataset->path, dataset->staging, table,
                 move->part);
        if (n >= (int)sizeof(to) || folder_make(to, strlen(dataset->path) + 1) != 0 ||
            (move->table == FLEET_CAPTURES && syncfs(dataset->mark) != 0) ||
            rename(from, to) != 0) {
            return dataset_error(dataset, to + strlen(dataset->path) + 1,
                                 n >= (int)sizeof(to) ? ENAMETOOLONG : errno);
        }
    }
    return syncfs(dataset->mark) == 0 ? 0 : dataset_error(dataset, "", errno);
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
        dataset_id_add(dataset, dataset->capture->id) != 0) {
        fleet_child_kill(&dataset->duckdb); /* what it does now is of no use */
        return KYMO_FAILURE;
    }
    dataset_ids_sort(dataset);
    return status;
}

/* An exit status; one above KYMO_USAGE: no other capture can be added either. */
static int parquet_capture_add(struct dataset *dataset, const struct fleet_source *source,
                               const struct fleet_options *options)
{
    struct fleet_capture capture;
    int status = fleet_capture_open(&capture, source);

    dataset->capture = &capture;
    if (status == KYMO_OK && !dataset_has(dataset, capture.id)) {
        /* There is none yet, or a capture before this one was given up. */
        if (dataset->duckdb.pid <= 0 && dataset_staging_begin(dataset) != 0) {
            status = KYMO_USAGE + 1;
        } else {
            status = capture_convert(dataset, source, options);
        }
    }
    fleet_capture_close(&capture);
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static int captures_add(struct dataset *dataset, const struct fleet_sources *sources, bool compact)
{
    size_t before = dataset->nids;
    int status = KYMO_OK;

    for (unsigned i = 0; i < sources->count && fleet_stopped == 0; i++) {
        int one = parquet_capture_add(dataset, &sources->list[i], sources->options);

        status = one == KYMO_OK ? status : KYMO_FAILURE;
        if (one > KYMO_USAGE) {
            break; /* without DuckDB none can be added */
        }
    }
    if (compact && fleet_stopped == 0 && dataset_compact(dataset) != 0) {
        status = KYMO_FAILURE;
    }
    dataset_staging_end(dataset);
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

enum { OPT_PARQUET = 600, OPT_COMPACT };

static int parquet_options_parse(struct dataset *dataset, struct fleet_options *options,
                                 bool *compact, int argc, char **argv)
{
    static const struct option names[] = {{"parquet", required_argument, NULL, OPT_PARQUET},
                                          {"compact", no_argument, NULL, OPT_COMPACT},
                                          FLEET_OPTIONS,
                                          {NULL, 0, NULL, 0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", names, NULL)) != -1) {
        int status = KYMO_OK;

        if (option == 'h') {
            return kymo_help(&kymo_export_command);
        }
        if (option == OPT_PARQUET) {
            dataset->path = optarg;
        } else if (option == OPT_COMPACT) {
            *compact = true;
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
    return optind == argc && !*compact ? kymo_usage("export", "export: which captures?") : -1;
}

int fleet_export(int argc, char **argv)
{
    struct fleet_options options = {0};
    struct fleet_sources sources = {.options = &options};
    struct dataset *dataset = calloc(1, sizeof(*dataset));
    bool compact = false;
    int status;

    if (dataset == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    dataset->mark = -1;
    dataset->duckdb = (struct fleet_child){-1, -1, -1};
    status = parquet_options_parse(dataset, &options, &compact, argc, argv);
    if (status < 0) {
        fleet_signals_catch();
        status = fleet_sources_find(&sources, argc - optind, argv + optind);
        if (status == KYMO_OK) {
            status = dataset_open(dataset) == 0 ? captures_add(dataset, &sources, compact)
                                                : KYMO_FAILURE;
        }
        fleet_signals_end();
    }
    fleet_sources_free(&sources);
    free(dataset->ids);
    free(dataset);
    return status;
}
