/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a capture as QNX's readers expect it (docs/format.md): `TRACE_KEY::value` pairs
 * back to back, without separators, then the system page, raw. Values stay short: old readers look
 * through a window of 100 bytes.
 */
#include "tracelogger/header.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernel/abi/sys/kymo.h"
#include "kernel/abi/syspage.h"
#include "lib/capture/attributes.h"
#include "tracelogger/sink.h"

#define CHUNK 512

static int attribute(const char *key, const char *format, ...)
{
    char value[ATTRIBUTE_MOST + 1];
    char text[40 + ATTRIBUTE_MOST];
    va_list list;

    va_start(list, format);
    vsnprintf(value, sizeof(value), format, list);
    va_end(list);
    /* A file's name or an argument may look like the beginning of the next attribute. */
    for (char *at = strstr(value, "TRACE_"); at; at = strstr(value, "TRACE_")) {
        at[5] = '-';
    }
    int bytes = snprintf(text, sizeof(text), "TRACE_%s::%s", key, value);
    return sink_write(text, (size_t)bytes);
}

/* As ctime() prints it, without the newline. Boards without a clock begin in 1970. */
static void date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    gmtime_r(&when, &parts);
    asctime_r(&parts, text);
    text[strcspn(text, "\n")] = '\0';
}

/* Only what a recovered capture has: RETAINED..., PANIC... */
static bool tells_of_a_death(const char *key, size_t length)
{
    static const char *const begins[] = {"RETAINED", "PANIC"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (length >= strlen(begins[i]) && memcmp(key, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return false;
}

bool header_has(const char *key, size_t length)
{
    static const char *const keys[] = {
#define A(name, ...) #name,
        CAPTURE_FIRST_LIST(A) CAPTURE_LAST_LIST(A)
#undef A
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0) {
            return true;
        }
    }
    return tells_of_a_death(key, length);
}

/* -A KEY=VALUE, the last one first. */
static int own_attributes(const struct options *options)
{
    int bad = 0;

    for (unsigned i = options->attribute_count; i > 0; i--) {
        char key[ATTRIBUTE_MOST + 1];
        const char *value = strchr(options->attributes[i - 1], '=') + 1;

        snprintf(key, sizeof(key), "%.*s", (int)(value - options->attributes[i - 1] - 1),
                 options->attributes[i - 1]);
        bad |= attribute(key, "%s", value);
    }
    return bad;
}

static int source_rows(const struct header_source *source)
{
    char key[PANIC_KEY], value[PANIC_VALUE];
    int bad = 0;

    for (unsigned n = 0; source->rows && source->rows(n, key, value); n++) {
        bad |= attribute(key, "%s", value);
    }
    return bad;
}

static int attributes(const struct options *options, const struct kymo_syspage *page,
                      const struct header_source *source)
{
    const char *file = options->file, *args = options->args;
    char now[32], boot[32];
    int bad = 0;

    date((uint64_t)time(NULL), now);
    date(page->boot_time, boot);
#define A(key, ...) bad |= attribute(#key, __VA_ARGS__);
    CAPTURE_FIRST_LIST(A)
    bad |= own_attributes(options);
    bad |= source_rows(source);
    CAPTURE_LAST_LIST(A)
#undef A
    return bad;
}

static long system_page(uint32_t offset, void *to, uint32_t bytes)
{
    return SyspageRead(offset, to, bytes);
}

static int copy_page(uint32_t size, const struct header_source *source)
{
    static char chunk[CHUNK];

    for (uint32_t at = 0; at < size;) {
        uint32_t want = size - at < CHUNK ? size - at : CHUNK;
        long got = source->page(at, chunk, want);

        if (got <= 0 || sink_write(chunk, (size_t)got) != 0) {
            return -1;
        }
        at += (uint32_t)got;
    }
    return 0;
}

int header_write_from(const struct options *options, const struct header_source *source)
{
    struct header_source from = {source->page ? source->page : system_page, source->rows};
    struct kymo_syspage page;

    if (from.page(0, &page, sizeof(page)) != (long)sizeof(page) ||
        page.magic != KYMO_SYSPAGE_MAGIC || page.size < sizeof(page)) {
        printf("tracelogger: the system page can't be read: %s\n", strerror(errno));
        return -1;
    }
    return attributes(options, &page, &from) != 0 || copy_page(page.size, &from) != 0 ? -1 : 0;
}

int header_write(const struct options *options)
{
    return header_write_from(options, &(struct header_source){NULL, NULL});
}
