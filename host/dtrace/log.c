/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -x log=1: the target's kernel puts the records into its event log; this consumer only says when a
 * live one would take them, and stops the program when it is over. `kymo dtrace -r` prints them.
 * -x retain: a live consumer, but what describes its records goes first.
 * Tested by test/boot/dlog.py.
 */
#include "host/dtrace/log.h"

#include "host/dtrace/saved.h"
#include "trace/dtrace/log_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 200, NAP = 20000000 }; /* ns */

static int fail(const struct command *c, int error)
{
    if (error == -ECANCELED) {
        fputs("dtrace: log=1: no event log runs on the target: start tracelogger there\n", stderr);
    } else if (error == -E2BIG) {
        fputs("dtrace: log=1: a capture has no room for so many probes: name fewer\n", stderr);
    } else if (error == -ENOSPC) {
        fputs(
            "dtrace: log=1: the event log has no room: its tracelogger does not carry its buffers "
            "away, or needs more of them (-k)\n",
            stderr);
    } else if (!c->target->ops->gone || !c->target->ops->gone(c->target)) {
        fprintf(stderr, "dtrace: log=1: %s\n", strerror(-error));
    }
    return error;
}

int log_start(struct command *c)
{
    size_t bytes;
    char *saved;

    if (dtrace_option(c->session, "bufpolicy") != DTRACE_POLICY_SWITCH) {
        fputs("dtrace: log=1 needs bufpolicy=switch\n", stderr);
        return -EINVAL;
    }
    if (!c->target->ops->log_start) {
        fputs("dtrace: log=1: this target has no event log\n", stderr);
        return -ENOTSUP;
    }
    saved = saved_strings(c, &bytes);
    int error = saved ? c->target->ops->log_start(c->target, saved, bytes) : -ENOMEM;
    free(saved);
    return error ? fail(c, error) : 0;
}

int retain_start(struct command *c)
{
    size_t bytes;
    char *saved = saved_strings(c, &bytes);
    int error = !saved                   ? -ENOMEM
                : c->target->ops->retain ? c->target->ops->retain(c->target, saved, bytes)
                                         : -ENOTSUP;

    free(saved);
    if (error == -E2BIG) {
        fputs("dtrace: retain: there is no room for what describes so many probes: name fewer\n",
              stderr);
    } else if (error == -ENOSPC) {
        fputs("dtrace: retain: retained memory has no room left for what describes the program: "
              "make bufsize or aggsize smaller\n",
              stderr);
    } else if (error && (!c->target->ops->gone || !c->target->ops->gone(c->target))) {
        fprintf(stderr, "dtrace: retain: %s\n", strerror(-error));
    }
    return error;
}

/* Data that finds no room is left for the next pass. */
int log_pass(struct log_state *s)
{
    const struct target_ops *ops = s->target->ops;
    int result = ops->log_pass(s->target, ++s->pass, 0, &s->status);

    return result == -EAGAIN ? ops->status(s->target, &s->status) : result < 0 ? result : 0;
}

/* Waits for room: a last pass that isn't complete is followed by another one. */
static int last_pass(struct log_state *s, unsigned flags)
{
    int result = 0;

    for (unsigned i = 0; (result == 0 || result == -EAGAIN) && i < TRIES; i++) {
        if (i) {
            nanosleep(&(struct timespec){0, NAP}, NULL);
        }
        result = s->target->ops->log_pass(s->target, ++s->pass, flags, &s->status);
    }
    return result == 0 || result == -EAGAIN ? -ENOSPC : result < 0 ? result : 0;
}

/* The notes wait for room: END's records then find it. */
int log_stop(struct command *c, unsigned *end_cpu)
{
    int error = c->target->ops->log_end(c->target);

    return error && error != -ECANCELED ? fail(c, error) : c->target->ops->stop(c->target, end_cpu);
}

int log_finish(struct command *c, struct log_state *s, bool interrupted)
{
    int error = last_pass(s, DTRACE_LOG_LAST | (interrupted ? DTRACE_LOG_INTERRUPTED : 0));
    if (error == -ECANCELED) {
        fputs("dtrace: log=1: the event log has ended before the program\n", stderr);
        return 0;
    }
    return error ? fail(c, error) : 0;
}
