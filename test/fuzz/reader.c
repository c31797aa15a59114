/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer's target for the reader of captures: any bytes are opened, strictly and with recover,
 * every event is printed and accounted for, to nowhere, and given by the library. Nothing but a
 * crash, a sanitizer's report, a hang or a leak is wrong. Built by test/fuzz/build-reader, run by
 * test/fuzz/check (make check) and test/fuzz/run (make fuzz).
 */
#define _GNU_SOURCE 1

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/kev/capture.h"
#include "host/print/line.h"
#include "host/print/row.h"
#include "host/stat/stat.h"

static void print_and_account(struct kev *kev)
{
    static struct out out;
    struct stat *stat = stat_new(kev);
    const struct stat_style style = {.all = true};
    struct line_style line = {.one_line = false};
    struct format format;
    const char *bad;
    FILE *nowhere = fopen("/dev/null", "w");
    struct kev_event event;
    struct kev_error error;
    struct owners *owners = owners_new(kev);

    if (stat == NULL || nowhere == NULL || owners == NULL) {
        abort();
    }
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        owners_learn(owners, &event);
    }
    owners_begin(owners);
    kev_rewind(kev);
    line.first = kev_info(kev)->start;
    out.fd = fileno(nowhere);
    format_parse(&format, FORMAT_DEFAULT " %t %e", &bad);
    line_header(&out, kev, true);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        line.owner = owners_follow(owners, &event);
        line.owners = owners;
        json_event(&out, kev, &event, &line);
        csv_event(&out, kev, &event, &line);
        line.owners = line.one_line ? owners : NULL;
        line.time = (enum line_time)(event.time % 3);
        line_event(&out, kev, &event, &line);
        line.one_line = !line.one_line;
        line.format = line.format == NULL && !line.one_line ? &format : NULL;
        stat_event(stat, &event);
    }
    out_flush(&out);
    stat_finish(stat);
    text_show(nowhere, stat, &style);
    json_show(nowhere, stat);
    fclose(nowhere);
    stat_free(stat);
    free(stat);
    owners_free(owners);
}

/* What host/kev/quiet.c has where host/diag.c is not linked. */
const char *quiet_said(void)
{
    return "";
}

/* The library, on the same bytes: all items and values, twice, the second time from a time on. */
static void library(const uint8_t *bytes, size_t len, int recover)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int64_t middle = 0;

    if (capture == NULL) {
        abort();
    }
    kev_capture_set_recover(capture, recover);
    if (kev_capture_open_memory(capture, bytes, len, "memory") == KEV_COMPLETE) {
        kev_capture_learn(capture);
    }
    for (int pass = 0; pass < 2; pass++) {
        while (kev_capture_next(capture, &item) == KEV_GIVEN) {
            const uint32_t *words;

            middle = item->ns / 2;
            kev_capture_words(capture, &words);
            for (unsigned i = kev_capture_values(capture); i > 0; i--) {
                kev_capture_value_of(capture, kev_capture_value(capture, i - 1)->name);
            }
            if ((item->kind == KEV_ITEM_EVENT) != (item->loss == NULL)) {
                abort();
            }
        }
        kev_capture_seek(capture, middle);
    }
    kev_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char path[32];
    int fd = memfd_create("capture", 0);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len) {
        abort();
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (int recover = 0; recover < 2; recover++) {
        struct kev_options options = {.recover = recover};
        struct kev_error error;
        struct kev *kev = kev_open(path, &options, &error);

        if (kev != NULL) {
            print_and_account(kev);
            kev_close(kev);
        }
        library(bytes, len, recover);
    }
    close(fd);
    return 0;
}
