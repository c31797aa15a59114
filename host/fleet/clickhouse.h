/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Servers of ClickHouse by their HTTP interface, which curl speaks in a child process: so proxies
 * and names are as everywhere on the machine. One thread. Proof: test/host/fleet/shards.py.
 */
#ifndef HOST_FLEET_CLICKHOUSE_H
#define HOST_FLEET_CLICKHOUSE_H

#include <stddef.h>

#include "host/fleet/fleet.h"

#define CLICKHOUSE_HOSTS 64
#define CLICKHOUSE_WORD 64

/* clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]...]/DB[?cluster=NAME] */
struct clickhouse {
    const char *url; /* for messages */
    char hosts[CLICKHOUSE_HOSTS][300];
    unsigned nhosts;
    char *password; /* of the heap; NULL: none */
    char user[CLICKHOUSE_WORD], database[CLICKHOUSE_WORD], cluster[CLICKHOUSE_WORD];
    uint64_t schema;         /* schema.c's sum over the views */
    const char *accepted;    /* how a refusal may begin that the next statement may have; NULL */
    struct fleet_child curl; /* of clickhouse_insert() */
    int rows;                /* its standard input, open until it has ended */
    uint64_t rows_bytes;
    unsigned host; /* that it speaks to */
};

/* NULL, or what is wrong with it, or with the password: $CLICKHOUSE_PASSWORD, which no child of
 * this process inherits from then on. */
const char *clickhouse_parse(struct clickhouse *servers, const char *url);
/* Returns what a message may show of an address: what may be a password comes before the @. */
const char *clickhouse_url_shown(const char *url);
/* Runs a statement on a server; its answer, which is cut if it is longer. 0, or -1 after a
 * message. `scope` is the database or "". */
int clickhouse_run(struct clickhouse *servers, unsigned host, const char *scope, const char *sql,
                   char *answer, size_t room);
/* schema.c. Makes what is not there: the database, tables and views. 0, or -1 after a message. */
int clickhouse_prepare(struct clickhouse *servers, unsigned host);
/* Begins to send a file as the body of an INSERT, after the one before it has ended. */
int clickhouse_insert(struct clickhouse *servers, unsigned host, const char *sql, const char *path);
/* Waits until the last INSERT is done. 0, or -1 after a message. */
int clickhouse_settle(struct clickhouse *servers);

#endif
