/* SPDX-License-Identifier: BSD-2-Clause */
/* See header.h; lib/capture/header.h writes it. */
#include "tracelogger/header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/capture/attributes.h"
#include "tracelogger/filters.h"
#include "tracelogger/sink.h"

bool header_has(const char *key, size_t length)
{
    static const char *const keys[] = {
#define A(name, ...) #name,
        CAPTURE_FIRST_LIST(A) CAPTURE_LAST_LIST(A)
#undef A
    };
    /* Keys with a number: FILTER...; of a recovered capture also RETAINED..., PANIC... */
    static const char *const numbered[] = {"RETAINED", "PANIC", "FILTER"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        if (length >= strlen(numbered[i]) && memcmp(key, numbered[i], strlen(numbered[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int logger_header_put_bytes(void *to, const void *data, size_t bytes)
{
    (void)to;
    return sink_write(data, bytes);
}

int header_write_from(const struct options *options, const struct header_source *source)
{
    struct capture_header header = {
        .file = options->file,
        .args = options->args,
        .own = options->attributes,
        .own_count = options->attribute_count,
        .now = sink_time(),
        .page = source->page,
        .rows = source->rows,
        .check = &sink_check,
    };
    int result = capture_header_write(&header, logger_header_put_bytes, NULL);

    if (result > 0) {
        printf("tracelogger: the system page can't be read: %s\n", strerror(errno));
    }
    return result == 0 ? 0 : -1;
}

int header_write(const struct options *options)
{
    filters_set(options);
    return header_write_from(options, &(struct header_source){NULL, filters_row});
}
