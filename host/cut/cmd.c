/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo cut: a selection of a capture's events as a capture. Only captures of Kymo's are cut: those
 * of other kernels promise too little about their buffers. Events go from the reader, merged by
 * time, to one buffer a CPU, so memory does not grow with the capture.
 *
 * Losses are kept: DROPPED slots inside the window, and of each CPU those at the head of the first
 * buffer behind it, which tell of losses that may have been in it. A gap of the sequence stays one,
 * with the DROPPED that accounts for it. What the selection leaves out is no loss; attributes
 * (CUT_...) say that the capture is a cut.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cut/cut.h"
#include "kernel/abi/sys/trace.h"

#define PROGRESS_EVENTS 65536
#define NAME_EVENT(number) \
    ((number) == 192 || (number) == 320) /* PROCCREATE_NAME, PROCTHREAD_NAME */
#define MAPNAME 8

static const char cut_help[] =
    "Usage: kymo cut [options] FILE -o OUT.kev\n"
    "\n"
    "Writes a capture that has a selection of another one's events, with the names of\n"
    "processes and threads and who runs when it begins. FILE - is standard input.\n"
    "\n"
    "  -o OUT.kev     where to; a file that is there already is not replaced\n"
    "  --force        it is\n"
    "  --recover      take what is sound of a damaged file\n"
    "\n" SELECT_HELP "\n"
    "  -h, --help     this text\n";

/* What is known of a CPU's buffers of the original. */
struct cut_cpu {
    bool buffers; /* one has been seen: `sequence` is the last one's */
    uint32_t sequence;
    bool owes;    /* a gap inside the window, not yet accounted for */
    bool behind;  /* a buffer has begun behind the window */
    bool settled; /* nothing behind the window is of interest any more */
};

struct cut {
    const char *input, *path;
    bool force, recover, begun, ended;
    struct kymo_select select;
    char **options; /* of the selection, as they were given */
    unsigned noptions;
    struct owners *owners;
    struct output output;
    struct cut_file file;
    struct cut_cpu cpu[KEV_CPUS];
    int unnamed; /* names that found no room */
};

/* ---- options ---- */

enum { OPT_FORCE = 256, OPT_RECOVER };

static const struct option cut_options[] = {
    SELECT_OPTIONS,
    {"force", no_argument, NULL, OPT_FORCE},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Times stand in the attributes as cycles, the others as they were given. */
static void option_remember(struct cut *cut, int option)
{
    for (unsigned i = 0; cut_options[i].name != NULL; i++) {
        if (cut_options[i].val == option && option != SELECT_FROM && option != SELECT_TO &&
            asprintf(&cut->options[cut->noptions], "--%s", cut_options[i].name) > 0) {
            cut->options[cut->noptions + 1] = strdup(optarg);
            cut->noptions += 2;
        }
    }
}

static int option_use(struct cut *cut, int option, int argc, char **argv)
{
    int status = kymo_select_option(&cut->select, "cut", option, optarg);

    if (status >= 0) {
        option_remember(cut, option);
        return status;
    }
    switch (option) {
    case 'o':
        cut->path = optarg;
        return 0;
    case OPT_FORCE:
        cut->force = true;
        return 0;
    case OPT_RECOVER:
        cut->recover = true;
        return 0;
    default:
        return kymo_bad_option("cut", argc, argv, option);
    }
}

/* -1: go on; else the exit status. */
static int options_parse(struct cut *cut, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", cut_options, NULL)) != -1) {
        int status = option == 'h' ? 0 : option_use(cut, option, argc, argv);

        if (option == 'h') {
            return kymo_help(&kymo_cut_command);
        }
        if (status != 0) {
            return status;
        }
    }
    if (optind == argc) {
        return kymo_usage("cut", "cut: which capture?");
    }
    cut->input = argv[optind++];
    if (optind < argc) {
        return kymo_usage("cut", "cut: one capture at a time, not %s too", argv[optind]);
    }
    if (cut->path == NULL) {
        return kymo_usage("cut", "cut: where to? (-o OUT.kev)");
    }
    return -1;
}

/* ---- the events ---- */

static bool cpu_is_in(const struct cut *cut, unsigned cpu)
{
    return cut->select.cpus == 0 || (cut->select.cpus >> cpu & 1) != 0;
}

static bool is_control(const struct kev_event *event, unsigned number)
{
    return event->class == TRACE_CLASS_CONTROL && event->number == number;
}

/* Buffers missing before this one; counts it. */
static uint32_t buffer_follow(struct cut_cpu *cpu, const struct kev_event *event)
{
    uint32_t sequence = kev_word(event, 0);
    uint32_t gap = cpu->buffers && sequence > cpu->sequence ? sequence - cpu->sequence - 1 : 0;

    cpu->buffers = true;
    cpu->sequence = sequence;
    return gap;
}

/* DROPPED that accounts for buffers that are missing: overwritten, or not written. */
static bool is_gap_account(const struct kev_event *event)
{
    uint32_t reason = kev_word(event, 0) >> 8;

    return reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_UNWRITTEN;
}

static int begin(struct cut *cut, const struct kev *kev, uint64_t time)
{
    cut->begun = true;
    cut->unnamed = cut_prelude(&cut->file, &cut->select, kev, cut->owners, time);
    return cut->unnamed < 0 ? -1 : 0;
}

static int control_inside(struct cut *cut, const struct kev_event *event, uint32_t gap)
{
    struct cut_cpu *cpu = &cut->cpu[event->cpu];

    if (is_control(event, TRACE_CONTROL_DROPPED)) {
        cpu->owes = cpu->owes && !is_gap_account(event);
        return cut_dropped(&cut->file, event);
    }
    if (gap > 0) {
        cpu->owes = true;
        return cut_gap(&cut->file, event->cpu, gap);
    }
    return 0;
}

/* Names are kept even if they are not selected, as no events of the selection's. */
static bool is_name(const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    return (event->class == TRACE_CLASS_PR_TH && NAME_EVENT(number)) ||
           (event->class == TRACE_CLASS_SYSTEM && number == MAPNAME);
}

static int event_inside(struct cut *cut, struct kev_event *event, const struct owner *owner,
                        uint32_t gap)
{
    if (!cpu_is_in(cut, event->cpu)) {
        return 0;
    }
    if (event->class == TRACE_CLASS_CONTROL) {
        return control_inside(cut, event, gap);
    }
    if (!kymo_select_event(&cut->select, event, owner, cut->owners)) {
        if (!is_name(event)) {
            return 0;
        }
        event->injected = true;
    }
    return cut_event(&cut->file, event);
}

/* Behind the window. */
static void event_behind(struct cut *cut, const struct kev_event *event)
{
    struct cut_cpu *cpu = &cut->cpu[event->cpu];

    if (!cut->ended) {
        cut->ended = true;
        cut_flush(&cut->file);
    }
    if (!cpu_is_in(cut, event->cpu) || cpu->settled) {
        return;
    }
    cpu->behind |= is_control(event, TRACE_CONTROL_BUFFER);
    if (is_control(event, TRACE_CONTROL_DROPPED)) {
        cpu->owes = cpu->owes && !is_gap_account(event);
        cut_tail(&cut->file, event);
    }
    cpu->settled = cpu->behind && !cpu->owes && event->class != TRACE_CLASS_CONTROL;
}

static bool all_settled(const struct cut *cut, const struct kev *kev)
{
    for (unsigned cpu = 0; cpu < kev_info(kev)->ncpu; cpu++) {
        if (cpu_is_in(cut, cpu) && !cut->cpu[cpu].settled) {
            return false;
        }
    }
    return true;
}

/* 0, or -1: no memory, said. */
static int event_take(struct cut *cut, const struct kev *kev, struct kev_event *event)
{
    struct owner owner = owners_follow(cut->owners, event);
    bool inside = kymo_select_time(&cut->select, event->time);
    uint32_t gap = 0;

    if (is_control(event, TRACE_CONTROL_BUFFER)) {
        gap = buffer_follow(&cut->cpu[event->cpu], event);
    }
    if (event->time < cut->select.first) {
        return 0;
    }
    if (!cut->begun && begin(cut, kev, inside ? event->time : cut->select.first) != 0) {
        return -1;
    }
    if (inside) {
        return event_inside(cut, event, &owner, gap);
    }
    event_behind(cut, event);
    return 0;
}

/* ---- the command ---- */

/* Names that only the capture's end tells. */
static int names_learn(struct cut *cut, struct kev *kev)
{
    struct kev_event event;
    struct kev_error error;

    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        owners_learn(cut->owners, &event);
        kymo_select_learn(&cut->select, &event);
        kymo_progress((void *)"looking for names", event.offset, kev_info(kev)->size);
    }
    owners_begin(cut->owners);
    kev_rewind(kev);
    return kymo_select_check_names(&cut->select, kev);
}

/* All events into the file. An exit status; *damaged: nothing of it may stay. */
static int events_take(struct cut *cut, struct kev *kev, bool *damaged)
{
    enum kev_result result = KEV_END;
    struct kev_event event;
    struct kev_error error;
    uint64_t n = 0, last = 0;

    while (!(cut->ended && all_settled(cut, kev)) &&
           (result = kev_next(kev, &event, &error)) == KEV_EVENT) {
        last = event.time;
        if (event_take(cut, kev, &event) != 0) {
            *damaged = true;
            return KYMO_FAILURE;
        }
        if (++n % PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"cutting", event.offset, kev_info(kev)->size);
        }
    }
    kymo_progress_end();
    if (result == KEV_ERROR) {
        kymo_report_error(&error);
        *damaged = !error.incomplete;
    }
    if (!cut->begun && begin(cut, kev, last > cut->select.first ? last : cut->select.first) != 0) {
        *damaged = true;
    }
    cut_flush(&cut->file);
    return result == KEV_ERROR || *damaged ? KYMO_FAILURE : KYMO_OK;
}

static void report(const struct cut *cut)
{
    if (cut->file.events == 0) {
        kymo_error("%s: no event is in the selection", cut->path);
    }
    if (cut->unnamed > 0) {
        kymo_error("%s: %d names of processes and threads found no room before its first event",
                   cut->path, cut->unnamed);
    }
}

static int cut_write(struct cut *cut, struct kev *kev)
{
    struct cut_origin origin = {cut->input, &cut->select, cut->options};
    bool damaged = false;
    int status;

    output_reads(cut->input);
    if (output_open(&cut->output, cut->path, cut->force ? OUTPUT_FORCE : OUTPUT_NEW) != 0) {
        return KYMO_FAILURE;
    }
    cut->file.output = &cut->output;
    cut_head(&cut->file, kev, &origin);
    status = events_take(cut, kev, &damaged);
    if (!kymo_report_damage(kev)) {
        damaged = true;
    }
    if (damaged) {
        output_abandon(&cut->output);
        return KYMO_FAILURE;
    }
    if (output_commit(&cut->output) != 0) {
        return KYMO_FAILURE;
    }
    report(cut);
    return status;
}

static int cut_capture(struct cut *cut, struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);
    uint32_t len;
    int status;

    if (!info->kymo || kev_page(kev, &len) == NULL) {
        kymo_error(info->kymo ? "%s: its header or system page is damaged: it can't be cut"
                              : "%s: another kernel's capture: only those of Kymo's can be cut",
                   info->path);
        return KYMO_FAILURE;
    }
    cut->owners = owners_new(kev);
    if (cut->owners == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    status = kymo_select_bind(&cut->select, "cut", kev);
    status = status == KYMO_OK ? names_learn(cut, kev) : status;
    kymo_progress_end();
    status = status == KYMO_OK ? cut_write(cut, kev) : status;
    cut_free(&cut->file);
    owners_free(cut->owners);
    return status;
}

static int cut_open(struct cut *cut)
{
    struct kev_options options = {
        .recover = cut->recover, .progress = kymo_progress, .progress_arg = (void *)"reading"};
    struct kev_error error;
    struct kev *kev = kev_open(cut->input, &options, &error);
    int status;

    kymo_progress_end();
    if (kev == NULL) {
        kymo_report_error(&error);
        return KYMO_FAILURE;
    }
    status = cut_capture(cut, kev);
    kev_close(kev);
    return status;
}

static int cut_main(int argc, char **argv)
{
    struct cut *cut = calloc(1, sizeof(*cut));
    int status = KYMO_FAILURE;

    if (cut != NULL) {
        kymo_select_init(&cut->select);
        cut->options = calloc(2 * (size_t)argc + 1, sizeof(*cut->options));
    }
    if (cut == NULL || cut->options == NULL) {
        kymo_error("out of memory");
        free(cut);
        return status;
    }
    status = options_parse(cut, argc, argv);
    status = status < 0 ? cut_open(cut) : status;
    for (unsigned i = 0; i < cut->noptions; i++) {
        free(cut->options[i]);
    }
    free(cut->options);
    free(cut);
    return status;
}

const struct kymo_command kymo_cut_command = {
    .name = "cut",
    .summary = "write a capture of a part of a capture",
    .run = cut_main,
    .help = cut_help,
};
