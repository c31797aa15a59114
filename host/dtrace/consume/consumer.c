/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer of records: its memory, the options that say how it prints, and its output. Tested by
 * test/dtrace and test/host/dtrace/command.
 */
#include "host/dtrace/consume/consume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MAX = 1 << 30 };

/* Allocates memory for a buffer of this size. If nothing is recorded, or aggregated, the target
 * reports the size that was asked for, however large, and allocates less: ROOM_MAX is the limit. */
static uint8_t *consumer_make_room(uint64_t *size)
{
    *size = *size < ROOM_MAX ? *size : ROOM_MAX;
    return malloc(*size + 8);
}

bool consumer_init(struct consumer *c)
{
    c->ncpus = c->target->ops->cpus(c->target);
    c->naggs = dt_session_aggregations(c->session);
    c->aggs = calloc(c->naggs + 1, sizeof(*c->aggs));
    c->buffer = consumer_make_room(&c->bufsize);
    c->agg_buffer = consumer_make_room(&c->aggsize);
    for (unsigned i = 0; c->aggs && i < c->naggs; i++) {
        c->aggs[i].info = dt_session_aggregation(c->session, i + 1);
        c->aggs[i].normal = 1;
        c->aggs[i].ncpus = c->json && dtrace_option(c->session, "aggpercpu") ? c->ncpus : 0;
    }
    consumer_options(c);
    return c->aggs && c->buffer && c->agg_buffer;
}

void consumer_free(struct consumer *c)
{
    for (unsigned i = 0; c->aggs && i < c->naggs; i++) {
        agg_free(&c->aggs[i]);
    }
    for (uint32_t i = 0; i < c->nepids; i++) {
        if (c->epids[i]) {
            free(c->epids[i]->recs);
            free(c->epids[i]);
        }
    }
    for (size_t i = 0; i < c->npending; i++) {
        free(c->pending[i].data);
    }
    free(c->pending);
    free(c->epids);
    free(c->agg_variable);
    free(c->aggs);
    free(c->buffer);
    free(c->agg_buffer);
}

static uint64_t consumer_option_number(const struct consumer *c, const char *name,
                                       uint64_t otherwise)
{
    uint64_t value = dtrace_option(c->session, name);

    return value == DT_OPTION_UNSET ? otherwise : value;
}

static bool consumer_process_of(void *arg, int32_t pid, const char **object, uint64_t *bias)
{
    struct target *target = arg;

    return target->ops->process(target, pid, object, bias);
}

static void objects_of(void *arg)
{
    struct consumer *c = arg;

    if (!c->objects_known) {
        c->objects_known = true;
        c->target->ops->objects(c->target, c->session);
    }
}

void consumer_options(struct consumer *c)
{
    struct agg_style *s = &c->printer.style;
    uint64_t encoding = dtrace_option(c->session, "encoding"); /* 0 ascii, 1 utf8 */
    const char *term = getenv("TERM");
    bool terminal_has_utf8 = !term || (strcmp(term, "dumb") != 0 && strcmp(term, "sun") != 0 &&
                                       strcmp(term, "sun-color") != 0);

    s->quiet = dt_option_on(c->session, "quiet");
    s->hist = dt_option_on(c->session, "agghist");
    s->pack = dt_option_on(c->session, "aggpack");
    s->zoom = dt_option_on(c->session, "aggzoom");
    s->sort_key = dt_option_on(c->session, "aggsortkey");
    s->sort_reverse = dt_option_on(c->session, "aggsortrev");
    s->sort_key_position = consumer_option_number(c, "aggsortkeypos", 0);
    s->sort_position = consumer_option_number(c, "aggsortpos", 0);
    s->utf8 = encoding == 1;
    s->pack_utf8 = encoding == DT_OPTION_UNSET ? terminal_has_utf8 : s->utf8;
    c->printer.raw_bytes = dt_option_on(c->session, "rawbytes");
    uint64_t indent = consumer_option_number(c, "stackindent", 14),
             most = (uint64_t)c->printer.width_most;
    c->printer.stack_indent = (unsigned)(indent < most ? indent : most);
    c->printer.session = c->session;
    c->printer.process = c->target->ops->process ? consumer_process_of : NULL;
    c->printer.process_arg = c->target;
    c->printer.objects = c->target->ops->objects ? objects_of : NULL;
    c->printer.objects_arg = c;
    c->printer.pointer_bytes = c->target->ops->model(c->target)->pointer;
    c->flowindent = dt_option_on(c->session, "flowindent");
    c->drop_tags = dt_option_on(c->session, "droptags");
}

void consumer_flush(struct consumer *c)
{
    if (fflush(c->printer.out) != 0 && c->write_error == 0) {
        c->write_error = errno;
    }
    if (ferror(c->printer.out) && c->write_error == 0) {
        c->write_error = EIO;
    }
}
