/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo collect: options, the loop over all devices, and the account at the end. See collect.h. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/kymo.h"
#include "host/link/cmd.h"

#define DISK_DEFAULT (8ull << 30)
#define END_SECONDS 20 /* that children have to store what they received */

static const char collect_help[] =
    "Usage: kymo collect [options] FOLDER [NAME=]TARGET...\n"
    "\n"
    "Takes the captures that many targets send (tracelogger -f link:NAME), each into\n"
    "FOLDER/NAME/, until interrupted. A link that is lost is opened again. What happens\n"
    "to each capture is a line of FOLDER/collect.jsonl; a table at the end has all that\n"
    "was stored and all that was lost.\n"
    "TARGET is unix:PATH, tcp:HOST:PORT or a serial line /dev/tty...[@BAUD].\n"
    "\n"
    "  --disk SIZE    at most SIZE bytes of captures (64M, 2G; default 8G): the oldest\n"
    "                 go first, and are counted\n"
    "  -n COUNT       end after COUNT captures\n"
    "  --json         print the account as JSON\n"
    "  -h, --help     print this text\n"
    "\n"
    "Exit status: 0 nothing was lost, 1 something was, or failed, 2 usage error.\n";

enum { OPT_DISK = 256, OPT_JSON };

static const struct option collect_options[] = {
    {"disk", required_argument, NULL, OPT_DISK},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    struct collect collect;
    unsigned long long count;
    bool is_json;
};

static int devices_parse(struct collect *collect, int n, char **words)
{
    if (n > COLLECT_DEVICES) {
        return kymo_usage("collect", "collect: at most %d targets", COLLECT_DEVICES);
    }
    collect->devices = calloc((size_t)n, sizeof(*collect->devices));
    if (collect->devices == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    for (int i = 0; i < n; i++) {
        struct device *device = &collect->devices[i];

        device->reports = device->words = -1;
        if (!index_name(words[i], device->name, &device->target)) {
            return kymo_usage("collect",
                              "collect: %s: not [NAME=]TARGET with a NAME of letters, digits, "
                              "'.', '_' and '-' other than " COLLECT_INDEX,
                              words[i]);
        }
        for (int j = 0; j < i; j++) {
            /* Some file systems make no difference between A and a. */
            if (strcasecmp(collect->devices[j].name, device->name) == 0) {
                return kymo_usage("collect", "collect: two targets are named %s: give NAME=TARGET",
                                  device->name);
            }
        }
        collect->ndevices++;
    }
    return -1;
}

/* Returns the exit status, -1 to continue. */
static int collect_options_parse(struct request *request, int argc, char **argv)
{
    int option;
    char *end;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:h", collect_options, NULL)) != -1) {
        switch (option) {
        case OPT_DISK:
            if (!disk_size(optarg, &request->collect.most)) {
                return kymo_usage("collect", "collect: --disk %s: not a size like 500M or 2G",
                                  optarg);
            }
            break;
        case OPT_JSON:
            request->is_json = true;
            break;
        case 'n':
            request->count = strtoull(optarg, &end, 10);
            if (*optarg < '0' || *optarg > '9' || *end != '\0' || request->count == 0) {
                return kymo_usage("collect", "collect: -n %s: not a number of captures", optarg);
            }
            break;
        case 'h':
            return kymo_help(&kymo_collect_command);
        default:
            return kymo_bad_option("collect", collect_options, argc, argv, option);
        }
    }
    if (optind + 2 > argc) {
        return optind == argc ? kymo_usage("collect", "collect: into which folder?")
                              : kymo_usage("collect", "collect: from which targets?");
    }
    request->collect.path = argv[optind];
    return devices_parse(&request->collect, argc - optind - 1, argv + optind + 1);
}

/* ---- the loop ---------------------------------------------------------------------- */

static time_t collect_monotonic_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static struct device *device_of(struct collect *collect, pid_t pid)
{
    for (unsigned i = 0; i < collect->ndevices; i++) {
        if (collect->devices[i].pid == pid) {
            return &collect->devices[i];
        }
    }
    return NULL;
}

/* Returns the number of children that run. */
static unsigned collect_children_reap(struct collect *collect)
{
    unsigned running = 0;
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        struct device *device = device_of(collect, pid);

        if (device != NULL) {
            device_ended(collect, device, collect_monotonic_now());
        }
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        running += collect->devices[i].pid > 0;
    }
    return running;
}

/* Waits a moment for what children say, and takes it. */
static void children_hear(struct collect *collect)
{
    struct pollfd fds[2 * COLLECT_DEVICES];

    for (unsigned i = 0; i < collect->ndevices; i++) {
        fds[2 * i] = (struct pollfd){.fd = collect->devices[i].reports, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = collect->devices[i].words, .events = POLLIN};
    }
    poll(fds, 2 * collect->ndevices, 250);
    for (unsigned i = 0; i < collect->ndevices; i++) {
        device_read(collect, &collect->devices[i]);
    }
}

static uint64_t captures_of(const struct collect *collect)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < collect->ndevices; i++) {
        n += collect->devices[i].stored + collect->devices[i].incomplete;
    }
    return n;
}

static void collect_watch_devices(struct request *request)
{
    struct collect *collect = &request->collect;
    time_t until;

    while (!cmd_interrupted && !collect->is_failed &&
           (request->count == 0 || captures_of(collect) < request->count)) {
        for (unsigned i = 0; i < collect->ndevices; i++) {
            struct device *device = &collect->devices[i];

            if (device->pid == 0 && collect_monotonic_now() >= device->again &&
                !device_start(collect, device)) {
                device->again = collect_monotonic_now() + 1;
            }
        }
        children_hear(collect);
        collect_children_reap(collect);
        disk_bound(collect);
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        device_stop(&collect->devices[i]);
    }
    until = collect_monotonic_now() + END_SECONDS;
    while (collect_children_reap(collect) > 0 && collect_monotonic_now() < until) {
        children_hear(collect);
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        if (collect->devices[i].pid > 0) {
            kymo_error("%s: does not end: killed", collect->devices[i].name);
            kill(collect->devices[i].pid, SIGKILL);
        }
    }
    disk_bound(collect);
}

/* ---- the account ------------------------------------------------------------------- */

static void collect_account_json(const struct device *device)
{
    printf("{\"device\":\"%s\",\"stored\":%llu,\"stored_bytes\":%llu,\"incomplete\":%llu,"
           "\"incomplete_bytes\":%llu,\"deleted\":%llu,\"deleted_bytes\":%llu,\"breaks\":%llu}\n",
           device->name, (unsigned long long)device->stored,
           (unsigned long long)device->stored_bytes, (unsigned long long)device->incomplete,
           (unsigned long long)device->incomplete_bytes, (unsigned long long)device->deleted,
           (unsigned long long)device->deleted_bytes, (unsigned long long)device->breaks);
}

/* Returns true if nothing was lost. */
static bool account_show(const struct request *request)
{
    const struct collect *collect = &request->collect;
    bool is_good = !collect->is_failed;

    if (!request->is_json) {
        printf("%-20s %8s %14s %10s %8s %6s\n", "DEVICE", "STORED", "BYTES", "INCOMPLETE",
               "DELETED", "BREAKS");
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        const struct device *device = &collect->devices[i];

        is_good &= device->incomplete == 0 && device->deleted == 0;
        if (request->is_json) {
            collect_account_json(device);
        } else {
            printf("%-20s %8llu %14llu %10llu %8llu %6llu\n", device->name,
                   (unsigned long long)device->stored, (unsigned long long)device->stored_bytes,
                   (unsigned long long)device->incomplete, (unsigned long long)device->deleted,
                   (unsigned long long)device->breaks);
        }
    }
    return is_good;
}

static int collect_main(int argc, char **argv)
{
    static struct request request = {
        .collect = {.most = DISK_DEFAULT, .folder = -1, .journal.fd = -1}};
    int status = collect_options_parse(&request, argc, argv);

    if (status < 0) {
        cmd_catch_signals(); /* before anything is in the index */
        status = index_open(&request.collect) ? -1 : KYMO_FAILURE;
    }
    if (status < 0) {
        collect_watch_devices(&request);
        status = kymo_stdout_end(account_show(&request) ? KYMO_OK : KYMO_FAILURE);
    }
    free(request.collect.devices);
    return status;
}

const struct kymo_command kymo_collect_command = {
    .name = "collect",
    .summary = "take the captures of many targets into one folder",
    .run = collect_main,
    .help = collect_help,
};
