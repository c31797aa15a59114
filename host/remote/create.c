/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h that make a consumer, or claim the boot's. A size that the
 * target, or an answer, has no room for is halved, or refused, as there. Proof: test/host/remote.
 */
#include "host/remote/remote.h"
#include "trace/dtrace/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH_LEAST = 16 * 1024 };

static void remote_set_refusal(struct dtrace_refusal *why, int error, const char *text)
{
    *why = (struct dtrace_refusal){.error = error, .object = UINT32_MAX, .offset = UINT32_MAX};
    snprintf(why->text, sizeof(why->text), "%s", text);
}

static uint64_t *option_of(struct dtrace_image *image, uint32_t option)
{
    struct dtrace_image_option *o = (void *)((char *)image + image->options.offset);

    for (uint32_t i = 0; i < image->options.count; i++) {
        if (o[i].option == option) {
            return &o[i].value;
        }
    }
    return NULL;
}

static bool may_lower(struct dtrace_image *image)
{
    const uint64_t *resize = option_of(image, DTRACE_OPT_BUFRESIZE);

    return !resize || *resize != DTRACE_RESIZE_MANUAL;
}

/* A buffer comes in one answer: it is halved till it fits one, as for memory that isn't there. */
static bool remote_lower_option(struct dtrace_image *image, uint32_t option, bool used)
{
    uint64_t *value = option_of(image, option);

    if (!value || *value <= REMOTE_BUFFER_MAX || !used) {
        return true;
    }
    while (*value > REMOTE_BUFFER_MAX) {
        *value /= 2;
    }
    return may_lower(image);
}

static bool keep_image(struct remote *r, const void *image, size_t size)
{
    free(r->image);
    r->image = malloc(size);
    if (!r->image) {
        return false;
    }
    memcpy(r->image, image, size);
    r->uses = remote_image_uses(r->image);
    return true;
}

static int take_refusal(struct remote *r, int error, const uint8_t *out, uint32_t bytes,
                        struct dtrace_refusal *why)
{
    struct dtrace_refusal theirs;

    if (*r->gone || bytes != sizeof(theirs)) {
        remote_set_refusal(why, error, *r->gone ? r->gone : strerror(-error));
        return error;
    }
    memcpy(&theirs, out, sizeof(theirs));
    if (!remote_text_ok(theirs.text, sizeof(theirs.text))) {
        return remote_nonsense(r, "a refusal");
    }
    *why = theirs;
    return error;
}

/* Without records a principal buffer is only scratch (trace/dtrace/memory.c): so much is enough. */
static void keep_sizes(struct remote *r, const struct kymo_d_created *made)
{
    const uint64_t *strsize = option_of(r->image, DTRACE_OPT_STRSIZE);
    uint64_t scratch = strsize && *strsize < UINT32_MAX ? *strsize * 32 : 256 * 32;

    r->matched = made->matched;
    r->sizes =
        (struct dtrace_sizes){made->bufsize, made->aggsize, made->specsize, made->dynvarsize};
    r->principal = made->bufsize;
    scratch = scratch < SCRATCH_LEAST ? SCRATCH_LEAST : scratch;
    if (!r->uses.records && scratch < made->bufsize) {
        r->principal = scratch;
    }
}

static int take_created(struct remote *r, const struct kymo_d_call *call, const uint8_t *out)
{
    struct kymo_d_created made;

    if (call->out_bytes != sizeof(made) || call->handle == 0) {
        return remote_nonsense(r, "a consumer");
    }
    memcpy(&made, out, sizeof(made));
    r->handle = call->handle;
    keep_sizes(r, &made);
    return 0;
}

/* ---- whether the agent can read it out ------------------------------------------------
 *
 * The agent there needs memory for an answer as large as a buffer. It takes it here, before tracing
 * begins, and keeps it: if it can't be had the buffers are lowered, or refused, like those that the
 * machine itself has no memory for. */

enum { LEAST = 4096 };

static int try_to_read(struct remote *r)
{
    uint64_t largest = r->principal;

    if (r->uses.aggregates && r->sizes.aggsize > largest) {
        largest = r->sizes.aggsize;
    }
    if (largest < LEAST) {
        return 0;
    }
    struct kymo_d_call call = {.command = KYMO_D_BUFFER,
                               .handle = r->handle,
                               .out_bytes = (uint32_t)(largest + sizeof(struct dtrace_snap))};
    const uint8_t *out;
    int error = remote_call(r, &call, NULL, &out);
    return error == -ENOMEM || error == -EPIPE || error == -EPROTO ? error : 0;
}

/* Halves the larger one of the buffers; false: both are as small as can be. */
static bool remote_halve_buffer(struct remote *r)
{
    uint64_t buf = r->uses.records ? r->sizes.bufsize : 0;
    uint64_t agg = r->uses.aggregates ? r->sizes.aggsize : 0;
    uint64_t *value = option_of(r->image, buf >= agg ? DTRACE_OPT_BUFSIZE : DTRACE_OPT_AGGSIZE);

    if (!value || (buf < LEAST && agg < LEAST)) {
        return false;
    }
    *value = (buf >= agg ? buf : agg) / 2;
    return true;
}

static int remote_destroy_consumer(struct remote *r)
{
    struct kymo_d_call call = {.command = KYMO_D_DESTROY, .handle = r->handle};

    r->handle = 0;
    return remote_ask(r, &call, NULL, 0);
}

static int remote_call_create(struct remote *r, struct kymo_d_call call, struct dtrace_refusal *why)
{
    const uint8_t *out;
    int error = remote_call(r, &call, r->image, &out);

    if (error) {
        error = take_refusal(r, error, out, call.out_bytes, why);
    } else {
        error = take_created(r, &call, out);
    }
    if (error == -EPROTO) {
        remote_set_refusal(why, error, r->gone);
    }
    return error;
}

int remote_create(struct target *t, const void *image, size_t size, unsigned flags,
                  struct dtrace_refusal *why)
{
    struct remote *r = remote_of(t);
    const struct kymo_d_call call = {.command = KYMO_D_CREATE,
                                     .flags = flags,
                                     .in_bytes = (uint32_t)size,
                                     .out_bytes = sizeof(*why)};

    remote_set_refusal(why, -ENOMEM, "Not enough space");
    if (r->handle || !keep_image(r, image, size)) {
        return -ENOMEM;
    }
    if (size > KYMO_D_IN_MOST) {
        remote_set_refusal(why, -E2BIG, "the program is too large for the link");
        return -E2BIG;
    }
    if (!remote_lower_option(r->image, DTRACE_OPT_BUFSIZE, r->uses.records) ||
        !remote_lower_option(r->image, DTRACE_OPT_AGGSIZE, r->uses.aggregates)) {
        return -ENOMEM;
    }
    for (;;) {
        int error = remote_call_create(r, call, why);
        if (error || (error = try_to_read(r)) == 0) {
            return error;
        }
        remote_set_refusal(why, error, *r->gone ? r->gone : "Not enough space");
        if (error != -ENOMEM || (error = remote_destroy_consumer(r)) != 0 || !may_lower(r->image) ||
            !remote_halve_buffer(r)) {
            return error ? error : -ENOMEM;
        }
    }
}

/* ---- the boot's consumer ----------------------------------------------------------- */

/* Asks for the file with growing room: its size is unknown, and a small board's agent has little
 * memory. */
static int ask_file(struct remote *r, struct kymo_d_call *call, const uint8_t **out)
{
    int error = -EMSGSIZE;

    for (uint32_t room = 4096; error == -EMSGSIZE && room <= KYMO_D_IN_MOST; room *= 4) {
        *call = (struct kymo_d_call){.command = KYMO_D_LOOK, .out_bytes = room};
        error = remote_call(r, call, NULL, out);
    }
    return error;
}

static int ask_sizes(struct remote *r)
{
    struct kymo_d_call call = {.command = KYMO_D_SIZES, .handle = r->handle};
    struct kymo_d_created made;
    int error = remote_ask(r, &call, &made, sizeof(made));

    if (!error) {
        keep_sizes(r, &made);
    }
    return error;
}

int remote_look(struct target *t, void **file, size_t *size)
{
    struct remote *r = remote_of(t);
    struct kymo_d_call call;
    const uint8_t *out;
    int error = ask_file(r, &call, &out);

    if (error) {
        return error;
    }
    if (call.out_bytes < sizeof(struct dtrace_image)) {
        return remote_nonsense(r, "the boot's program");
    }
    *size = call.out_bytes;
    *file = malloc(*size);
    if (!*file) {
        return -ENOMEM;
    }
    memcpy(*file, out, *size);
    return 0;
}

int remote_claim(struct target *t, const void *image, size_t size)
{
    struct remote *r = remote_of(t);
    struct kymo_d_call call = {.command = KYMO_D_CLAIM};
    int error = keep_image(r, image, size) ? remote_ask(r, &call, NULL, 0) : -ENOMEM;

    if (error) {
        return error;
    }
    if (call.handle == 0) {
        return remote_nonsense(r, "the boot's consumer");
    }
    r->handle = call.handle;
    return ask_sizes(r);
}

int remote_sizes(struct target *t, struct dtrace_sizes *sizes, uint32_t *matched)
{
    *sizes = remote_of(t)->sizes;
    *matched = remote_of(t)->matched;
    return 0;
}
