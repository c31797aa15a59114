/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -a: the program that the boot enabled, whose records the command prints. Internal to host/dtrace;
 * reports errors. Tested by test/d_remote/board_test.c and test/boot/dlog.py.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/saved.h"

#include <errno.h>
#include <string.h>

static void say_claim_failed(int error)
{
    if (error == -ENOENT) {
        fputs("dtrace: no anonymous tracing state: the boot traces nothing, or somebody has it\n",
              stderr);
    } else if (error != -EPIPE && error != -EPROTO) {
        fprintf(stderr, "dtrace: could not claim what the boot traces: %s\n", strerror(-error));
    }
}

/* The boot's program, with the options that it was compiled under; the user's own sources go before
 * those that came with it. What it may do to this machine is for the user to say. Nothing is
 * claimed yet: whoever is refused leaves it to the next one. */
int command_look_at_claim(struct command *c)
{
    const struct target_ops *ops = c->target->ops;
    size_t size = 0;
    int error = ops->look ? ops->look(c->target, &c->claimed, &size) : -ENOENT;

    if (error) {
        say_claim_failed(error);
    } else if (!c->nsources) {
        c->foreign = true;
        dt_session_distrust(c->session);
        if (!saved_read(c, c->claimed, size)) {
            fputs("dtrace: the boot's program came without its source: give it with -s\n", stderr);
            error = -EINVAL;
        }
    }
    if (!error && !saved_options(c, c->claimed, size)) {
        fputs("dtrace: the boot's program makes no sense\n", stderr);
        error = -EINVAL;
    }
    return error ? 1 : 0;
}

/* The meaning of records is known only if the source is that of the running program. */
static bool is_claimed(struct command *c, const void *image, size_t size)
{
    const struct dtrace_image *claimed = c->claimed;

    if (claimed->size != size || memcmp(claimed, image, size) != 0) {
        fputs("dtrace: what the boot traces is another program than this\n", stderr);
        return false;
    }
    if (dt_option_on(c->session, "destructive") && !c->destructive) {
        fputs("dtrace: the boot's program may be destructive on this machine: -w allows it\n",
              stderr);
        return false;
    }
    return true;
}

bool command_take_claim(struct command *c, const void *image, size_t size)
{
    int error = is_claimed(c, image, size) ? c->target->ops->claim(c->target, image, size) : 1;

    if (error < 0) {
        say_claim_failed(error);
    }
    return error == 0;
}
