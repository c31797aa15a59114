/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves an earlier boot's data in retained memory as a capture: that boot's system page, the reason
 * of its end, its buffers in order as after a ring's stop, its losses. lib/retain finds and judges
 * them; the kernel supplies the bytes (TraceEvent(KYMO_TRACE_READRETAINED)), which do not change
 * until KYMO_TRACE_DROPRETAINED. Two passes: the header reports the losses in the following slots.
 */
#include "tracelogger/recover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/kymo.h"
#include "lib/include/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/syspage.h"
#include "lib/capture/attributes.h"
#include "lib/panic/text.h"
#include "lib/retain/retain.h"
#include "lib/retain/sum.h"
#include "tracelogger/header.h"
#include "lib/capture/protocol.h"
#include "tracelogger/sink.h"

static struct kymo_retained recover_retained_info;
static struct retain *recover_retained; /* larger than a small heap: mapped */
static struct retain_losses recover_retained_losses;

static int recover_print_trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return 1;
}

static int read_window(void *arg, uint32_t offset, void *to, uint32_t bytes)
{
    (void)arg;
    for (uint32_t done = 0; done < bytes;) {
        uint32_t left = bytes - done;
        uint32_t n = left < KYMO_TRACE_READ_MOST ? left : KYMO_TRACE_READ_MOST;

        if (TraceEvent(KYMO_TRACE_READRETAINED, offset + done, (char *)to + done, n) < 0) {
            return -1;
        }
        done += n;
    }
    return 0;
}

/* That boot's page, because another build's events may be unknown here. */
static long read_page(uint32_t offset, void *to, uint32_t bytes)
{
    uint32_t size = recover_retained->header.page_bytes;
    uint32_t n = offset >= size ? 0 : size - offset < bytes ? size - offset : bytes;

    return read_window(NULL, recover_retained->header.areas.page.at + offset, to, n) == 0 ? (long)n
                                                                                          : -1;
}

/* Returns whether this boot's page equals that boot's. A small window has only a checksum of it. */
static bool same_page(void)
{
    const struct kymo_retain_header *header = &recover_retained->header;
    uint8_t piece[128];
    uint32_t crc = 0;

    for (uint32_t done = 0; done < header->page_bytes;) {
        long n = SyspageRead(done, piece, sizeof(piece));

        if (n <= 0) {
            return false;
        }
        crc = retain_crc_more(crc, piece, (uint32_t)n);
        done += (uint32_t)n;
        if (done > header->page_bytes) {
            return false;
        }
    }
    return header->page_bytes != 0 && crc == header->page_crc;
}

/* Returns the capture's number of CPUs: from the page found, or this system's if that is
 * damaged. */
static uint32_t page_cpus(void)
{
    struct kymo_syspage page = {0};

    if (recover_retained->page_good) {
        read_page(0, &page, sizeof(page));
    } else {
        SyspageRead(0, &page, sizeof(page));
    }
    return page.ncpu < CAPTURE_CHECK_CPUS ? page.ncpu : CAPTURE_CHECK_CPUS;
}

static unsigned taken_rows(void)
{
    char key[RETAIN_TAKEN_KEY], value[RETAIN_TAKEN_VALUE];
    unsigned n = 0;

    while (retain_taken_text(recover_retained, n, key, value)) {
        n++;
    }
    return n;
}

static void tell_taken(void)
{
    char key[RETAIN_TAKEN_KEY], value[RETAIN_TAKEN_VALUE];

    for (unsigned n = 0; retain_taken_text(recover_retained, n, key, value); n++) {
        printf("tracelogger: %s: the logger had taken them already\n", value);
    }
}

/* Attributes found only in a capture of an earlier boot; then the reason of its end. */
static bool recover_put_rows(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE])
{
    if (n == 0) {
        snprintf(key, PANIC_KEY, "RETAINED");
        snprintf(value, PANIC_VALUE, "boot %u, saved by boot %u",
                 (unsigned)recover_retained_info.found, (unsigned)recover_retained_info.boots);
        return true;
    }
    if (n == 1) {
        snprintf(key, PANIC_KEY, "RETAINED_LOST");
        snprintf(value, PANIC_VALUE, "%u buffers, %u of them with unknown events",
                 (unsigned)recover_retained_losses.buffers,
                 (unsigned)recover_retained_losses.unknown);
        return true;
    }
    if (n == 2) {
        snprintf(key, PANIC_KEY, "FILTER_1");
        snprintf(value, PANIC_VALUE, "%s", CAPTURE_FILTERS_UNKNOWN);
        return true;
    }
    n -= 3;
    if (n < taken_rows()) {
        return retain_taken_text(recover_retained, n, key, value);
    }
    n -= taken_rows();
    if (!recover_retained->panicked) {
        snprintf(key, PANIC_KEY, "PANIC");
        snprintf(value, PANIC_VALUE, "%s",
                 recover_retained->panic_damaged ? PANIC_DAMAGED : PANIC_NONE);
        return n == 0;
    }
    return panic_text(&recover_retained->panic, n, key, value);
}

static int recover_put_slots(void *to, const void *slots, size_t bytes)
{
    (void)to;
    return sink_slots(slots, bytes / TRACE_SLOT_BYTES);
}

static int recover_write_piece(const struct retain_piece *piece)
{
    struct sink_buffer buffer = {.slots = piece->slots, .count = piece->count, .cpu = piece->cpu};

    if (TRACE_GET_EVENT(piece->slots[0].header) != TRACE_CONTROL_BUFFER) {
        capture_check_add(&sink_check, piece->slots, piece->count);
        return sink_slots(piece->slots, piece->count) == 0
                   ? capture_losses_close(&sink_check, piece->cpu, recover_put_slots, NULL)
                   : -1;
    }
    sink_buffers(&buffer, 1);
    return buffer.result;
}

static int write_pieces(uint64_t *slots)
{
    struct retain_piece piece;

    while (retain_next(recover_retained, &piece)) {
        if (recover_write_piece(&piece) != 0) {
            return -1;
        }
        *slots += piece.count;
    }
    for (uint32_t cpu = 0; cpu < page_cpus(); cpu++) {
        if (capture_losses_end(&sink_check, cpu, NULL, recover_put_slots, NULL) != 0) {
            return -1;
        }
    }
    return 0;
}

/* First pass, to count the losses; returns the number of slots. *groups: pieces of them. */
static uint64_t recover_count_slots(uint64_t *groups)
{
    struct retain_piece piece;
    uint64_t slots = 0;

    for (*groups = 0; retain_next(recover_retained, &piece); ++*groups) {
        slots += piece.count;
    }
    recover_retained_losses = recover_retained->losses;
    return slots;
}

/* Checks -S, after the header: all or nothing, because unsaved data stays retained. */
static int recover_check_room(const struct options *options, uint64_t slots, uint64_t groups)
{
    uint64_t ends = groups * CAPTURE_TRAILER_SLOTS + page_cpus() * CAPTURE_END_SLOTS;
    uint64_t least = sink_bytes() + (slots + ends) * TRACE_SLOT_BYTES;

    if (options->size == 0 || options->size >= least) {
        return 0;
    }
    printf("tracelogger: -S %llu is too small for the header and all that is retained: give at "
           "least %llu\n",
           (unsigned long long)options->size, (unsigned long long)least);
    return -1;
}

/* The data was not saved: it is not freed, so it can be saved again. */
static int recover_report_stays(const struct options *options, uint64_t slots, uint64_t all)
{
    printf("tracelogger: %s is INCOMPLETE: %llu of %llu slots; all of it stays retained: "
           "repeat --recover with a destination that has room for it\n",
           options->file, (unsigned long long)slots, (unsigned long long)all);
    return 1;
}

/* Reports programs whose buffers are themselves retained. */
static void tell_of_d(void)
{
    if (recover_retained->programs) {
        printf("tracelogger: %u D programs had %u records and %u keys in their own buffers\n",
               (unsigned)recover_retained->programs, (unsigned)recover_retained->records,
               (unsigned)recover_retained->keys);
    }
    if (recover_retained_losses.programs) {
        printf(
            "tracelogger: the buffers of %u D programs can't be read: their directory is damaged\n",
            (unsigned)recover_retained_losses.programs);
    }
    if (recover_retained_losses.records || recover_retained_losses.keys) {
        printf("tracelogger: at least %u records and %u keys of D programs are damaged\n",
               (unsigned)recover_retained_losses.records, (unsigned)recover_retained_losses.keys);
    }
    if (recover_retained_losses.notes) {
        printf("tracelogger: D programs whose description is missing: %u\n",
               (unsigned)recover_retained_losses.notes);
    }
}

static int recover_save_retained(const struct options *options)
{
    const struct header_source source = {recover_retained->page_good ? read_page : NULL,
                                         recover_put_rows};
    uint64_t slots = 0, groups, all = recover_count_slots(&groups);

    retain_rewind(recover_retained);
    if (!recover_retained->page_good && !same_page()) {
        printf("tracelogger: the system page of that boot is %s: the capture has that of this "
               "boot\n",
               recover_retained->header.areas.page.bytes ? "damaged" : "another one");
    }
    if (sink_wait(options->file) != 0 || sink_open(options->file) != 0) {
        return recover_report_stays(options, slots, all);
    }
    if (header_write_from(options, &source) != 0 || recover_check_room(options, all, groups) != 0 ||
        write_pieces(&slots) != 0) {
        sink_abandon(slots == 0);
        return recover_report_stays(options, slots, all);
    }
    if (sink_close() != 0) {
        return recover_report_stays(options, slots, all);
    }
    printf("tracelogger: boot %u ended with: %s; %u buffers with %llu slots in %s\n",
           (unsigned)recover_retained_info.found,
           recover_retained->panicked        ? recover_retained->panic.reason
           : recover_retained->panic_damaged ? PANIC_DAMAGED_REASON
                                             : "a reset without a panic",
           (unsigned)recover_retained->buffers, (unsigned long long)slots, options->file);
    tell_taken();
    if (recover_retained->frozen_damaged) {
        printf("tracelogger: the copy of that boot's counts of lost events is damaged: events that "
               "were lost before are not counted\n");
    }
    if (recover_retained_losses.buffers) {
        printf("tracelogger: %u buffers are damaged; the number of events lost in %u of them is "
               "unknown\n",
               (unsigned)recover_retained_losses.buffers,
               (unsigned)recover_retained_losses.unknown);
    }
    if (recover_retained_losses.names) {
        printf("tracelogger: %u names of processes or threads are missing: damaged, or without "
               "room\n",
               (unsigned)recover_retained_losses.names);
    }
    tell_of_d();
    return 0;
}

static int map_and_save(const struct options *options)
{
    struct kymo_map map = {.len = sizeof(*recover_retained),
                           .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (MemMap(&map) < 0) {
        return recover_print_trouble("no memory for the retained recording");
    }
    recover_retained = (struct retain *)(uintptr_t)map.vaddr;
    if (retain_open(recover_retained, read_window, NULL) != 0) {
        printf("tracelogger: the retained memory can't be read: --discard frees it\n");
        return 1;
    }
    return recover_save_retained(options);
}

/* Only one process at a time: data that is being saved must not be freed by another. The name ends
 * with the process. */
static int recover_take_name(void)
{
    if (kymo_name_attach(RECOVER_LOCK, KYMO_NAME_FLAGS)) {
        return 0;
    }
    if (errno != EEXIST) {
        return recover_print_trouble(RECOVER_LOCK);
    }
    printf(
        "tracelogger: another process is saving or discarding the retained memory: wait for it\n");
    return 1;
}

int recover_work(const struct options *options)
{
    if (recover_take_name() != 0) {
        return 1;
    }
    if (TraceEvent(KYMO_TRACE_QUERYRETAINED, &recover_retained_info) < 0) {
        return recover_print_trouble("the retained memory can't be read");
    }
    if (recover_retained_info.found == 0) {
        printf("tracelogger: no earlier boot has left a recording\n");
        return 0;
    }
    if (options->recover && map_and_save(options) != 0) {
        return 1;
    }
    return TraceEvent(KYMO_TRACE_DROPRETAINED) < 0
               ? recover_print_trouble("the retained memory can't be freed")
               : 0;
}
