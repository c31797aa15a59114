/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo cut: writes a selection of a capture's events as a capture. Only Kymo's captures are cut:
 * those of other kernels guarantee too little about their buffers. Events go from the reader,
 * merged by time, to one buffer per CPU, so memory does not grow with the capture. take.c handles
 * losses and omissions. Attributes (CUT_...) mark the capture as a cut.
 */
#include <endian.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/cut/cut.h"
#include "host/verify/verify.h"
#include "abi/sys/trace.h"
#include "abi/syspage.h"

#define PROGRESS_EVENTS 65536

static const char cut_help[] =
    "Usage: kymo cut [options] FILE -o OUT.kev\n"
    "\n"
    "Writes a capture that has a selection of another one's events, with the names of\n"
    "processes and threads and the running threads at its beginning. FILE - is standard input.\n"
    "\n"
    "  -o OUT.kev     the output; an existing file is not replaced\n"
    "  --force        replace an existing file\n"
    "  --recover      take the undamaged parts of a damaged file\n"
    "\n" SELECT_HELP "\n"
    "  -h, --help     print this text\n";

/* ---- options ----------------------------------------------------------------------- */

enum { OPT_FORCE = 256, OPT_RECOVER };

static const struct option cut_options[] = {
    SELECT_OPTIONS,
    {"force", no_argument, NULL, OPT_FORCE},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* The attributes have times as cycles, the other options as they were given. */
static void option_remember(struct cut *cut, int option)
{
    for (unsigned i = 0; cut_options[i].name != NULL; i++) {
        if (cut_options[i].val != option || option == SELECT_FROM || option == SELECT_TO) {
            continue;
        }
        if (asprintf(&cut->options[cut->noptions], "--%s", cut_options[i].name) < 0) {
            kymo_no_memory();
        }
        cut->options[cut->noptions + 1] = kymo_memory(strdup(optarg));
        cut->noptions += 2;
    }
}

static int cut_option_use(struct cut *cut, int option, int argc, char **argv)
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
        return kymo_bad_option("cut", cut_options, argc, argv, option);
    }
}

/* Returns the exit status, -1 to continue. */
static int cut_options_parse(struct cut *cut, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", cut_options, NULL)) != -1) {
        int status = option == 'h' ? 0 : cut_option_use(cut, option, argc, argv);

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
        return kymo_usage("cut", "cut: no output file: -o OUT.kev");
    }
    return -1;
}

/* ---- the command ------------------------------------------------------------------- */

/* Why events of the window may be missing, for the attributes: after names_learn(). */
__attribute__((format(printf, 2, 3))) static void cut_add_doubt(struct cut *cut, const char *format,
                                                                ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(cut->origin.doubts[cut->origin.ndoubts++], sizeof(cut->origin.doubts[0]), format,
              list);
    va_end(list);
}

/* After the window each CPU must have a buffer, which reports losses. */
static bool ends_inside(const struct cut *cut, const struct kev *kev)
{
    for (unsigned cpu = 0; cpu < kev_info(kev)->ncpu; cpu++) {
        if (cut_has_cpu(cut, cpu) && kymo_select_time(&cut->select, cut->cpu[cpu].last)) {
            return true;
        }
    }
    return false;
}

static void doubts_find(struct cut *cut, const struct kev *kev, bool incomplete)
{
    const struct kev_damage *damage = kev_damage(kev);

    if (incomplete && ends_inside(cut, kev)) {
        cut_add_doubt(cut, "the capture was cut short inside the window");
    }
    if (damage->first[0] != '\0') {
        cut_add_doubt(
            cut, "recovered: skipped %" PRIu64 " bytes in %" PRIu64 " places, %" PRIu64 " slots",
            damage->bytes, damage->places, damage->slots);
        cut_add_doubt(cut,
                      "%" PRIu64 " incomplete events, %" PRIu64 " buffers out of order, %" PRIu64
                      " wrong sums",
                      damage->events, damage->sequences, damage->sums);
    }
    if (kev_info(kev)->nmissing > 0) {
        cut_add_doubt(cut, "buffers are missing that no DROPPED accounts for");
    }
}

/* Names that only the capture's end tells, and whether all of it can be read. */
static int names_learn(struct cut *cut, struct kev *kev)
{
    struct kev_event event;
    struct kev_error error = {0};
    enum kev_result result;

    while ((result = kev_next(kev, &event, &error)) == KEV_EVENT) {
        struct cut_cpu *cpu = &cut->cpu[event.cpu];

        if (cut_is_buffer(&event) && event.time > cpu->last) {
            cpu->last = event.time;
        }
        owners_learn(cut->owners, &event);
        cut_maps_learn(cut->maps, &event);
        kymo_select_learn(&cut->select, &event);
        kymo_progress((void *)"looking for names", event.offset, kev_info(kev)->size);
    }
    doubts_find(cut, kev, result == KEV_ERROR && error.incomplete);
    owners_begin(cut->owners);
    kev_rewind(kev);
    if (error.no_memory || owners_lack_memory(cut->owners)) {
        kymo_error("%s: out of memory", cut->input);
        return KYMO_FAILURE;
    }
    return kymo_select_check_names(&cut->select, kev);
}

/* All events into the file. An exit status; *damaged: nothing of it may stay. */
static int cut_events_take(struct cut *cut, struct kev *kev, bool *damaged)
{
    enum kev_result result = KEV_END;
    struct kev_event event;
    struct kev_error error;
    uint64_t n = 0;

    while (!cut_settled(cut, kev) && (result = kev_next(kev, &event, &error)) == KEV_EVENT) {
        if (cut_take(cut, kev, &event) != 0) {
            *damaged = true;
            return KYMO_FAILURE;
        }
        if (++n % PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"cutting", event.offset, kev_info(kev)->size);
        }
    }
    kymo_progress_end();
    *damaged = !verify_can_show(kev);
    if (owners_lack_memory(cut->owners)) {
        kymo_error("%s: out of memory", cut->input);
        *damaged = true;
    }
    if (cut_finish(cut, kev) != 0) {
        *damaged = true;
    }
    return verify_end(kev);
}

static void cut_print_report(const struct cut *cut)
{
    uint64_t left_out = 0;

    if (cut->file.events == 0) {
        kymo_error("%s: no event is in the selection", cut->path);
    }
    if (cut->unnamed > 0) {
        kymo_error("%s: %d names of processes and threads do not fit before its first event",
                   cut->path, cut->unnamed);
    }
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        left_out += cut->cpu[cpu].left_out;
    }
    if (left_out > 0) {
        kymo_error("%s: %" PRIu64 " events are left out: their times are before those of earlier "
                   "events of their CPUs",
                   cut->path, left_out);
    }
}

/* Slots of a buffer: the reader has checked the page. */
static uint32_t buffer_limit(const struct kev *kev)
{
    struct kymo_syspage page;
    uint32_t bytes;

    memcpy(&page, kev_page(kev, &bytes), offsetof(struct kymo_syspage, board));
    return le32toh(page.buffer_slots);
}

static int cut_write(struct cut *cut, struct kev *kev)
{
    bool damaged = false;
    int status;

    output_reads(cut->input);
    if (output_open(&cut->output, cut->path, cut->force ? OUTPUT_FORCE : OUTPUT_NEW) != 0) {
        return KYMO_FAILURE;
    }
    cut->file.output = &cut->output;
    cut->file.limit = buffer_limit(kev);
    cut->origin.file = cut->input;
    cut->origin.select = &cut->select;
    cut->origin.options = cut->options;
    if (cut_head(&cut->file, kev, &cut->origin) != 0) {
        output_abandon(&cut->output);
        return KYMO_FAILURE;
    }
    status = cut_events_take(cut, kev, &damaged);
    if (damaged) {
        output_abandon(&cut->output);
        return KYMO_FAILURE;
    }
    if (output_commit(&cut->output) != 0) {
        return KYMO_FAILURE;
    }
    cut_print_report(cut);
    return status;
}

/* A capture that a reader refuses without --recover is not cut. */
static bool header_is_sound(const struct kev *kev)
{
    const char *name = kev_attr(kev, "SYSNAME");
    uint32_t len;

    return kev_page(kev, &len) != NULL && name != NULL && strcasecmp(name, "kymo") == 0 &&
           kev_attr(kev, "VER_MINOR") != NULL;
}

static int cut_capture(struct cut *cut, struct kev *kev)
{
    const struct kev_info *info = kev_info(kev);
    int status;

    if (!info->kymo || !header_is_sound(kev)) {
        kymo_error(info->kymo ? "%s: its header or system page is damaged: it can't be cut"
                              : "%s: a capture of another kernel: kymo cut handles only Kymo's",
                   info->path);
        return KYMO_FAILURE;
    }
    cut->owners = owners_new(kev);
    cut->maps = cut_maps_new();
    if (cut->owners == NULL || cut->maps == NULL) {
        kymo_error("out of memory");
        owners_free(cut->owners);
        cut_maps_free(cut->maps);
        return KYMO_FAILURE;
    }
    status = kymo_select_bind(&cut->select, "cut", kev);
    status = status == KYMO_OK ? names_learn(cut, kev) : status;
    kymo_progress_end();
    status = status == KYMO_OK ? cut_write(cut, kev) : status;
    cut_free(&cut->file);
    owners_free(cut->owners);
    cut_maps_free(cut->maps);
    return status;
}

static int cut_open(struct cut *cut)
{
    struct kev_options options = {.recover = cut->recover,
                                  .numbers = true,
                                  .progress = kymo_progress,
                                  .progress_arg = (void *)"reading"};
    struct kev_error error;
    struct kev *kev = kev_open(cut->input, &options, &error);
    int status;

    kymo_progress_end();
    if (kev == NULL) {
        return verify_refuse(&error);
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
    status = cut_options_parse(cut, argc, argv);
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
