/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -a: claims the program that the boot enabled, so that the command prints its records. Tested by
 * test/host/remote/board_test.c and test/board/dlog.py.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/saved.h"

#include <errno.h>
#include <string.h>

/* False after a message: the program in the target was compiled by another kymo. */
static bool claim_is_known(const void *claimed, size_t size)
{
    const struct dtrace_image *image = claimed;

    if (size < sizeof(*image) || image->magic != DTRACE_IMAGE_MAGIC ||
        image->version == DTRACE_IMAGE_VERSION) {
        return true; /* what else is wrong is found later */
    }
    fprintf(
        stderr,
        "dtrace: the boot's program is an image of version %u, this kymo has version %u: use the "
        "kymo that compiled it\n",
        image->version, (unsigned)DTRACE_IMAGE_VERSION);
    return false;
}

static void say_claim_failed(int error)
{
    if (error == -ENOENT) {
        fputs("dtrace: no anonymous tracing state: the boot traces nothing, or it was claimed\n",
              stderr);
    } else if (error != -EPIPE && error != -EPROTO) {
        fprintf(stderr, "dtrace: could not claim what the boot traces: %s\n", strerror(-error));
    }
}

/* Reads the boot's program, with the options that it was compiled with, but claims nothing yet: a
 * command that fails leaves it to the next one. The user's own sources replace those that came with
 * it. Only the user can allow what it may do to this machine. */
int command_look_at_claim(struct command *c)
{
    const struct target_ops *ops = c->target->ops;
    size_t size = 0;
    int error = ops->look ? ops->look(c->target, &c->claimed, &size) : -ENOENT;

    if (error) {
        say_claim_failed(error);
    } else if (!claim_is_known(c->claimed, size)) {
        error = -EINVAL;
    } else if (!c->nsources) {
        c->foreign = true;
        dt_session_distrust(c->session);
        if (!saved_read(c, c->claimed, size)) {
            fputs("dtrace: the boot's program has no source with it: give it with -s\n", stderr);
            error = -EINVAL;
        }
    }
    if (!error && !saved_options(c, c->claimed, size)) {
        fputs("dtrace: the boot's program is invalid\n", stderr);
        error = -EINVAL;
    }
    return error ? 1 : 0;
}

/* The source must be that of the running program: else the meaning of its records is unknown. */
bool command_take_claim(struct command *c, const void *image, size_t size)
{
    const struct dtrace_image *claimed = c->claimed;

    if (claimed->size != size || memcmp(claimed, image, size) != 0) {
        fputs("dtrace: the boot traces another program than this\n", stderr);
        return false;
    }
    if (dt_option_on(c->session, "destructive") && !c->destructive) {
        fputs("dtrace: the boot's program may be destructive on this machine: -w allows it\n",
              stderr);
        return false;
    }
    int error = c->target->ops->claim(c->target, image, size);
    if (error < 0) {
        say_claim_failed(error);
    }
    return error == 0;
}
