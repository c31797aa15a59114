/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo diff: its command line. See diff.h. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/diff/diff.h"
#include "host/kymo.h"

static const char diff_help[] =
    "Usage: kymo diff [options] A B\n"
    "       kymo diff [options] A... --vs B...\n"
    "\n"
    "Tells what changed between two captures, or two sets of captures of several runs: CPU time "
    "by\n"
    "thread, latency of messages by client and server, of interrupts, rates of events, new and\n"
    "vanished threads. Each change has an interval, found by drawing blocks of time anew. A and B\n"
    "may be folders: their *.kev. Threads are known by their names.\n"
    "\n"
    "  --max METRIC=LIMIT       fail if it grows by more: 5%, of a latency also 200us\n"
    "  --max METRIC:NAME=LIMIT  the same of one thread, CLIENT -> SERVER, interrupt or event\n"
    "  --max new=N, gone=N      fail if more threads are new, or have vanished\n"
    "  --max-drop METRIC=LIMIT  fail if it falls by more\n"
    "                           METRIC: cpu, rate, message.p50, message.p90, message.p99,\n"
    "                           message.rate; the same of interrupt\n"
    "  --all                    print what has not changed, too\n"
    "  --json                   for programs: one JSON object a line\n"
    "  --accept WHAT            decide although events were lost, or the recording had a gate,\n"
    "                           pauses or unknown filters, or the interval is too wide: loss,\n"
    "                           gate, pauses, unknown, noise\n"
    "  --recover                read the undamaged parts of damaged files; what is missing counts "
    "as\n"
    "                           lost\n"
    "  --confidence P           of the intervals, in percent; 99\n"
    "  --least P                smaller changes are not reported, in percent; 1\n"
    "  --least-cpu P            threads below it on both sides are not compared, in percent of a\n"
    "                           CPU; 0.1\n"
    "  --blocks N               of time, in each capture; 32\n"
    "  --resamples N            how often blocks are drawn; 1000\n"
    "  --seed N                 of the drawing; 1\n"
    "  -h, --help               print this text\n"
    "\n"
    "Exit status: 0, or no limit is passed; 1 a limit is passed, or nobody can tell, or failure;\n"
    "2 usage error. docs/guide/diff.md explains it.\n";

enum {
    OPT_MAX = 256,
    OPT_DROP,
    OPT_ALL,
    OPT_JSON,
    OPT_ACCEPT,
    OPT_CONFIDENCE,
    OPT_LEAST,
    OPT_LEAST_CPU,
    OPT_BLOCKS,
    OPT_RESAMPLES,
    OPT_SEED,
    OPT_VS,
    OPT_RECOVER,
};

static const struct option diff_options[] = {
    {"max", required_argument, NULL, OPT_MAX},
    {"max-drop", required_argument, NULL, OPT_DROP},
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"accept", required_argument, NULL, OPT_ACCEPT},
    {"confidence", required_argument, NULL, OPT_CONFIDENCE},
    {"least", required_argument, NULL, OPT_LEAST},
    {"least-cpu", required_argument, NULL, OPT_LEAST_CPU},
    {"blocks", required_argument, NULL, OPT_BLOCKS},
    {"resamples", required_argument, NULL, OPT_RESAMPLES},
    {"seed", required_argument, NULL, OPT_SEED},
    {"vs", no_argument, NULL, OPT_VS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ---- options: each returns the exit status, -1 to continue ---------------------------- */

static int diff_number_parse(const char *option, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(optarg, &end, 10);
    if (errno != 0 || *end != '\0' || optarg[0] < '0' || optarg[0] > '9' || *number < least ||
        *number > most) {
        return kymo_usage("diff", "diff: %s: a number from %llu to %llu, not %s", option,
                          (unsigned long long)least, (unsigned long long)most, optarg);
    }
    return -1;
}

static int percent_parse(const char *option, double least, double most, double *fraction)
{
    char *end;
    double percent = strtod(optarg, &end);

    if (*end == '%') {
        end++;
    }
    if (*end != '\0' || optarg[0] < '0' || optarg[0] > '9' || percent < least || percent > most) {
        return kymo_usage("diff", "diff: %s: percent from %g to %g, not %s", option, least, most,
                          optarg);
    }
    *fraction = percent / 100;
    return -1;
}

static int diff_accept_use(struct diff *diff)
{
    for (unsigned i = 0; i < DOUBTS; i++) {
        if (strcmp(optarg, diff_doubt_names[i]) == 0) {
            diff->accept[i] = true;
            return -1;
        }
    }
    return kymo_usage("diff", "diff: --accept loss, gate, pauses, unknown or noise, not %s",
                      optarg);
}

static int diff_option_use(struct diff *diff, int option, int argc, char **argv)
{
    uint64_t number = 0;
    int status = -1;

    switch (option) {
    case 'h':
        return kymo_help(&kymo_diff_command);
    case OPT_MAX:
    case OPT_DROP:
        return limit_add(diff, optarg, option == OPT_DROP);
    case OPT_ALL:
        diff->all = true;
        return -1;
    case OPT_JSON:
        diff->json = true;
        return -1;
    case OPT_RECOVER:
        diff->recover = true;
        return -1;
    case OPT_ACCEPT:
        return diff_accept_use(diff);
    case OPT_CONFIDENCE:
        return percent_parse("--confidence", 50, 99.9999, &diff->confidence);
    case OPT_LEAST:
        return percent_parse("--least", 0, 1e6, &diff->least);
    case OPT_LEAST_CPU:
        return percent_parse("--least-cpu", 0, 1e6, &diff->least_cpu);
    case OPT_BLOCKS:
        status = diff_number_parse("--blocks", 8, 1024, &number);
        diff->blocks = (unsigned)number;
        return status;
    case OPT_RESAMPLES:
        status = diff_number_parse("--resamples", 100, 100000, &number);
        diff->resamples = (unsigned)number;
        return status;
    case OPT_SEED:
        return diff_number_parse("--seed", 0, UINT64_MAX, &diff->seed);
    default:
        return kymo_bad_option("diff", diff_options, argc, argv, option);
    }
}

/* ---- captures ---------------------------------------------------------------------- */

static int diff_capture_add(struct diff_side *side, const char *path)
{
    if (strcmp(path, "-") == 0) {
        return kymo_usage("diff", "diff: a capture is read twice: give a file, not -");
    }
    if (side->ncaptures == DIFF_CAPTURES) {
        return kymo_usage("diff", "diff: at most %d captures on a side", DIFF_CAPTURES);
    }
    side->captures[side->ncaptures].path = strdup(path);
    if (side->captures[side->ncaptures].path == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    side->ncaptures++;
    return -1;
}

static int is_capture(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".kev") == 0;
}

/* A file, or a folder: its *.kev by name. */
static int path_add(struct diff_side *side, const char *path)
{
    struct stat st;
    struct dirent **entries;
    int status = -1, n;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return diff_capture_add(side, path);
    }
    n = scandir(path, &entries, is_capture, alphasort);
    if (n <= 0) {
        kymo_error("%s: %s", path, n < 0 ? strerror(errno) : "there is no *.kev in this folder");
        free(n < 0 ? NULL : entries);
        return KYMO_FAILURE;
    }
    for (int i = 0; i < n; i++) {
        size_t room = strlen(path) + strlen(entries[i]->d_name) + 2;
        char *whole = kymo_memory(malloc(room));

        if (status < 0) {
            snprintf(whole, room, "%s/%s", path, entries[i]->d_name);
            status = diff_capture_add(side, whole);
        }
        free(whole);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Words before --vs are of A; without one there are two. */
static int diff_options_parse(struct diff *diff, int argc, char **argv)
{
    const char **words = kymo_memory(calloc((size_t)argc + 1, sizeof(*words)));
    int n = 0, vs = -1, option, status = -1;

    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, "-:h", diff_options, NULL)) != -1) {
        if (option == 1) {
            words[n++] = optarg;
        } else if (option == OPT_VS) {
            status = vs >= 0 ? kymo_usage("diff", "diff: --vs is given once, between A and B") : -1;
            vs = n;
        } else {
            status = diff_option_use(diff, option, argc, argv);
        }
    }
    while (status < 0 && optind < argc) {
        words[n++] = argv[optind++];
    }
    vs = vs < 0 && n == 2 ? 1 : vs;
    if (status < 0 && (vs <= 0 || vs == n)) {
        status = kymo_usage("diff", n > 2 ? "diff: several captures on a side: A... --vs B..."
                                          : "diff: which captures? A and B");
    }
    for (int i = 0; i < n && status < 0; i++) {
        status = path_add(&diff->side[i >= vs], words[i]);
    }
    free(words);
    return status;
}

static int diff_all(struct diff *diff)
{
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            if (!measure_capture(diff, side, diff->side[side].captures[i].path)) {
                return KYMO_FAILURE;
            }
        }
    }
    measure_end(diff);
    if (!compare_all(diff)) {
        kymo_error("out of memory; fewer --resamples or --blocks need less");
        return KYMO_FAILURE;
    }
    limits_judge(diff);
    if (diff->json) {
        diff_json(diff);
    } else {
        diff_text(diff);
    }
    for (unsigned i = 0; i < diff->nlimits; i++) {
        if (diff->limits[i].verdict != LIMIT_KEPT) {
            return kymo_stdout_end(KYMO_FAILURE);
        }
    }
    return kymo_stdout_end(diff->lacks && !diff->accept[DOUBT_LOSS] ? KYMO_FAILURE : KYMO_OK);
}

static int diff_main(int argc, char **argv)
{
    struct diff *diff = calloc(1, sizeof(*diff));
    int status = KYMO_FAILURE;

    if (diff == NULL) {
        kymo_error("out of memory");
        return status;
    }
    diff->confidence = 0.99;
    diff->least = 0.01;
    diff->least_cpu = 0.001;
    diff->blocks = 32;
    diff->resamples = 1000;
    diff->seed = 1;
    status = diff_options_parse(diff, argc, argv);
    status = status < 0 ? diff_all(diff) : status;
    measure_free(diff);
    for (unsigned i = 0; i < diff->nlimits; i++) {
        free(diff->limits[i].name);
    }
    free(diff->limits);
    free(diff);
    return status;
}

const struct kymo_command kymo_diff_command = {
    .name = "diff",
    .summary = "tell what changed between two captures",
    .run = diff_main,
    .help = diff_help,
};
