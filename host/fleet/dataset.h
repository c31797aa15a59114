/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of kymo export --parquet while a command changes it: dataset.c opens and locks it and
 * removes remains, parquet.c adds captures, compact.c makes few files of many. One thread.
 *
 * A file is of one capture, ID-PART.parquet, or a pack of several, pack-NUMBER-PART.parquet. Beside
 * a pack of table `captures` is _ids-NUMBER with the ids of its captures, each a line: engines pass
 * over names that begin with _.
 */
#ifndef HOST_FLEET_DATASET_H
#define HOST_FLEET_DATASET_H

#include <fts.h>

#include "host/fleet/fleet.h"

#define DATASET_STAGING ".staging-"
#define DATASET_PACK "pack-"
#define DATASET_IDS "_ids-"
#define DATASET_MOVES 4096

struct dataset_move { /* a file that is ready, and where it belongs */
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
    struct dataset_move moves[DATASET_MOVES];
    unsigned nmoves;
};

/* Returns -1 after a message about a file of the folder, "": the folder itself. */
int dataset_error(const struct dataset *dataset, const char *name, int error);
/* Opens the folder of a table. Returns 0, *fts NULL if there is none, or -1: a message says why. */
int dataset_table_open(const struct dataset *dataset, unsigned table, FTS **fts);
/* Makes the folder if need be, locks it, removes what killed processes have left, and reads which
 * captures are there. Returns 0, or -1 after a message. */
int dataset_open(struct dataset *dataset);
/* Starts DuckDB with an empty folder to work in. Returns 0, or -1 after a message. */
int dataset_staging_begin(struct dataset *dataset);
/* Ends DuckDB, and removes the folder that it worked in. */
void dataset_staging_end(struct dataset *dataset);
bool dataset_has(const struct dataset *dataset, const char *id);
/* Returns 0, or -1 after a message. */
int dataset_id_add(struct dataset *dataset, const char *id);
void dataset_ids_sort(struct dataset *dataset);
/* Returns true if the name is that of a capture's file, ID-PART.parquet. */
bool dataset_is_single(const char *name);

/* compact.c. Makes few files of the many of a device, firmware and day. Returns 0, or -1 after a
 * message: what was done by then stays. */
int dataset_compact(struct dataset *dataset);

#endif
