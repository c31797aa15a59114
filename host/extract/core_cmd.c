/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo extract --core: finds, reports and writes. See core.h, docs/guide/recovery.md. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/extract/core.h"
#include "host/extract/core_page.h"
#include "host/escape.h"
#include "host/kymo.h"
#include "host/output.h"
#include "abi/syspage.h"
#include "lib/panic/text.h"

struct run {
    const struct core_options *options;
    struct core core;
    struct core_search search;
    struct core_window *window; /* the one that is at hand */
    size_t count, number;       /* windows in the image; this one, from 1 */
};

/* Why there is nothing, and what to do about it. */
static int core_cmd_report_none(const struct run *run)
{
    const struct core_search *search = &run->search;
    const char *path = run->core.path;

    if (search->elsewhere) {
        kymo_error("%s: at byte 0x%" PRIx64 ": retained memory, but it was at 0x%" PRIx64
                   " in the machine and would not be there here: --base 0x%" PRIx64,
                   path, search->elsewhere_offset, search->elsewhere_physical,
                   search->elsewhere_physical - search->elsewhere_offset);
    } else if (search->version) {
        kymo_error("%s: at byte 0x%" PRIx64 ": retained memory of layout version %u, this kymo "
                   "knows %u and %u: take the kymo that was built with that kernel",
                   path, search->version_offset, (unsigned)search->version_found, KYMO_RETAIN_V3,
                   KYMO_RETAIN_VERSION);
    } else if (search->damaged) {
        kymo_error("%s: at byte 0x%" PRIx64 ": retained memory, but its header is damaged or cut "
                   "off: dump again, the whole window, with the machine stopped",
                   path, search->damaged_offset);
    } else {
        kymo_error("%s: no retained memory in its %" PRIu64 " bytes: dump the board's window of "
                   "it (boards/BOARD/README.md says where), before it has lost its power",
                   path, search->bytes);
    }
    return KYMO_FAILURE;
}

static const struct retain *this_one(const struct run *run)
{
    return &run->window->retain;
}

static void print_panic(const struct retain *retain)
{
    char key[PANIC_KEY], value[PANIC_VALUE];

    if (retain->panic_damaged) {
        printf("  PANIC %s\n", PANIC_DAMAGED);
    } else if (!retain->panicked) {
        printf("  PANIC %s: it was reset or switched off without one\n", PANIC_NONE);
    }
    for (unsigned n = 0; retain->panicked && panic_text(&retain->panic, n, key, value); n++) {
        printf("  %s %s\n", key, value);
    }
}

/* Damaged is not absent: what is not as a boot leaves it was something. Returns the status. */
static int report_damage(const struct run *run)
{
    const struct retain *retain = this_one(run);
    const char *path = run->core.path;
    char reason[ESCAPE_MOST(sizeof(retain->panic.reason)) + 1];

    if (retain->panic_damaged) {
        size_t n = escape_whole(retain->panic.reason, strlen(retain->panic.reason), reason);

        kymo_error("%s: at byte 0x%" PRIx64 ": the panic's record is damaged, or was cut off by a "
                   "reset; its reason reads \"%.*s\"",
                   path, run->window->offset + retain->header.areas.panic.at, (int)n, reason);
    }
    if (retain->frozen_damaged) {
        kymo_error("%s: at byte 0x%" PRIx64 ": the next boot's copy of the cursors and of the "
                   "counts of lost events is damaged: INCOMPLETE: events that were lost before "
                   "are not counted",
                   path, run->window->offset + retain->header.areas.frozen.at);
    }
    return retain->panic_damaged || retain->frozen_damaged ? KYMO_FAILURE : KYMO_OK;
}

static int core_cmd_list_headers(const struct run *run)
{
    const struct kymo_retain_header *header = &this_one(run)->header;

    printf("%zu: at byte 0x%" PRIx64 ", in memory 0x%" PRIx64 ": boot %u, %u CPUs, %u buffers\n",
           run->number, run->window->offset, header->physical, (unsigned)header->boots,
           (unsigned)header->ring.ncpu, (unsigned)(header->ring.ncpu * header->ring.per_cpu));
    print_panic(this_one(run));
    return report_damage(run);
}

/* Accounts for programs whose buffers are themselves retained. */
static void account_for_d(const struct retain *retain, const char *path)
{
    const struct retain_losses *losses = &retain->losses;

    if (losses->programs) {
        kymo_error("%s: %u of D's programs can't be read: their index is damaged", path,
                   (unsigned)losses->programs);
    }
    if (losses->records || losses->keys) {
        kymo_error("%s: of D's programs at least %u records and %u keys are damaged", path,
                   (unsigned)losses->records, (unsigned)losses->keys);
    }
    if (losses->notes) {
        kymo_error("%s: %u of D's programs have no description", path, (unsigned)losses->notes);
    }
}

/* Writes the available data to the file and reports the missing. */
static int core_cmd_report_output(const struct run *run, const struct core_output *output)
{
    const struct retain *retain = this_one(run);
    const struct retain_losses *losses = &retain->losses;

    if (strcmp(output->path, "-") != 0) {
        printf("%s: %" PRIu64 " bytes, %u buffers, %" PRIu64 " slots; boot %u\n", output->path,
               output->bytes, (unsigned)retain->buffers, output->slots,
               (unsigned)retain->header.boots);
        if (retain->programs) {
            printf("  of %u of D's programs %u records and %u keys, in their own buffers\n",
                   (unsigned)retain->programs, (unsigned)retain->records, (unsigned)retain->keys);
        }
        print_panic(retain);
    }
    if (run->window->memory.bytes < retain->header.window) {
        kymo_error("%s: the image ends inside of the retained memory: %" PRIu64 " of its %" PRIu64
                   " bytes are there",
                   run->core.path, run->window->memory.bytes, retain->header.window);
    }
    if (losses->events) {
        kymo_error("%s: %" PRIu64 " events are lost", output->path, losses->events);
    }
    if (losses->buffers) {
        kymo_error("%s: INCOMPLETE: %u buffers are damaged; the contents of %u of them are "
                   "unknown",
                   output->path, (unsigned)losses->buffers, (unsigned)losses->unknown);
    }
    if (losses->names) {
        kymo_error("%s: %u names of processes or threads are missing: damaged, or without room",
                   output->path, (unsigned)losses->names);
    }
    account_for_d(retain, output->path);
    return report_damage(run) != KYMO_OK || losses->buffers ? KYMO_FAILURE : KYMO_OK;
}

/* crash.kev, or crash-<number>.kev; NULL: no memory. */
static char *core_cmd_output_path(const struct run *run)
{
    const char *folder = run->options->folder, *slash = folder ? "/" : "";
    char *path = NULL, number[24] = "";

    if (run->options->output) {
        return strdup(run->options->output);
    }
    if (run->count > 1) {
        snprintf(number, sizeof(number), "-%zu", run->number);
    }
    return asprintf(&path, "%s%scrash%s.kev", folder ? folder : "", slash, number) < 0 ? NULL
                                                                                       : path;
}

static void no_page(const struct run *run)
{
    const struct kymo_retain_area *page = &this_one(run)->header.areas.page;

    kymo_error("%s: at byte 0x%" PRIx64 ": %s: give a capture of the same kernel: --page CAPTURE",
               run->core.path, run->window->offset + page->at,
               page->bytes ? "the copy of the system page is damaged"
                           : "the window is too small for a copy of the system page");
}

static int write_one(const struct run *run)
{
    const struct retain *retain = this_one(run);
    uint8_t *page = NULL;
    struct core_output output = {
        .path = core_cmd_output_path(run), .core = run->core.path, .force = run->options->force};
    int status = KYMO_FAILURE;

    if (!output.path) {
        kymo_error("%s", strerror(ENOMEM));
        return KYMO_FAILURE;
    }
    if (core_page_good(run->window) || core_page(run->options->page, &retain->header, &page) == 0) {
        output.page = page;
        if (core_write(run->window, &output) == 0) {
            status = core_cmd_report_output(run, &output);
        }
    } else if (!run->options->page) {
        no_page(run);
    }
    free(page);
    free((void *)(uintptr_t)output.path);
    return status;
}

static int core_cmd_extract_each(struct run *run)
{
    int status = KYMO_OK;

    run->search = (struct core_search){0};
    for (run->number = 1; core_find(&run->core, &run->search, run->window); run->number++) {
        if ((run->options->list ? core_cmd_list_headers(run) : write_one(run)) != KYMO_OK) {
            status = KYMO_FAILURE;
        }
    }
    if (run->search.damaged) {
        kymo_error("%s: at byte 0x%" PRIx64 ": retained memory, too, but its header is damaged or "
                   "cut off",
                   run->core.path, run->search.damaged_offset);
        status = KYMO_FAILURE;
    }
    if (run->search.crowded) {
        kymo_error("%s: INCOMPLETE: so much retained memory overlaps in it that the rest was not "
                   "looked through: dump one machine's window of it alone",
                   run->core.path);
        status = KYMO_FAILURE;
    }
    return status;
}

static int run_on(struct run *run)
{
    while (core_find(&run->core, &run->search, run->window)) {
        run->count++;
    }
    if (run->count == 0) {
        return core_cmd_report_none(run);
    }
    if (run->options->output && run->count > 1) {
        return kymo_usage("extract", "%s: retained memory of %zu machines is there: -d, not -o",
                          run->core.path, run->count);
    }
    return core_cmd_extract_each(run);
}

static bool base_parse(const char *text, uint64_t *base)
{
    char *end;

    errno = 0;
    *base = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

int core_command(const struct core_options *options)
{
    struct run run = {.options = options};
    uint64_t base = 0;

    if (options->base && !base_parse(options->base, &base)) {
        return kymo_usage("extract", "extract: --base %s: not an address", options->base);
    }
    run.window = malloc(sizeof(*run.window));
    if (!run.window) {
        kymo_error("%s", strerror(ENOMEM));
        return KYMO_FAILURE;
    }
    int status = KYMO_FAILURE;
    output_reads(options->core);
    if (options->page) {
        output_reads(options->page);
    }
    if (core_open(&run.core, options->core, options->base ? &base : NULL) == 0) {
        status = run_on(&run);
        status = core_is_shorter(&run.core) ? KYMO_FAILURE : status;
        core_close(&run.core);
    }
    free(run.window);
    return kymo_stdout_end(status);
}
