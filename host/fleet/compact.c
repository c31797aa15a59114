/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo export --parquet DIR --compact: the many small files of a device, firmware and day become
 * few packs. Of each table's folder of a day a new one is made in the staging folder, and the two
 * change places in one step: a kill at any time leaves the old files or the new ones, which have
 * the same rows, and never both. Proof: test/host/fleet/folder.py.
 *
 * The folder is locked. A kymo query holds a lock of its own on the folder, so that the files that
 * it reads stay until it has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/fleet/dataset.h"
#include "host/kymo.h"

#define COMPACT_PACK (INT64_C(256) << 20) /* bytes of files that become one */
#define COMPACT_LARGE (COMPACT_PACK / 2)  /* a file of so many stays as it is */
#define COMPACT_DAYS 3                    /* levels below a table: device, firmware, date */
#define COMPACT_PATH (PATH_MAX + 512)
#define COMPACT_NEW "new" /* in the staging folder */

struct compact_file {
    char *name;
    int64_t bytes;
};

/* A table's folder of a day. */
struct compact_day {
    struct dataset *dataset;
    unsigned table;
    const char *path;           /* of the folder */
    char made[COMPACT_PATH];    /* the one that takes its place */
    struct compact_file *files; /* by name */
    unsigned count;
    uint64_t number; /* of its packs */
};

struct compact_count {
    size_t before, after;
};

static int compact_error(const char *path, int error)
{
    kymo_error("%s: %s", path, strerror(error));
    return -1;
}

/* ---- what there is ----------------------------------------------------------------- */

static int compact_name_compare(const void *a, const void *b)
{
    return strcmp(((const struct compact_file *)a)->name, ((const struct compact_file *)b)->name);
}

static int compact_file_add(struct compact_day *day, const FTSENT *entry)
{
    struct compact_file *files = reallocarray(day->files, day->count + 1, sizeof(*files));
    char *name = strdup(entry->fts_name);

    if (files != NULL) {
        day->files = files;
    }
    if (files == NULL || name == NULL) {
        free(name);
        return compact_error(day->path, ENOMEM);
    }
    files[day->count++] = (struct compact_file){name, entry->fts_statp->st_size};
    return 0;
}

/* Reads the folder. Returns 0, 1: it has something that is not kymo's, and stays as it is; -1 after
 * a message. */
static int compact_day_read(struct compact_day *day)
{
    char *paths[] = {(char *)day->path, NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int status = fts == NULL ? compact_error(day->path, errno) : 0;

    for (FTSENT *e; status == 0 && (e = fts_read(fts)) != NULL;) {
        bool is_pack = strncmp(e->fts_name, DATASET_PACK, strlen(DATASET_PACK)) == 0;

        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
            status = compact_error(e->fts_path, e->fts_errno);
        } else if (e->fts_level == 0 ||
                   strncmp(e->fts_name, DATASET_IDS, strlen(DATASET_IDS)) == 0) {
            continue;
        } else if (e->fts_info == FTS_F && (is_pack || dataset_is_single(e->fts_name))) {
            status = compact_file_add(day, e);
        } else {
            kymo_error("%s: is no file of kymo export --parquet: its folder is not compacted",
                       e->fts_path);
            status = 1;
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
    if (day->count > 0) {
        qsort(day->files, day->count, sizeof(*day->files), compact_name_compare);
    }
    return status;
}

/* Returns how many files from `from` on become one: 1 stays as it is. */
static unsigned compact_group(const struct compact_day *day, unsigned from)
{
    bool all = day->table == FLEET_CAPTURES; /* a list of ids is beside one pack */
    int64_t bytes = day->files[from].bytes;
    unsigned n = 1;

    if (!all && bytes >= COMPACT_LARGE) {
        return 1;
    }
    while (from + n < day->count && (all || (day->files[from + n].bytes < COMPACT_LARGE &&
                                             bytes + day->files[from + n].bytes <= COMPACT_PACK))) {
        bytes += day->files[from + n++].bytes;
    }
    return n;
}

static unsigned compact_groups(const struct compact_day *day)
{
    unsigned groups = 0;

    for (unsigned i = 0; i < day->count; i += compact_group(day, i)) {
        groups++;
    }
    return groups;
}

/* ---- the new folder ---------------------------------------------------------------- */

/* DuckDB makes a pack of `count` files. */
static int compact_pack_make(struct compact_day *day, unsigned from, unsigned count, unsigned part)
{
    struct dataset *dataset = day->dataset;
    FILE *to = fdopen(fcntl(dataset->duckdb.to, F_DUPFD_CLOEXEC, 10), "w");
    char what[32], text[2048];
    bool sent;

    if (to == NULL) {
        return compact_error(day->path, errno);
    }
    /* Names of the dataset have no character that JSON or a pattern would take for another. */
    fprintf(to, "{\"folder\":\"../%s\",\"files\":[", day->path + strlen(dataset->path) + 1);
    for (unsigned i = 0; i < count; i++) {
        fprintf(to, "%s\"%s\"", i == 0 ? "" : ",", day->files[from + i].name);
    }
    fprintf(to, "],\"parquet\":\"" COMPACT_NEW "/" DATASET_PACK "%016" PRIx64 "-%u.parquet\"}\n",
            day->number, part);
    sent = fclose(to) == 0;
    snprintf(what, sizeof(what), "compacting %s", fleet_tables[day->table].name);
    if (sent && fleet_child_answer(&dataset->duckdb, what, text, sizeof(text)) &&
        strcmp(text, "ok") == 0) {
        return 0;
    }
    if (fleet_stopped == 0) {
        kymo_error("%s: %s", day->path,
                   sent && text[0] != '\0'
                       ? text
                       : "node ended before its work was done; is there enough memory?");
    }
    return -1;
}

/* The ids of captures whose files of table `captures` have become a pack: theirs, and those that
 * lists of older packs have. */
static int compact_ids_write(const struct compact_day *day)
{
    char path[2 * COMPACT_PATH], from[2 * COMPACT_PATH], line[FLEET_ID + 2];
    FILE *to, *old;

    snprintf(path, sizeof(path), "%s/" DATASET_IDS "%016" PRIx64, day->made, day->number);
    to = fopen(path, "wxe");
    for (unsigned i = 0; to != NULL && i < day->count; i++) {
        const char *name = day->files[i].name;
        const char *number = name + strlen(DATASET_PACK);

        if (dataset_is_single(name)) {
            fprintf(to, "%.*s\n", FLEET_ID, name);
            continue;
        }
        snprintf(from, sizeof(from), "%s/" DATASET_IDS "%.*s", day->path, (int)strcspn(number, "-"),
                 number);
        old = fopen(from, "re");
        while (old != NULL && fgets(line, sizeof(line), old) != NULL) {
            fputs(line, to);
        }
        if (old == NULL || ferror(old)) {
            compact_error(from, errno);
            fclose(to);
            if (old != NULL) {
                fclose(old);
            }
            return -1;
        }
        fclose(old);
    }
    if (to == NULL || fclose(to) != 0) {
        return compact_error(path, errno);
    }
    return 0;
}

/* Files that are large enough are in both folders, as one file. */
static int compact_file_keep(const struct compact_day *day, const char *name)
{
    char from[2 * COMPACT_PATH], to[2 * COMPACT_PATH];

    snprintf(from, sizeof(from), "%s/%s", day->path, name);
    snprintf(to, sizeof(to), "%s/%s", day->made, name);
    return link(from, to) == 0 ? 0 : compact_error(to, errno);
}

static int compact_day_make(struct compact_day *day)
{
    unsigned part = 0;

    if (mkdir(day->made, 0777) != 0) {
        return compact_error(day->made, errno);
    }
    for (unsigned i = 0, n; i < day->count; i += n) {
        n = compact_group(day, i);
        if ((n == 1 ? compact_file_keep(day, day->files[i].name)
                    : compact_pack_make(day, i, n, part++)) != 0) {
            return -1;
        }
    }
    return day->table == FLEET_CAPTURES ? compact_ids_write(day) : 0;
}

/* ---- the old one goes -------------------------------------------------------------- */

/* Waits until no kymo query reads the folder. */
static int compact_readers_wait(const struct dataset *dataset, int folder)
{
    if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
        return 0;
    }
    kymo_error("%s: waiting for a kymo query to end", dataset->path);
    return flock(folder, LOCK_EX) == 0 || fleet_stopped != 0 ? 0
                                                             : dataset_error(dataset, "", errno);
}

/* The two folders change places, and the old one is removed. */
static int compact_day_exchange(const struct compact_day *day)
{
    const struct dataset *dataset = day->dataset;
    int folder = open(dataset->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;

    if (folder < 0) {
        return dataset_error(dataset, "", errno);
    }
    status = syncfs(dataset->mark) == 0 ? compact_readers_wait(dataset, folder)
                                        : dataset_error(dataset, "", errno);
    if (status == 0 && fleet_stopped == 0) {
        if (renameat2(AT_FDCWD, day->made, AT_FDCWD, day->path, RENAME_EXCHANGE) != 0) {
            status = compact_error(day->path, errno);
            if (errno == EINVAL || errno == ENOSYS) {
                kymo_error("%s: this file system can't exchange two folders, so the files stay as "
                           "they are",
                           dataset->path);
            }
        } else if (syncfs(dataset->mark) != 0) {
            status = dataset_error(dataset, "", errno);
        }
        fleet_folder_remove(day->made);
    }
    close(folder);
    return fleet_stopped != 0 ? -1 : status;
}

static int compact_day_run(struct dataset *dataset, unsigned table, const char *path,
                           struct compact_count *count)
{
    struct compact_day day = {.dataset = dataset, .table = table, .path = path};
    int status = compact_day_read(&day);
    unsigned groups = compact_groups(&day);

    count->before += day.count;
    count->after += day.count;
    snprintf(day.made, sizeof(day.made), "%s/%s/" COMPACT_NEW, dataset->path, dataset->staging);
    if (status == 0 && groups < day.count) {
        if (getrandom(&day.number, sizeof(day.number), 0) != sizeof(day.number) ||
            (dataset->duckdb.pid <= 0 && dataset_staging_begin(dataset) != 0) ||
            compact_day_make(&day) != 0 || compact_day_exchange(&day) != 0) {
            status = -1;
        } else {
            count->after -= day.count - groups;
        }
    }
    for (unsigned i = 0; i < day.count; i++) {
        free(day.files[i].name);
    }
    free(day.files);
    return status < 0 ? -1 : 0;
}

static int compact_table(struct dataset *dataset, unsigned table, struct compact_count *count)
{
    FTS *fts;
    int status = dataset_table_open(dataset, table, &fts);

    if (fts == NULL) {
        return status;
    }
    for (FTSENT *e; status == 0 && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR) {
            status = compact_error(e->fts_path, e->fts_errno);
        } else if (e->fts_info == FTS_D && e->fts_level == COMPACT_DAYS) {
            fts_set(fts, e, FTS_SKIP);
            status = compact_day_run(dataset, table, e->fts_path, count);
        }
    }
    fts_close(fts);
    return status;
}

int dataset_compact(struct dataset *dataset)
{
    struct compact_count count = {0, 0};
    int status = 0;

    for (unsigned i = 0; i < FLEET_TABLES && status == 0; i++) {
        status = compact_table(dataset, i, &count);
    }
    kymo_progress_end();
    if (fleet_stopped == 0) {
        printf("files: %zu before, %zu now\n", count.before, count.after);
    }
    return status;
}
