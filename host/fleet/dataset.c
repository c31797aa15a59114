/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of kymo export --parquet: its lock, which captures are there, what killed processes
 * have left, and the DuckDB that works in it. See dataset.h.
 */
#include "host/fleet/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"

int dataset_error(const struct dataset *dataset, const char *name, int error)
{
    kymo_error("%s%s%s: %s", dataset->path, name[0] == '\0' ? "" : "/", name, strerror(error));
    return -1;
}

/* ---- the folder -------------------------------------------------------------------- */

static int dataset_id_compare(const void *a, const void *b)
{
    return memcmp(a, b, FLEET_ID);
}

bool dataset_has(const struct dataset *dataset, const char *id)
{
    return dataset->nids > 0 &&
           bsearch(id, dataset->ids, dataset->nids, FLEET_ID, dataset_id_compare) != NULL;
}

int dataset_id_add(struct dataset *dataset, const char *id)
{
    if (dataset->nids == dataset->room) {
        size_t room = 2 * dataset->room + 64;
        char *ids = reallocarray(dataset->ids, room, FLEET_ID);

        if (ids == NULL) {
            return dataset_error(dataset, "", ENOMEM);
        }
        dataset->ids = ids;
        dataset->room = room;
    }
    memcpy(dataset->ids + dataset->nids++ * FLEET_ID, id, FLEET_ID);
    return 0;
}

bool dataset_is_single(const char *name)
{
    return strspn(name, "0123456789abcdef") == FLEET_ID && name[FLEET_ID] == '-';
}

void dataset_ids_sort(struct dataset *dataset)
{
    if (dataset->nids > 0) {
        qsort(dataset->ids, dataset->nids, FLEET_ID, dataset_id_compare);
    }
}

int dataset_table_open(const struct dataset *dataset, unsigned table, FTS **fts)
{
    char path[PATH_MAX], *paths[] = {path, NULL};

    *fts = NULL;
    snprintf(path, sizeof(path), "%s/%s", dataset->path, fleet_tables[table].name);
    if (access(path, F_OK) != 0) {
        return 0;
    }
    *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    return *fts == NULL ? dataset_error(dataset, fleet_tables[table].name, errno) : 0;
}

/* Calls for each file of a table; a folder that can't be read is an error. */
static int files_visit(struct dataset *dataset, unsigned table,
                       int (*visit)(struct dataset *, const FTSENT *))
{
    FTS *fts;
    int status = dataset_table_open(dataset, table, &fts);

    if (fts == NULL) {
        return status;
    }
    for (FTSENT *e; status == 0 && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR) {
            status = dataset_error(dataset, fleet_tables[table].name, e->fts_errno);
        } else if (e->fts_info == FTS_F) {
            status = visit(dataset, e);
        }
    }
    fts_close(fts);
    return status;
}

/* The ids of a pack's captures: a line each. */
static int pack_note(struct dataset *dataset, const char *path)
{
    char line[FLEET_ID + 2];
    FILE *file = fopen(path, "re");
    int status = 0;

    if (file == NULL) {
        return dataset_error(dataset, path + strlen(dataset->path) + 1, errno);
    }
    while (status == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strspn(line, "0123456789abcdef") != FLEET_ID || line[FLEET_ID] != '\n') {
            kymo_error("%s: is damaged: a line is no id of a capture: export all captures again "
                       "into a new folder",
                       path);
            status = -1;
        } else {
            status = dataset_id_add(dataset, line);
        }
    }
    if (status == 0 && ferror(file)) {
        status = dataset_error(dataset, path + strlen(dataset->path) + 1, errno);
    }
    fclose(file);
    return status;
}

/* Without the list of its ids, what a pack has would be added again. */
static int pack_check(const FTSENT *entry)
{
    const char *number = entry->fts_name + strlen(DATASET_PACK);
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.*s" DATASET_IDS "%.*s",
             (int)(entry->fts_pathlen - entry->fts_namelen), entry->fts_path,
             (int)strcspn(number, "-"), number);
    if (access(path, F_OK) != 0) {
        kymo_error("%s: %s: copy that file, too, or export all captures again into a new folder",
                   path, strerror(errno));
        return -1;
    }
    return 0;
}

static int capture_note(struct dataset *dataset, const FTSENT *entry)
{
    if (strncmp(entry->fts_name, DATASET_IDS, strlen(DATASET_IDS)) == 0) {
        return pack_note(dataset, entry->fts_path);
    }
    if (strncmp(entry->fts_name, DATASET_PACK, strlen(DATASET_PACK)) == 0) {
        return pack_check(entry);
    }
    return dataset_is_single(entry->fts_name) ? dataset_id_add(dataset, entry->fts_name) : 0;
}

static int orphan_remove(struct dataset *dataset, const FTSENT *entry)
{
    if (dataset_is_single(entry->fts_name) && !dataset_has(dataset, entry->fts_name) &&
        unlink(entry->fts_path) != 0) {
        return dataset_error(dataset, entry->fts_name, errno);
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
            if (strncmp(e->fts_name, DATASET_STAGING, strlen(DATASET_STAGING)) == 0) {
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
    dataset_ids_sort(dataset);
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

int dataset_open(struct dataset *dataset)
{
    char path[PATH_MAX];
    bool is_empty;

    if (snprintf(path, sizeof(path), "%s/%s", dataset->path, FLEET_MARK) >=
        (int)sizeof(path) - 1024) {
        return dataset_error(dataset, "", ENAMETOOLONG);
    }
    if (mkdir(dataset->path, 0777) != 0 && errno != EEXIST) {
        return dataset_error(dataset, "", errno);
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
        return dataset_error(dataset, "", errno);
    }
    if (flock(dataset->mark, LOCK_EX | LOCK_NB) != 0) {
        kymo_error("%s: waiting for another kymo export", dataset->path);
        if (flock(dataset->mark, LOCK_EX) != 0) {
            return dataset_error(dataset, FLEET_MARK, errno);
        }
    }
    if (fleet_mark_check(dataset->path, dataset->mark, &is_empty) != 0 ||
        (is_empty && fleet_mark_write(dataset->path, dataset->mark) != 0) ||
        remains_remove(dataset) != 0) {
        return -1;
    }
    snprintf(dataset->staging, sizeof(dataset->staging), DATASET_STAGING "%d", (int)getpid());
    return 0;
}

/* ---- DuckDB --------------------------------------------------------------------- */

static int dataset_duckdb_start(struct dataset *dataset)
{
    char script[PATH_MAX], module[PATH_MAX], staging[PATH_MAX];
    char *argv[] = {(char *)"node", script, module, staging, NULL};

    if (!fleet_file("parquet.js", script) || !fleet_duckdb(module)) {
        return -1;
    }
    snprintf(staging, sizeof(staging), "%s/%s", dataset->path, dataset->staging);
    return fleet_child_start(&dataset->duckdb, argv, -1, NULL, false, "apt-get install nodejs");
}

int dataset_staging_begin(struct dataset *dataset)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dataset->path, dataset->staging);
    fleet_folder_remove(path);
    if (mkdir(path, 0700) != 0) {
        return dataset_error(dataset, dataset->staging, errno);
    }
    dataset->under_way = 0;
    return dataset_duckdb_start(dataset);
}

void dataset_staging_end(struct dataset *dataset)
{
    char path[PATH_MAX];

    fleet_child_kill(&dataset->duckdb);
    snprintf(path, sizeof(path), "%s/%s", dataset->path, dataset->staging);
    fleet_folder_remove(path);
}
