/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracing: enables the program, consumes its records until exit(), a signal or the end of -c's
 * command, runs END, prints the rest.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/consume.h"
#include "host/dtrace/log.h"
#include "host/dtrace/replay.h"
#include "host/remote/target.h"
#include "trace/dtrace/log_event.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often; the second time also aggregations are not waited for. */
static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
    (void)signal;
    interrupted = interrupted ? 2 : 1;
}

static void catch_signals(void)
{
    /* Restarted: a write of output that waits for its reader would else be lost. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    interrupted = 0;
    remote_interrupts(&interrupted);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_DFL);
}

/* ---- the loop ---------------------------------------------------------------------- */

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t rate(const struct dt_session *d, const char *name)
{
    uint64_t ns = dtrace_option(d, name);

    return ns == DT_OPTION_UNSET || ns == 0 ? 1000000000u : ns;
}

static uint64_t next_pass(const struct dt_session *d)
{
    uint64_t a = rate(d, "switchrate"), b = rate(d, "statusrate"), c = rate(d, "aggrate");

    a = a < b ? a : b;
    return a < c ? a : c;
}

/* A target that is gone is spoken of by run.c. */
static int target_failed(int error)
{
    if (error == -EPIPE || error == -EPROTO) {
        return 1;
    }
    if (error == -ESHUTDOWN) {
        return command_fail("processing aborted", "Abort due to systemic unresponsiveness");
    }
    return command_fail("processing aborted", strerror(-error));
}

/* Passes until there is reason to stop. 0, or a negative errno. */
static int follow(struct command *c, struct consumer *consumer)
{
    uint64_t due = now();
    int error = 0;

    while (!interrupted && !error) {
        consumer->at = due;
        error = consumer_pass(consumer, false);
        if (error || consumer->write_error || consumer_is_over(consumer) ||
            command_child_ended(c)) {
            break;
        }
        due += next_pass(c->session);
        uint64_t at = now();
        due = due < at ? at : due;
        while (at < due && !interrupted) {
            uint64_t slice = due - at < 100000000u ? due - at : 100000000u;
            c->target->ops->wait(c->target, slice);
            struct dtrace_status status;
            if (c->target->ops->status(c->target, &status) != 0 || status.exited || status.filled ||
                command_child_ended(c)) {
                consumer->agg_due = consumer->switch_due = 0;
                break;
            }
            at = now();
        }
    }
    return error;
}

static int enabling_failed(int error)
{
    return error == -EPIPE || error == -EPROTO
               ? 1
               : command_fail("could not enable tracing", strerror(-error));
}

static void finish(struct command *c, struct consumer *consumer)
{
    if (!c->json) {
        putc('\n', consumer->printer.out);
    }
    if (interrupted < 2) {
        consumer_finish(consumer);
    }
}

static int status_of(const struct consumer *consumer)
{
    if (consumer->write_error) {
        fprintf(stderr, "dtrace: failed to write output: %s\n", strerror(consumer->write_error));
    }
    return consumer->failed || consumer->write_error ? 1 : consumer->status;
}

static int consume(struct command *c, struct consumer *consumer)
{
    if (consumer->retains && !c->claim && retain_start(c) != 0) {
        return 1;
    }
    int error = c->claim ? 0 : c->target->ops->go(c->target, &consumer->begin_cpu);
    if (error) {
        return enabling_failed(error);
    }
    command_say_enabled(c, consumer);
    command_release_child(c);
    error = c->claim && c->compile_only ? 0 : follow(c, consumer);
    if (interrupted && !c->json) {
        putc('\n', consumer->printer.out); /* behind the terminal's ^C; also when quiet */
    }
    if (!error) {
        error = c->target->ops->stop(c->target, &consumer->end_cpu);
    }
    if (!error) {
        error = consumer_pass(consumer, true);
    }
    if (error) {
        return target_failed(error);
    }
    finish(c, consumer);
    return status_of(consumer);
}

/* ---- into the event log, and out of a capture -------------------------------------- */

/* Passes as follow() makes them, but it is the target that takes. The end of -c's program is
 * followed by one more. */
static int follow_log(struct command *c, struct log_state *s)
{
    struct consumer watching = {.last.state = DTRACE_STATE_ACTIVE};
    int error = 0;

    while (!interrupted && !error && !consumer_is_over(&watching) && !command_child_ended(c)) {
        error = log_pass(s);
        watching.last = s->status;
        uint64_t until = now() + next_pass(c->session), at = now();
        while (!error && !consumer_is_over(&watching) && at < until && !interrupted &&
               !command_child_ended(c)) {
            c->target->ops->wait(c->target, until - at < 100000000u ? until - at : 100000000u);
            error = c->target->ops->status(c->target, &watching.last);
            at = now();
        }
    }
    return error;
}

static int consume_into_log(struct command *c, struct consumer *consumer)
{
    struct log_state s = {.target = c->target};
    int error = log_start(c);

    if (error) {
        return 1;
    }
    error = c->target->ops->go(c->target, &consumer->begin_cpu);
    if (error) {
        return enabling_failed(error);
    }
    command_say_enabled(c, consumer);
    command_release_child(c);
    error = follow_log(c, &s);
    error = error == -ECANCELED ? 0 : error; /* the last pass will say so */
    error = error ? error : log_stop(c, &consumer->end_cpu);
    if (error) {
        return target_failed(error);
    }
    if (log_finish(c, &s, interrupted) != 0) {
        return 1;
    }
    return s.status.exited ? s.status.exit_status & 0xff : 0;
}

static int replay_pass(struct replay *r, struct consumer *consumer, bool last)
{
    int error = 0;

    while (!error && replay_overfull(r)) {
        r->part = true;
        consumer->agg_due = consumer->switch_due = 0;
        error = consumer_pass(consumer, false);
    }
    r->part = false;
    consumer->agg_due = consumer->switch_due = 0;
    return error ? error : consumer_pass(consumer, last);
}

/* Each pass that was logged, as if it were made now. */
static int replay_passes(struct command *c, struct consumer *consumer)
{
    struct replay *r = c->replay;
    int error = c->target->ops->go(c->target, &consumer->begin_cpu);

    if (!error) {
        command_say_enabled(c, consumer);
    }
    for (r->pass = 0; !error && r->pass + 1 < r->npasses; r->pass++) {
        error = replay_pass(r, consumer, false);
    }
    if (r->npasses && r->passes[r->npasses - 1].flags & DTRACE_LOG_INTERRUPTED && !c->json) {
        putc('\n', consumer->printer.out);
    }
    error = error ? error : c->target->ops->stop(c->target, &consumer->end_cpu);
    error = error ? error : replay_pass(r, consumer, true);
    if (error) {
        return target_failed(error);
    }
    finish(c, consumer);
    replay_report(r);
    return status_of(consumer);
}

int command_trace(struct command *c, const void *image, size_t size)
{
    struct consumer consumer = {.printer.out = c->out};
    int status;

    catch_signals();
    status = command_enable(c, &consumer, image, size);
    if (!status) {
        status = c->replay                         ? replay_passes(c, &consumer)
                 : dt_option_on(c->session, "log") ? consume_into_log(c, &consumer)
                                                   : consume(c, &consumer);
    }
    command_drop_child(c);
    consumer_free(&consumer);
    return status;
}
