/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that the consumer takes when it comes to their records. Tested by test/dtrace/rows.
 */
#include "host/dtrace/consume/consume.h"
#include "host/memory_stream.h"
#include "host/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *libact_format(struct consumer *c, const struct dt_format *f, const struct print_value *values,
                    unsigned n, size_t *size)
{
    struct printer p = c->printer;
    char *text = NULL;

    *size = 0;
    p.out = memory_stream(&text, size);
    if (!p.out) {
        return NULL;
    }
    print_format(&p, f->parsed, values, n);
    fclose(p.out);
    return text;
}

void libact_system(struct consumer *c, const struct dt_format *f, const struct print_value *values,
                   unsigned n)
{
    size_t size;
    char *command = c->acts ? libact_format(c, f, values, n, &size) : NULL;

    consumer_flush(c);
    if (command && system(command) == -1) {
        fprintf(stderr, "dtrace: failed to run '%s': %s\n", command, strerror(errno));
    }
    free(command);
}

/* Reports a failed action: the clause's record is consumed anyway. */
static void libact_report_failure(struct consumer *c, const struct epid_info *info)
{
    consumer_flush(c);
    fprintf(stderr, "dtrace: error on enabled probe ID %u (ID %u: %s:%s:%s:%s): ", info->desc.epid,
            info->probe.id, info->probe.provider, info->probe.module, info->probe.function,
            info->probe.name);
}

/* The new file takes the place of the old one and is appended to, never overwritten; "" is the
 * first output. */
void libact_freopen(struct consumer *c, const struct epid_info *info, const struct dt_format *f,
                    const struct print_value *values, unsigned n)
{
    static int first = -1;
    size_t size;
    char *path = c->acts ? libact_format(c, f, values, n, &size) : NULL;

    consumer_flush(c);
    if (!path) {
        return;
    }
    if (first < 0) {
        first = dup(fileno(c->printer.out));
    }
    FILE *opened = *path ? output_append(path) : NULL;
    int file = !*path ? dup(first) : opened ? dup(fileno(opened)) : -1;
    const char *why = strerror(errno);
    if (opened) {
        fclose(opened);
    }
    if (file < 0) {
        libact_report_failure(c, info);
        fprintf(stderr, "couldn't freopen() \"%s\": %s\n", path, why);
    } else {
        dup2(file, fileno(c->printer.out));
        close(file);
    }
    free(path);
}

static void libact_text_of(const struct print_value *v, char *to, size_t room)
{
    size_t n = v ? strnlen((const char *)v->data, v->size) : 0;

    n = n < room ? n : room - 1;
    memcpy(to, v ? (const char *)v->data : "", n);
    to[n] = '\0';
}

static int64_t libact_number_of(const struct print_value *values, unsigned n)
{
    return n ? datum_signed(values[0].data, values[0].size) : 0;
}

void libact_do(struct consumer *c, const struct epid_info *info, const struct dt_format *f,
               const struct print_value *values, unsigned n)
{
    struct aggregation *a = f->naggregations ? consumer_aggregation(c, f->aggregations[0]) : NULL;
    char name[128], value[256] = "1";
    const char *why;

    switch (f->arg) {
    case DTRACE_LIBACT_CLEAR:
        agg_clear(a);
        break;
    case DTRACE_LIBACT_NORMALIZE:
        a->normal = libact_number_of(values, n) ? (uint64_t)libact_number_of(values, n) : 1;
        break;
    case DTRACE_LIBACT_DENORMALIZE:
        a->normal = 1;
        break;
    case DTRACE_LIBACT_TRUNC:
        agg_truncate(a, libact_number_of(values, n), &c->printer.style);
        break;
    case DTRACE_LIBACT_SETOPT:
        if (n == 0) {
            break;
        }
        libact_text_of(&values[0], name, sizeof(name));
        if (n > 1) {
            libact_text_of(&values[1], value, sizeof(value));
        }
        why = dt_option_set(c->session, name, value, DT_FROM_SETOPT);
        if (why) {
            libact_report_failure(c, info);
            fprintf(stderr, "couldn't set option \"%s\" to \"%s\": %s\n", name, value, why);
        }
        consumer_options(c);
        break;
    case DTRACE_LIBACT_FTRUNCATE:
        consumer_flush(c);
        if (c->acts && ftruncate(fileno(c->printer.out), 0) == 0) {
            rewind(c->printer.out);
        }
        break;
    case DTRACE_LIBACT_PRINT:
        if (n && values[0].type) {
            print_typed(&c->printer, values[0].type, values[0].data);
        }
        break;
    }
}
