/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables and views of kymo load on a server of ClickHouse: TABLE_local has its rows, with a cluster
 * TABLE_all those of all servers; the views are those of views.sql. One thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fleet/clickhouse.h"
#include "host/kymo.h"

#define SQL_MOST 8192

/* ---- tables and views -------------------------------------------------------------- */

static const char *schema_type(enum fleet_type type)
{
    static const char *const types[] = {[FLEET_INT] = "Int64",
                                        [FLEET_MAYBE_INT] = "Nullable(Int64)",
                                        [FLEET_TEXT] = "String",
                                        [FLEET_MAYBE_TEXT] = "Nullable(String)",
                                        /* 18.16 has no type for less than a second. */
                                        [FLEET_TIME] = "Nullable(Int64)"};

    return types[type];
}

static void columns_put(FILE *sql, unsigned table)
{
    fputs("(device String, firmware String, date Date, load String", sql);
    for (const struct fleet_column *c = fleet_tables[table].columns; c->name != NULL; c++) {
        fprintf(sql, ", %s %s", c->name, schema_type(c->type));
    }
    fputc(')', sql);
}

/* Tables that an older kymo has made have other columns, which rows of this one would not fit. */
static int schema_table_check(struct clickhouse *servers, unsigned host, unsigned table)
{
    char text[256], answer[SQL_MOST], expected[SQL_MOST] = "";
    size_t n = (size_t)snprintf(expected, sizeof(expected),
                                "device String\nfirmware String\ndate Date\nload String\n");

    for (const struct fleet_column *c = fleet_tables[table].columns; c->name != NULL; c++) {
        n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%s %s\n", c->name,
                              schema_type(c->type));
    }
    snprintf(text, sizeof(text),
             "SELECT concat(name, ' ', type) FROM system.columns WHERE database = '%s' AND table = "
             "'%s_local' FORMAT TSVRaw",
             servers->database, fleet_tables[table].name);
    if (clickhouse_run(servers, host, "", text, answer, sizeof(answer)) != 0) {
        return -1;
    }
    if (answer[0] != '\0' && strcmp(answer, expected) != 0) {
        kymo_error("%s: database %s has a table %s_local of another version of kymo: name another "
                   "database, and load all captures into it",
                   servers->hosts[host], servers->database, fleet_tables[table].name);
        return -1;
    }
    return 0;
}

/* Rows that count, from a table of one server or of all. */
static void rows_put(FILE *sql, struct clickhouse *servers, unsigned table)
{
    fprintf(sql,
            "%s.%s_%s WHERE load IN (SELECT min(load) FROM %s.captures_local GROUP BY capture)",
            servers->database, fleet_tables[table].name,
            servers->cluster[0] == '\0' ? "local" : "all", servers->database);
}

static int sql_run(struct clickhouse *servers, unsigned host, const char *scope, FILE *sql,
                   char *text)
{
    bool fits = !ferror(sql) && ftell(sql) < SQL_MOST - 1;

    fclose(sql);
    if (!fits) {
        kymo_error("%s: a statement is too long", servers->url);
        return -1;
    }
    return clickhouse_run(servers, host, scope, text, NULL, 0);
}

static int schema_table_make(struct clickhouse *servers, unsigned host, unsigned table)
{
    const char *name = fleet_tables[table].name;
    char text[SQL_MOST] = "";
    FILE *sql;

    if (schema_table_check(servers, host, table) != 0) {
        return -1;
    }
    sql = fmemopen(text, sizeof(text) - 1, "w");
    if (sql == NULL) {
        return -1;
    }
    fprintf(sql, "CREATE TABLE IF NOT EXISTS %s_local ", name);
    columns_put(sql, table);
    fprintf(sql, " ENGINE = MergeTree PARTITION BY toYYYYMM(date) ORDER BY (device, capture%s%s)",
            fleet_tables[table].order[0] == '\0' ? "" : ", ", fleet_tables[table].order);
    if (sql_run(servers, host, servers->database, sql, text) != 0 || servers->cluster[0] == '\0') {
        return servers->cluster[0] == '\0' ? 0 : -1;
    }
    memset(text, 0, sizeof(text));
    sql = fmemopen(text, sizeof(text) - 1, "w");
    if (sql == NULL) {
        return -1;
    }
    fprintf(sql, "CREATE TABLE IF NOT EXISTS %s_all ", name);
    columns_put(sql, table);
    fprintf(sql, " ENGINE = Distributed(%s, %s, %s_local, cityHash64(device))", servers->cluster,
            servers->database, name);
    return sql_run(servers, host, servers->database, sql, text);
}

/* Another kymo load may do the same at once: then the view is gone, or there, already. */
static int view_make(struct clickhouse *servers, unsigned host, const char *name,
                     const char *select)
{
    const char *database = servers->database;
    char text[SQL_MOST] = "";

    snprintf(text, sizeof(text), "DROP TABLE IF EXISTS %s", name);
    servers->accepted = "Code: 60,"; /* no such table */
    if (clickhouse_run(servers, host, database, text, NULL, 0) != 0) {
        return -1;
    }
    snprintf(text, sizeof(text), "CREATE VIEW IF NOT EXISTS %s AS %s", name, select);
    servers->accepted = "Code: 57,"; /* there is one */
    return clickhouse_run(servers, host, database, text, NULL, 0);
}

/* FNV-1a over all views. */
static int view_sum(struct clickhouse *servers, unsigned host, const char *name, const char *select)
{
    (void)host;
    (void)name;
    for (; *select != '\0'; select++) {
        servers->schema = (servers->schema ^ (unsigned char)*select) * UINT64_C(1099511628211);
    }
    return 0;
}

/* A table's rows without what is kymo's own. */
static int table_view(struct clickhouse *servers, unsigned host, unsigned table,
                      int (*visit)(struct clickhouse *, unsigned, const char *, const char *))
{
    char text[SQL_MOST] = "";
    FILE *sql = fmemopen(text, sizeof(text) - 1, "w");

    if (sql == NULL) {
        return -1;
    }
    fputs("SELECT device, firmware, date", sql);
    for (const struct fleet_column *c = fleet_tables[table].columns; c->name != NULL; c++) {
        fprintf(sql, ", %s", c->name);
    }
    fputs(" FROM ", sql);
    rows_put(sql, servers, table);
    fclose(sql);
    return visit(servers, host, fleet_tables[table].name, text);
}

/* The table whose name is next, FLEET_TABLES: none. */
static unsigned table_next(const char *at)
{
    unsigned i = 0;

    while (i < FLEET_TABLES) {
        size_t n = strlen(fleet_tables[i].name);

        if (strncmp(at, fleet_tables[i].name, n) == 0 && strchr(" \n", at[n]) != NULL) {
            break;
        }
        i++;
    }
    return i;
}

/* A statement of views.sql in ClickHouse's words: each server counts its own rows, and the
 * percentiles' levels are a hair lower, because where so many of 100 is a whole number of rows
 * quantileExact() takes the next one. */
static void select_translate(struct clickhouse *servers, const char *from, const char *end,
                             FILE *to)
{
    static const char percentile[] = "percentile_", where[] = " WHERE ";

    while (from < end) {
        unsigned table = strncmp(from, "FROM ", 5) == 0 ? table_next(from + 5) : FLEET_TABLES;

        if (table < FLEET_TABLES) {
            fputs("FROM ", to);
            rows_put(to, servers, table);
            from += 5 + strlen(fleet_tables[table].name);
            if (strncmp(from, where, strlen(where)) == 0) {
                fputs(" AND ", to);
                from += strlen(where);
            }
        } else if (strncmp(from, percentile, strlen(percentile)) == 0) {
            long level = strtol(from + strlen(percentile), (char **)&from, 10);

            fprintf(to, "quantileExact(0.%02ld99999999)", level - 1);
        } else {
            fputc(*from++, to);
        }
    }
}

/* Calls for each view, the tables' first: its name, and its statement in ClickHouse's words. */
static int views_visit(struct clickhouse *servers, unsigned host,
                       int (*visit)(struct clickhouse *, unsigned, const char *, const char *))
{
    char path[PATH_MAX], line[512], name[64] = "", text[SQL_MOST] = "", *colon;
    FILE *views = fleet_file("views.sql", path) ? fopen(path, "re") : NULL;
    int status = views == NULL ? -1 : 0;
    FILE *sql = NULL;

    for (unsigned i = 0; i < FLEET_TABLES && status == 0; i++) {
        status = table_view(servers, host, i, visit);
    }
    while (status == 0 && fgets(line, sizeof(line), views) != NULL) {
        char *end = strchr(line, ';');

        colon = strncmp(line, "-- ", 3) == 0 ? strstr(line, ": ") : NULL;
        if (colon != NULL &&
            strspn(line + 3, "abcdefghijklmnopqrstuvwxyz_") == (size_t)(colon - line - 3)) {
            snprintf(name, sizeof(name), "%.*s", (int)(colon - line - 3), line + 3);
            memset(text, 0, sizeof(text));
            sql = fmemopen(text, sizeof(text) - 1, "w");
        } else if (sql != NULL) {
            select_translate(servers, line, end != NULL ? end : line + strlen(line), sql);
        }
        if (sql != NULL && end != NULL && colon == NULL) {
            fclose(sql);
            sql = NULL;
            status = visit(servers, host, name, text);
        }
    }
    if (sql != NULL) {
        fclose(sql);
    }
    if (views != NULL) {
        fclose(views);
    }
    return status;
}

/* A view's name must be free: what is not a view, kymo has not made and does not drop. */
static int name_check(struct clickhouse *servers, unsigned host, const char *name,
                      const char *select)
{
    char text[512], answer[64];

    (void)select;
    snprintf(text, sizeof(text),
             "SELECT engine FROM system.tables WHERE database = '%s' AND name = '%s' AND engine "
             "<> 'View'",
             servers->database, name);
    if (clickhouse_run(servers, host, "", text, answer, sizeof(answer)) != 0) {
        return -1;
    }
    if (answer[0] != '\0') {
        kymo_error("%s: database %s has a table %s, which kymo load has not made: name another "
                   "database",
                   servers->hosts[host], servers->database, name);
        return -1;
    }
    return 0;
}

static int cluster_check(struct clickhouse *servers, unsigned host)
{
    char text[256], answer[32];

    snprintf(text, sizeof(text),
             "SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = '%s'",
             servers->cluster);
    if (clickhouse_run(servers, host, "", text, answer, sizeof(answer)) != 0) {
        return -1;
    }
    if (strtoul(answer, NULL, 10) != servers->nhosts) {
        kymo_error(
            "%s: cluster %s has %.*s shards there, and %u hosts are named: remote_servers in "
            "its config.xml says which they are",
            servers->hosts[host], servers->cluster, (int)strcspn(answer, "\n"), answer,
            servers->nhosts);
        return -1;
    }
    return 0;
}

int clickhouse_prepare(struct clickhouse *servers, unsigned host)
{
    char text[256], mark[64], answer[1024], *rest = NULL;

    servers->schema = UINT64_C(14695981039346656037);
    if (views_visit(servers, host, view_sum) != 0) {
        return -1;
    }
    snprintf(mark, sizeof(mark), "kymo_views_%016" PRIx64, servers->schema);
    if (servers->cluster[0] != '\0' && cluster_check(servers, host) != 0) {
        return -1;
    }
    snprintf(text, sizeof(text), "CREATE DATABASE IF NOT EXISTS %s", servers->database);
    if (clickhouse_run(servers, host, "", text, NULL, 0) != 0) {
        return -1;
    }
    /* The mark of these very views is complete. Other marks are of views that go now. */
    snprintf(text, sizeof(text),
             "SELECT name FROM system.tables WHERE database = '%s' AND engine = 'View' AND "
             "name LIKE 'kymo\\\\_views\\\\_%%'",
             servers->database);
    if (clickhouse_run(servers, host, "", text, answer, sizeof(answer)) != 0) {
        return -1;
    }
    if (strncmp(answer, mark, strlen(mark)) == 0 && strcmp(answer + strlen(mark), "\n") == 0) {
        return 0;
    }
    for (char *old = strtok_r(answer, "\n", &rest); old != NULL;
         old = strtok_r(NULL, "\n", &rest)) {
        snprintf(text, sizeof(text), "DROP TABLE IF EXISTS %.100s", old);
        servers->accepted = "Code: 60,";
        if (clickhouse_run(servers, host, servers->database, text, NULL, 0) != 0) {
            return -1;
        }
    }
    if (views_visit(servers, host, name_check) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < FLEET_TABLES; i++) {
        if (schema_table_make(servers, host, i) != 0) {
            return -1;
        }
    }
    return views_visit(servers, host, view_make) == 0
               ? view_make(servers, host, mark, "SELECT 1 AS x")
               : -1;
}
