/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture that a window of retained memory makes: attributes, with the panic's, the system
 * page, the buffers. As the tracelogger of the next boot would have saved it. See core.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/extract/core.h"
#include "host/output.h"
#include "abi/syspage.h"
#include "lib/capture/attribute.h"
#include "lib/capture/check.h"
#include "lib/capture/losses.h"
#include "lib/panic/text.h"

static struct capture_check core_write_checked;
static uint64_t core_write_bytes_written; /* bytes; a pipe can't say where it is */

static int core_write_put_slots(void *file, const void *slots, size_t bytes)
{
    core_write_bytes_written += bytes;
    return fwrite(slots, 1, bytes, file) == bytes ? 0 : -1;
}

/* A part of the head. */
static void core_write_put_bytes(FILE *file, const void *data, size_t bytes)
{
    capture_check_head(&core_write_checked, data, bytes);
    core_write_put_slots(file, data, bytes);
}

static void core_write_put_attribute(FILE *file, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void core_write_put_attribute(FILE *file, const char *key, const char *format, ...)
{
    char text[CAPTURE_ATTRIBUTE_ROOM];
    va_list list;

    va_start(list, format);
    int bytes = capture_attribute(text, key, format, list);
    va_end(list);
    core_write_put_bytes(file, text, (size_t)bytes);
}

static void panic_attributes(FILE *out, const struct retain *retain)
{
    char key[PANIC_KEY], value[PANIC_VALUE];

    core_write_put_attribute(out, "RETAINED", "boot %u", (unsigned)retain->header.boots);
    core_write_put_attribute(out, "FILTER_1", CAPTURE_FILTERS_UNKNOWN);
    for (unsigned n = 0; retain_taken_text(retain, n, key, value); n++) {
        core_write_put_attribute(out, key, "%s", value);
    }
    for (unsigned n = 0; retain->panicked && panic_text(&retain->panic, n, key, value); n++) {
        core_write_put_attribute(out, key, "%s", value);
    }
    if (!retain->panicked) {
        core_write_put_attribute(out, "PANIC", "%s",
                                 retain->panic_damaged ? PANIC_DAMAGED : PANIC_NONE);
    }
}

static void core_write_put_attributes(FILE *out, const struct retain *retain,
                                      const struct kymo_syspage *page, const char *build_id,
                                      const struct core_output *output)
{
    const char *file = output->path;
    char now[32], boot[32], args[CAPTURE_VALUE_MOST + 1];

    snprintf(args, sizeof(args), "kymo extract --core %s", output->core);
    capture_date((uint64_t)time(NULL), now);
    capture_date(page->boot_time, boot);
#define A(key, ...) core_write_put_attribute(out, #key, __VA_ARGS__);
    CAPTURE_FIRST_LIST(A)
    panic_attributes(out, retain);
    CAPTURE_LAST_LIST(A)
#undef A
}

static void close_group(FILE *out, uint32_t cpu)
{
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

    capture_check_close(&core_write_checked, cpu, trailer);
    core_write_put_slots(out, trailer, sizeof(trailer));
}

/* The page's texts may lack their NUL, though its CRC is right. Returns how many CPUs it names. */
static uint32_t core_write_put_head(FILE *out, const struct retain *retain, const uint8_t *bytes,
                                    uint32_t size, const struct core_output *output)
{
    char build_id[2 * CAPTURE_BUILD_ID_BYTES + 1] = "";
    struct kymo_syspage page;

    memcpy(&page, bytes, sizeof(page));
    if (page.build_id_off <= size && page.build_id_len <= size - page.build_id_off) {
        capture_build_id(bytes + page.build_id_off, page.build_id_len, build_id);
    }
    page.image[page.version < 2 ? 0 : sizeof(page.image) - 1] = '\0';
    page.board[sizeof(page.board) - 1] = page.cpu_name[sizeof(page.cpu_name) - 1] =
        page.release[sizeof(page.release) - 1] = '\0';
    page.size = size;
    capture_check_begin(&core_write_checked);
    core_write_bytes_written = 0;
    core_write_put_attributes(out, retain, &page, build_id, output);
    core_write_put_bytes(out, bytes, size);
    close_group(out, 0);
    return page.ncpu < CAPTURE_CHECK_CPUS ? page.ncpu : CAPTURE_CHECK_CPUS;
}

/* Once through it: the head says what was taken. */
static void core_write_count_pieces(struct retain *retain)
{
    struct retain_piece piece;

    retain_rewind(retain);
    while (retain_next(retain, &piece)) {
    }
}

static void core_write_put_pieces(FILE *out, struct retain *retain, struct core_output *output)
{
    struct retain_piece piece;

    retain_rewind(retain);
    while (retain_next(retain, &piece)) {
        core_write_put_slots(out, piece.slots, (size_t)piece.count * TRACE_SLOT_BYTES);
        capture_check_add(&core_write_checked, piece.slots, piece.count);
        close_group(out, piece.cpu);
        output->slots += piece.count;
    }
}

static void write_to(FILE *out, struct core_window *window, struct core_output *output)
{
    const uint8_t *page =
        output->page ? output->page : window->memory.window + window->retain.header.areas.page.at;

    core_write_count_pieces(&window->retain);
    uint32_t cpus =
        core_write_put_head(out, &window->retain, page, window->retain.header.page_bytes, output);
    core_write_put_pieces(out, &window->retain, output);
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        capture_losses_end(&core_write_checked, cpu, NULL, core_write_put_slots, out);
    }
}

int core_write(struct core_window *window, struct core_output *output)
{
    struct output file;

    if (output_open(&file, output->path, output->force ? OUTPUT_FORCE : OUTPUT_NEW) != 0) {
        return -1;
    }
    FILE *out = output_stream(&file);
    if (!out) {
        output_abandon(&file);
        return -1;
    }
    write_to(out, window, output);
    output->bytes = core_write_bytes_written;
    return output_commit(&file) == 0 ? 0 : -1;
}
