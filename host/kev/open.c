/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture's settings, opening and closing.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kev/capture.h"

#define STRING(x) #x
#define VERSION_TEXT(major, minor) STRING(major) "." STRING(minor)
#define WHO "kev_capture_select()" /* the beginning of a message about a selection */

static const struct option select_options[] = {SELECT_OPTIONS, {NULL, 0, NULL, 0}};

const char *kev_version(void)
{
    return VERSION_TEXT(KEV_VERSION_MAJOR, KEV_VERSION_MINOR);
}

struct kev_capture *kev_capture_new(void)
{
    struct kev_capture *capture = calloc(1, sizeof(*capture));

    if (capture == NULL) {
        return NULL;
    }
    kymo_select_init(&capture->select);
    capture->fault.offset = -1;
    capture->fault.text = "no fault";
    capture->owners = NULL;
    return capture;
}

void kev_capture_free(struct kev_capture *capture)
{
    if (capture == NULL) {
        return;
    }
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        free(capture->cpus[i].spans);
    }
    for (unsigned i = 0; i < capture->nselected; i++) {
        free(capture->selected[i]);
    }
    free(capture->selection);
    log_programs_free(&capture->log);
    free(capture->log_list);
    lives_free(capture->lives);
    owners_free(capture->owners);
    kev_close(capture->kev);
    free(capture->values);
    free(capture->texts);
    free(capture->words);
    free(capture);
}

static int kev_open_report_memory(struct kev_capture *capture)
{
    return capture_fault(capture, KEV_FAULT_SYSTEM, NULL, "%s: out of memory",
                         capture->facts.path == NULL ? "libkev" : capture->facts.path);
}

/* ---- before opening ---------------------------------------------------------------- */

static int not_new(struct kev_capture *capture, const char *function)
{
    return capture_fault(capture, KEV_FAULT_USE, "make a new capture for it",
                         "%s(): the capture is open already", function);
}

int kev_capture_set_recover(struct kev_capture *capture, int on)
{
    if (capture->stage != CAPTURE_NEW) {
        return not_new(capture, __func__);
    }
    capture->options.recover = on != 0;
    return KEV_COMPLETE;
}

/* Appends "--pid 3" to the text of the selection. */
static bool selection_add(struct kev_capture *capture, const char *option, const char *value)
{
    size_t used = capture->selection == NULL ? 0 : strlen(capture->selection);
    size_t more = strlen(option) + strlen(value) + 5;
    char *text = realloc(capture->selection, used + more);

    if (text == NULL) {
        return false;
    }
    snprintf(text + used, more, "%s--%s %s", used == 0 ? "" : " ", option, value);
    capture->selection = text;
    return true;
}

int kev_capture_select(struct kev_capture *capture, const char *option, const char *value)
{
    const struct option *found = select_options;
    char *copy;

    if (capture->stage != CAPTURE_NEW) {
        return not_new(capture, __func__);
    }
    while (found->name != NULL && strcmp(found->name, option) != 0) {
        found++;
    }
    if (found->name == NULL) {
        return capture_fault(capture, KEV_FAULT_USE,
                             "from, to, cpu, class, event, pid, tid and name are known",
                             WHO ": there is no option %s", option);
    }
    if (capture->nselected == CAPTURE_SELECTS) {
        return capture_fault(capture, KEV_FAULT_USE, NULL, WHO ": at most %d options",
                             CAPTURE_SELECTS);
    }
    copy = strdup(value);
    if (copy == NULL || !selection_add(capture, option, value)) {
        free(copy);
        return kev_open_report_memory(capture);
    }
    capture->selected[capture->nselected++] = copy;
    if (kymo_select_option(&capture->select, WHO, found->val, copy) != KYMO_OK) {
        return capture_fault(capture, KEV_FAULT_USE, NULL, "%s", quiet_said());
    }
    return KEV_COMPLETE;
}

/* A program of log events has no ELF file here. */
static void log_missing_note(void *arg, const struct log_missing *missing)
{
    struct kev_capture *capture = arg;

    if (capture->nlog_missing < CAPTURE_PROGRAMS) {
        memcpy(capture->log_missing[capture->nlog_missing++], missing->id, sizeof(missing->id));
    }
}

int kev_capture_set_log_text(struct kev_capture *capture, const char *paths)
{
    char *list;

    if (capture->stage != CAPTURE_NEW) {
        return not_new(capture, __func__);
    }
    list = strdup(paths == NULL ? "" : paths);
    if (list == NULL) {
        return kev_open_report_memory(capture);
    }
    free(capture->log_list);
    capture->log_list = list;
    capture->log.list = list;
    capture->log.missing = log_missing_note;
    capture->log.arg = capture;
    capture->options.log_text = log_programs_text;
    capture->options.log_arg = &capture->log;
    return KEV_COMPLETE;
}

const char *kev_capture_log_missing(const struct kev_capture *capture, unsigned index)
{
    return index < capture->nlog_missing ? capture->log_missing[index] : NULL;
}

/* ---- opening ----------------------------------------------------------------------- */

static void facts_fill(struct kev_capture *capture)
{
    const struct kev_info *info = kev_info(capture->kev);
    struct kev_facts *facts = &capture->facts;
    unsigned most = sizeof(capture->build_id) / 2;

    for (unsigned i = 0; i < info->build_id_len && i < most; i++) {
        snprintf(capture->build_id + 2 * i, 3, "%02x", info->build_id[i]);
    }
    facts->path = info->path;
    facts->board = info->board;
    facts->processor = info->cpu_name;
    facts->release = info->release;
    facts->image = info->image;
    facts->build_id = capture->build_id;
    facts->cpus = info->ncpu;
    facts->word_bits = info->word_bits;
    facts->cycles_per_second = info->cycles_per_sec;
    facts->clock_known = info->clock_known;
    facts->is_kymo = info->kymo;
    facts->skew_cycles = info->skew_cycles;
    facts->start = info->start;
    facts->bytes = info->size;
    facts->buffers = info->buffers;
    facts->is_swapped = info->swapped;
    facts->is_whole = kev_is_whole(capture->kev);
}

/* Which classes the selection has any event of. */
static void wanted_find(struct kev_capture *capture)
{
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        const uint8_t *bits = capture->select.wanted[class];

        for (unsigned i = 0; i < sizeof(capture->select.wanted[class]); i++) {
            capture->wanted |= bits[i] != 0 ? 1u << class : 0;
        }
    }
}

static int kev_open_report_opened(struct kev_capture *capture, const char *name)
{
    struct kev_error error;

    capture->stage = CAPTURE_BROKEN;
    capture->kev = kev_open(name, &capture->options, &error);
    if (capture->kev == NULL) {
        return capture_fault_of(capture, &error);
    }
    facts_fill(capture);
    capture->owners = owners_new(capture->kev);
    if (capture->owners == NULL || !loss_cover(capture)) {
        return kev_open_report_memory(capture);
    }
    if (kymo_select_bind(&capture->select, WHO, capture->kev) != KYMO_OK) {
        return capture_fault(capture, KEV_FAULT_USE, NULL, "%s", quiet_said());
    }
    wanted_find(capture);
    scope_find(capture);
    capture->stage = CAPTURE_SCOPE;
    return KEV_COMPLETE;
}

int kev_capture_open(struct kev_capture *capture, const char *path)
{
    return capture->stage == CAPTURE_NEW ? kev_open_report_opened(capture, path)
                                         : not_new(capture, __func__);
}

int kev_capture_open_descriptor(struct kev_capture *capture, int descriptor, const char *name)
{
    if (capture->stage != CAPTURE_NEW) {
        return not_new(capture, __func__);
    }
    capture->options.by_descriptor = true;
    capture->options.descriptor = descriptor;
    return kev_open_report_opened(capture, name);
}

int kev_capture_open_memory(struct kev_capture *capture, const void *bytes, size_t length,
                            const char *name)
{
    if (capture->stage != CAPTURE_NEW) {
        return not_new(capture, __func__);
    }
    capture->options.memory = bytes == NULL ? "" : bytes;
    capture->options.memory_bytes = bytes == NULL ? 0 : length;
    return kev_open_report_opened(capture, name);
}

/* ---- names and lives ahead --------------------------------------------------------- */

int kev_capture_learn(struct kev_capture *capture)
{
    struct kev_event event;
    struct kev_error error = {0};
    uint64_t n = 0;
    bool good = true;

    if (capture->stage != CAPTURE_SCOPE || capture->scope != 0 || capture->lives != NULL) {
        return capture_fault(capture, KEV_FAULT_USE, "call it once, before the first item",
                             "%s(): not now", __func__);
    }
    capture->lives = lives_new();
    if (capture->lives == NULL) {
        return kev_open_report_memory(capture);
    }
    while (good && kev_next(capture->kev, &event, &error) == KEV_EVENT) {
        owners_learn(capture->owners, &event);
        kymo_select_learn(&capture->select, &event);
        good = lives_take(capture->lives, &event, capture_ns(capture, event.time));
        if (++n % KEV_PROGRESS_EVENTS == 0 && kev_progress != NULL) {
            kev_progress((void *)"looking for names", event.offset, kev_info(capture->kev)->size);
        }
    }
    owners_begin(capture->owners);
    kev_rewind(capture->kev);
    if (!good || error.no_memory || owners_lack_memory(capture->owners)) {
        return kev_open_report_memory(capture);
    }
    if (kymo_select_check_names(&capture->select, capture->kev) != KYMO_OK) {
        return capture_fault(capture, KEV_FAULT_USE, NULL, "%s", quiet_said());
    }
    switch (lives_finish(capture->lives)) {
    case KEV_COMPLETE:
        return KEV_COMPLETE;
    case KEV_LOSSY:
        return KEV_LOSSY;
    default:
        return kev_open_report_memory(capture);
    }
}
