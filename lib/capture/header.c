/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes `TRACE_KEY::value` pairs without separators, as QNX's readers expect them, then the raw
 * page: see header.h. Tested by test/board/modes.py, and by every capture that the host reads.
 */
#include "lib/capture/header.h"

#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/syspage.h"
#include "lib/capture/attribute.h"

#define CHUNK 256
#define CLOCK_IS_SET \
    UINT64_C(946684800) /* seconds: the year 2000; a clock before that counts from boot */

struct out {
    capture_put_t put;
    void *to;
    bool refused;
    struct capture_check *check;
};

static void capture_put_bytes(struct out *out, const void *data, size_t bytes)
{
    capture_check_head(out->check, data, bytes);
    out->refused = out->refused || out->put(out->to, data, bytes) != 0;
}

__attribute__((format(printf, 3, 4))) static void
capture_put_attribute(struct out *to, const char *key, const char *format, ...)
{
    char text[CAPTURE_ATTRIBUTE_ROOM];
    va_list list;

    va_start(list, format);
    int bytes = capture_attribute(text, key, format, list);
    va_end(list);
    capture_put_bytes(to, text, (size_t)bytes);
}

static void own_attributes(const struct capture_header *header, struct out *to)
{
    for (unsigned i = header->own_count; i > 0; i--) {
        char key[CAPTURE_VALUE_MOST + 1];
        const char *value = strchr(header->own[i - 1], '=') + 1;

        snprintf(key, sizeof(key), "%.*s", (int)(value - header->own[i - 1] - 1),
                 header->own[i - 1]);
        capture_put_attribute(to, key, "%s", value);
    }
}

static void further_rows(const struct capture_header *header, struct out *to)
{
    char key[PANIC_KEY], value[PANIC_VALUE];

    for (unsigned n = 0; header->rows && header->rows(n, key, value); n++) {
        capture_put_attribute(to, key, "%s", value);
    }
}

/* Returns the time of this system's boot, by its own or its host's real-time clock; 0: unknown. */
static uint64_t boot_time(const struct kymo_syspage *page, uint64_t now)
{
    struct timespec up = {0};

    if (page->boot_time != 0 || now < CLOCK_IS_SET) {
        return page->boot_time;
    }
    clock_gettime(CLOCK_MONOTONIC, &up);
    return now - (uint64_t)up.tv_sec;
}

/* States the time at a value of the trace clock; nothing if the time is unknown. */
static void wall_clock(uint64_t host_seconds, struct out *to)
{
    struct timespec now = {0};
    uint64_t cycles;

    clock_gettime(CLOCK_REALTIME, &now);
    cycles = ClockCycles();
    if ((uint64_t)now.tv_sec < CLOCK_IS_SET) {
        now = (struct timespec){.tv_sec = (time_t)host_seconds};
    }
    if ((uint64_t)now.tv_sec >= CLOCK_IS_SET) {
        capture_put_attribute(to, "WALL_CLOCK", "%llu %llu", (unsigned long long)cycles,
                              (unsigned long long)now.tv_sec * 1000000000u +
                                  (unsigned long long)now.tv_nsec);
    }
}

static void capture_put_attributes(const struct capture_header *header,
                                   const struct kymo_syspage *page, const char *build_id,
                                   struct out *to)
{
    const char *file = header->file, *args = header->args;
    uint64_t seconds = (uint64_t)time(NULL);
    char now[32], boot[32];

    seconds = seconds < CLOCK_IS_SET && header->now != 0 ? header->now : seconds;
    capture_date(seconds, now);
    capture_date(header->page ? page->boot_time : boot_time(page, seconds), boot);
#define A(key, ...) capture_put_attribute(to, #key, __VA_ARGS__);
    CAPTURE_FIRST_LIST(A)
    if (!header->page) {
        wall_clock(header->now, to);
    }
    own_attributes(header, to);
    further_rows(header, to);
    CAPTURE_LAST_LIST(A)
#undef A
}

static long system_page(uint32_t offset, void *to, uint32_t bytes)
{
    return SyspageRead(offset, to, bytes);
}

/* Returns whether the page could be read. */
static bool copy_page(long (*page)(uint32_t, void *, uint32_t), uint32_t size, struct out *to)
{
    char chunk[CHUNK];
    long got = 1;

    for (uint32_t at = 0; at < size && got > 0; at += (uint32_t)got) {
        got = page(at, chunk, size - at < CHUNK ? size - at : CHUNK);
        if (got > 0) {
            capture_put_bytes(to, chunk, (size_t)got);
        }
    }
    return got > 0;
}

int capture_header_write(const struct capture_header *header, capture_put_t put, void *to)
{
    long (*from)(uint32_t, void *, uint32_t) = header->page ? header->page : system_page;
    struct out where = {put, to, false, header->check};
    char build_id[2 * CAPTURE_BUILD_ID_BYTES + 1];
    uint8_t id[CAPTURE_BUILD_ID_BYTES];
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];
    struct kymo_syspage page;

    capture_check_begin(header->check);

    if (from(0, &page, sizeof(page)) != (long)sizeof(page) || page.magic != KYMO_SYSPAGE_MAGIC ||
        page.size < sizeof(page)) {
        return 1;
    }
    if (page.version < 2) {
        page.image[0] = '\0';
    }
    uint32_t bytes = page.build_id_len < sizeof(id) ? page.build_id_len : sizeof(id);
    long got = from(page.build_id_off, id, bytes);
    capture_build_id(id, got > 0 ? (size_t)got : 0, build_id);
    capture_put_attributes(header, &page, build_id, &where);
    if (!copy_page(from, page.size, &where)) {
        return 1;
    }
    capture_check_close(header->check, 0, trailer);
    return where.refused || put(to, trailer, sizeof(trailer)) != 0 ? -1 : 0;
}
