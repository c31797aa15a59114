/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo load: captures into ClickHouse, in the tables of kymo export --parquet. Each server has
 * TABLE_local; with a cluster TABLE_all is all servers'. A capture goes to the server that its
 * device's name selects. The views are those of views.sql.
 *
 * There are no transactions, so each attempt to load a capture has an id, which its rows carry. The
 * row of `captures`, sent last, makes the attempt count, and of a capture's attempts the one with
 * the least id does. What was killed half-way, and what two loaded at once, no view sees.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "host/fleet/clickhouse.h"
#include "host/kymo.h"
#include "host/memory_stream.h"
#include "host/temporary.h"

#define IDS_MOST (64 << 20) /* bytes of ids: a million captures */

static const char load_help[] =
    "Usage: kymo load [options] clickhouse://HOST[:PORT][,HOST...]/DB[?cluster=NAME]\n"
    "           CAPTURE|FOLDER...\n"
    "\n"
    "Loads captures, and all *.kev below a FOLDER, into ClickHouse, each once. Several hosts are\n"
    "the shards of a cluster. PORT is that of HTTP, 8123; a USER@ may be before the first host,\n"
    "$CLICKHOUSE_PASSWORD has the password.\n"
    "\n"
    "  --path RULE        which parts of the path below FOLDER are DEVICE, FIRMWARE and DATE, as\n"
    "                     DATE/*/DEVICE or */DEVICE.kev; without it the index of kymo collect\n"
    "                     says it, else the first folder is the DEVICE\n"
    "  --device NAME      the device of all these captures\n"
    "  --firmware NAME    their firmware\n"
    "  --date YYYY-MM-DD  their day\n"
    "  --recover          load the undamaged parts of damaged captures\n"
    "  -h, --help         print this text\n";

struct load {
    struct clickhouse servers;
    struct fleet_options options;
    char **known; /* ids of the captures that are there, sorted */
    size_t nknown, added;
    char folder[PATH_MAX]; /* for rows */
    int folder_held;       /* temporary_directory_hold()'s */
    unsigned host;         /* of the capture that is being loaded */
    struct fleet_capture *capture;
};

/* ---- what is there ----------------------------------------------------------------- */

static int fleet_load_id_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool fleet_load_id_known(const struct load *load, const char *id)
{
    return load->nknown > 0 && bsearch(&id, load->known, load->nknown, sizeof(*load->known),
                                       fleet_load_id_compare) != NULL;
}

static int fleet_load_id_add(struct load *load, char *id)
{
    char **known = reallocarray(load->known, load->nknown + 1, sizeof(*known));

    if (known == NULL || id == NULL) {
        kymo_error("out of memory");
        free(id);
        return -1;
    }
    load->known = known;
    known[load->nknown++] = id;
    return 0;
}

/* All servers are asked: a device's captures stay where they are if there are more servers now. */
static int ids_read(struct load *load)
{
    char text[256], *answer = malloc(IDS_MOST), *rest = NULL;
    int status = answer == NULL ? -1 : 0;

    snprintf(text, sizeof(text), "SELECT DISTINCT capture FROM %s.captures_local FORMAT TSV",
             load->servers.database);
    for (unsigned host = 0; host < load->servers.nhosts && status == 0; host++) {
        status = clickhouse_run(&load->servers, host, "", text, answer, IDS_MOST);
        for (char *id = status == 0 ? strtok_r(answer, "\n", &rest) : NULL;
             id != NULL && status == 0; id = strtok_r(NULL, "\n", &rest)) {
            status = fleet_load_id_add(load, strdup(id));
        }
    }
    if (load->nknown > 0) {
        qsort(load->known, load->nknown, sizeof(*load->known), fleet_load_id_compare);
    }
    free(answer);
    return status;
}

/* ---- a capture --------------------------------------------------------------------- */

/* The server of a device: always the same while there are as many. */
static unsigned host_of(const struct clickhouse *servers, const char *device)
{
    return fleet_hash(device) % servers->nhosts;
}

/* A file of rows; that of `captures` comes last, when all else is there. */
static int rows_send(void *arg, unsigned table, unsigned part, const char *path)
{
    struct load *load = arg;
    char sql[64];

    (void)part;
    snprintf(sql, sizeof(sql), "INSERT INTO %s_local FORMAT CSV", fleet_tables[table].name);
    return clickhouse_insert(&load->servers, load->host, sql, path);
}

static void csv_put(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++) {
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    }
    fputs("\",", to);
}

/* Returns the text with which each row begins; NULL: no memory. To be freed. */
static char *prefix_make(const struct fleet_capture *capture)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = memory_stream(&text, &length);
    struct timespec now;
    uint64_t random = 0;

    if (to == NULL || getrandom(&random, sizeof(random), 0) != sizeof(random)) {
        return NULL;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    csv_put(to, capture->device);
    csv_put(to, capture->firmware);
    fprintf(to, "%s,%010" PRIx64 "%08lx%016" PRIx64 ",", capture->date, (uint64_t)now.tv_sec,
            (unsigned long)now.tv_nsec, random);
    fclose(to);
    return text;
}

static int capture_send(struct load *load, const struct fleet_source *source)
{
    struct fleet_sink sink = {.folder = load->folder, .arg = load, .take = rows_send};
    int status = fleet_capture_read(load->capture, source, &load->options);
    bool broken = true;
    char *prefix;

    if (status != KYMO_OK) {
        return status;
    }
    load->host = host_of(&load->servers, load->capture->device);
    prefix = prefix_make(load->capture);
    sink.prefix = prefix;
    if (prefix == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    status = fleet_tables_write(load->capture, &sink, &broken);
    free(prefix);
    if (clickhouse_settle(&load->servers) != 0 || broken || fleet_stopped != 0 ||
        fleet_load_id_add(load, strdup(load->capture->id)) != 0) {
        return KYMO_FAILURE;
    }
    qsort(load->known, load->nknown, sizeof(*load->known), fleet_load_id_compare);
    load->added++;
    return status;
}

static int captures_send(struct load *load, const struct fleet_sources *sources)
{
    int status = KYMO_OK;

    for (unsigned i = 0; i < sources->count && fleet_stopped == 0; i++) {
        struct fleet_capture capture;
        int one = fleet_capture_open(&capture, &sources->list[i]);

        load->capture = &capture;
        if (one == KYMO_OK && !fleet_load_id_known(load, capture.id)) {
            one = capture_send(load, &sources->list[i]);
        }
        fleet_capture_close(&capture);
        status = one == KYMO_OK ? status : KYMO_FAILURE;
    }
    kymo_progress_end();
    if (fleet_stopped == 0) {
        printf("captures: %zu added, %zu in all\n", load->added, load->nknown);
    }
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static int load_run(struct load *load, int argc, char **argv)
{
    static const char *const rows[] = {">*-*.csv", NULL};
    struct fleet_sources sources = {.options = &load->options};
    int status = fleet_sources_find(&sources, argc, argv);

    for (unsigned host = 0; host < load->servers.nhosts && status == KYMO_OK; host++) {
        status = clickhouse_prepare(&load->servers, host) == 0 ? KYMO_OK : KYMO_FAILURE;
    }
    if (status == KYMO_OK && ids_read(load) != 0) {
        status = KYMO_FAILURE;
    }
    if (status == KYMO_OK) {
        load->folder_held =
            temporary_directory_hold("load", rows, load->folder, sizeof(load->folder));
        if (load->folder_held < 0) {
            kymo_error("no folder in %s: %s", temporary_place(), strerror(errno));
            status = KYMO_FAILURE;
        } else {
            status = captures_send(load, &sources);
            fleet_folder_remove(load->folder);
            close(load->folder_held);
        }
    }
    fleet_sources_free(&sources);
    return status;
}

static int fleet_load_options_parse(struct load *load, int argc, char **argv)
{
    static const struct option names[] = {FLEET_OPTIONS, {NULL, 0, NULL, 0}};
    const char *wrong;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", names, NULL)) != -1) {
        int status = option == 'h' ? 0
                     : option < FLEET_OPT_DEVICE
                         ? kymo_bad_option("load", names, argc, argv, option)
                         : fleet_option_use("load", &load->options, option, optarg);

        if (option == 'h') {
            return kymo_help(&kymo_load_command);
        }
        if (status != KYMO_OK) {
            return status;
        }
    }
    if (optind == argc) {
        return kymo_usage("load", "load: which server? clickhouse://HOST/DB");
    }
    wrong = clickhouse_parse(&load->servers, argv[optind]);
    if (wrong != NULL) {
        return kymo_usage("load", "load: %s: %s", clickhouse_url_shown(argv[optind]), wrong);
    }
    return ++optind == argc ? kymo_usage("load", "load: which captures?") : -1;
}

static int load_main(int argc, char **argv)
{
    struct load *load = calloc(1, sizeof(*load));
    int status;

    if (load == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    status = fleet_load_options_parse(load, argc, argv);
    if (status < 0) {
        fleet_signals_catch();
        status = load_run(load, argc - optind, argv + optind);
        fleet_signals_end();
    }
    for (size_t i = 0; i < load->nknown; i++) {
        free(load->known[i]);
    }
    free(load->known);
    free(load->servers.password);
    free(load);
    return status;
}

const struct kymo_command kymo_load_command = {
    .name = "load",
    .summary = "load captures of many devices into ClickHouse",
    .run = load_main,
    .help = load_help,
};
