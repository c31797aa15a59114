/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracing: enables the program, consumes its records until exit(), a signal or the end of -c's
 * command, runs END, prints the rest. With -x log=1 the records go into the target's event log,
 * with -r they come from a capture; with -x retain a live consumer first describes its program in
 * the target's retained memory. Tested by test/dtrace/rows and test/board/dlog.py.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/consume/consume.h"
#include "host/dtrace/replay/replay.h"
#include "host/dtrace/saved.h"
#include "host/remote/target.h"
#include "host/output.h"
#include "trace/dtrace/log_event.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000000000, SLICE = 100000000, NAP = 20000000 }; /* ns */
enum { TRIES = 200 };

/* The number of signals that came; after the second no aggregations are printed. */
static volatile sig_atomic_t dtrace_trace_nsignals;

static void dtrace_trace_on_signal(int signal)
{
    (void)signal;
    dtrace_trace_nsignals = dtrace_trace_nsignals ? 2 : 1;
}

const volatile sig_atomic_t *command_interrupted(void)
{
    return &dtrace_trace_nsignals;
}

/* Restarted, because an interrupted write of output would be lost. */
void command_catch_signals(bool caught)
{
    struct sigaction action = {.sa_handler = caught ? dtrace_trace_on_signal : SIG_DFL,
                               .sa_flags = SA_RESTART};

    dtrace_trace_nsignals = 0;
    remote_interrupts(&dtrace_trace_nsignals);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!caught) {
        output_catch_signals(false);
    }
}

/* ---- before tracing: what a reader of the log, or of retained memory, must know ----- */

static bool target_is_lost(const struct command *c)
{
    return c->target->ops->gone && c->target->ops->gone(c->target);
}

static int log_failed(const struct command *c, int error)
{
    if (error == -ECANCELED) {
        fputs("dtrace: log=1: no event log runs on the target: start tracelogger there\n", stderr);
    } else if (error == -E2BIG) {
        fputs(
            "dtrace: log=1: the program has more probes than a capture can describe: name fewer\n",
            stderr);
    } else if (error == -ENOSPC) {
        fputs(
            "dtrace: log=1: the event log is full: its tracelogger does not write its buffers, or "
            "needs more of them (-k)\n",
            stderr);
    } else if (!target_is_lost(c)) {
        fprintf(stderr, "dtrace: log=1: %s\n", strerror(-error));
    }
    return error;
}

/* Returns 0, or a negative errno after a message. */
static int dtrace_trace_start_log(struct command *c)
{
    size_t bytes;

    if (dtrace_option(c->session, "bufpolicy") != DTRACE_POLICY_SWITCH) {
        fputs("dtrace: log=1 needs bufpolicy=switch\n", stderr);
        return -EINVAL;
    }
    if (!c->target->ops->log_start) {
        fputs("dtrace: log=1: this target has no event log\n", stderr);
        return -ENOTSUP;
    }
    char *saved = saved_strings(c, &bytes);
    int error = saved ? c->target->ops->log_start(c->target, saved, bytes) : -ENOMEM;
    free(saved);
    return error ? log_failed(c, error) : 0;
}

/* Returns 0, or a negative errno after a message. */
static int dtrace_retain_start(struct command *c)
{
    size_t bytes;
    char *saved = saved_strings(c, &bytes);
    int error = !saved                   ? -ENOMEM
                : c->target->ops->retain ? c->target->ops->retain(c->target, saved, bytes)
                                         : -ENOTSUP;

    free(saved);
    if (error == -E2BIG) {
        fputs("dtrace: retain: the program has more probes than retained memory can describe: name "
              "fewer\n",
              stderr);
    } else if (error == -ENOSPC) {
        fputs("dtrace: retain: retained memory has no room for the program's description: make "
              "bufsize or aggsize smaller\n",
              stderr);
    } else if (error && !target_is_lost(c)) {
        fprintf(stderr, "dtrace: retain: %s\n", strerror(-error));
    }
    return error;
}

/* ---- common to all ways of tracing -------------------------------------------------- */

static uint64_t dtrace_trace_monotonic_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the time between two passes: the shortest of the rates. */
static uint64_t pass_interval(const struct dt_session *d)
{
    static const char *const rates[] = {"switchrate", "statusrate", "aggrate"};
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        uint64_t ns = dtrace_option(d, rates[i]);
        ns = ns == DT_OPTION_UNSET || ns == 0 ? SECOND : ns;
        least = ns < least ? ns : least;
    }
    return least;
}

/* Starts the program, then the child of -c. A lost target is reported by run.c. */
static int dtrace_trace_start_program(struct command *c, struct consumer *consumer)
{
    int error = c->claim ? 0 : c->target->ops->go(c->target, &consumer->begin_cpu);

    if (error) {
        return error == -EPIPE || error == -EPROTO
                   ? 1
                   : command_fail("could not enable tracing",
                                  error == -EBUSY ? "all of the CPU's counters are in use"
                                                  : strerror(-error));
    }
    command_say_enabled(c, consumer);
    command_release_child(c);
    return 0;
}

static int target_failed(int error)
{
    if (error == -EPIPE || error == -EPROTO) {
        return 1;
    }
    return command_fail("processing aborted", error == -ESHUTDOWN
                                                  ? "Abort due to systemic unresponsiveness"
                                                  : strerror(-error));
}

/* Prints what is left; returns the exit status. */
static int dtrace_trace_finish_program(struct command *c, struct consumer *consumer)
{
    if (!c->json) {
        putc('\n', consumer->printer.out);
    }
    if (dtrace_trace_nsignals < 2) {
        consumer_finish(consumer);
    }
    if (consumer->write_error) {
        fprintf(stderr, "dtrace: failed to write output: %s\n", strerror(consumer->write_error));
    }
    return consumer->failed || consumer->write_error ? 1 : consumer->status;
}

/* ---- a live consumer ---------------------------------------------------------------- */

/* Executes passes until there is a reason to stop. Returns 0, or a negative errno. */
static int dtrace_trace_run_passes(struct command *c, struct consumer *consumer)
{
    uint64_t due = dtrace_trace_monotonic_now();
    int error = 0;

    while (!dtrace_trace_nsignals && !error) {
        consumer->at = due;
        error = consumer_pass(consumer, false);
        if (error || consumer->write_error || consumer_is_over(consumer) ||
            command_child_ended(c)) {
            break;
        }
        due += pass_interval(c->session);
        uint64_t at = dtrace_trace_monotonic_now();
        due = due < at ? at : due;
        while (at < due && !dtrace_trace_nsignals) {
            uint64_t slice = due - at < SLICE ? due - at : SLICE;
            c->target->ops->wait(c->target, slice);
            struct dtrace_status status;
            if (c->target->ops->status(c->target, &status) != 0 || status.exited || status.filled ||
                command_child_ended(c)) {
                consumer->agg_due = consumer->switch_due = 0;
                break;
            }
            at = dtrace_trace_monotonic_now();
        }
    }
    return error;
}

static int dtrace_trace_consume_buffers(struct command *c, struct consumer *consumer)
{
    if (consumer->retains && !c->claim && dtrace_retain_start(c) != 0) {
        return 1;
    }
    if (dtrace_trace_start_program(c, consumer) != 0) {
        return 1;
    }
    int error = c->claim && c->compile_only ? 0 : dtrace_trace_run_passes(c, consumer);
    if (dtrace_trace_nsignals && !c->json) {
        putc('\n', consumer->printer.out); /* after the terminal's ^C; also when quiet */
    }
    if (!error) {
        error = c->target->ops->stop(c->target, &consumer->end_cpu);
    }
    if (!error) {
        error = consumer_pass(consumer, true);
    }
    return error ? target_failed(error) : dtrace_trace_finish_program(c, consumer);
}

/* ---- a capture ---------------------------------------------------------------------- */

/* Executes a pass whenever the buffers want it. What may be missing is reported after the output,
 * and is a failure. */
static int consume_capture(struct command *c, struct consumer *consumer)
{
    const struct target_ops *ops = c->target->ops;
    bool more = true;
    int error = 0;

    if (dtrace_trace_start_program(c, consumer) != 0) {
        return 1;
    }
    while (more && !error && !dtrace_trace_nsignals && !consumer->write_error &&
           !consumer_is_over(consumer)) {
        more = ops->feed(c->target);
        consumer->agg_due = consumer->switch_due = 0;
        error = consumer_pass(consumer, false);
    }
    error = error ? error : ops->stop(c->target, &consumer->end_cpu);
    error = error ? error : consumer_pass(consumer, true);
    int status = error ? target_failed(error) : dtrace_trace_finish_program(c, consumer);
    bool missing = ops->report(c->target);
    if (c->sink) {
        c->sink->end(c->sink->arg, consumer, missing || error);
    }
    return missing && status == 0 ? 1 : status;
}

/* ---- -x log=1 ----------------------------------------------------------------------- */

/* Executes passes as dtrace_trace_run_passes() does, but the target takes the records. Those that
 * find no room in the log are left for the next pass. The end of -c's program is followed by one
 * more pass. Returns 0, or a negative errno; -ECANCELED: the event log has ended. */
static int follow_log(struct command *c, uint32_t *pass, struct dtrace_status *status)
{
    const struct target_ops *ops = c->target->ops;
    struct consumer watching = {.last.state = DTRACE_STATE_ACTIVE};
    int error = 0;

    while (!dtrace_trace_nsignals && !error && !consumer_is_over(&watching) &&
           !command_child_ended(c)) {
        int result = ops->log_pass(c->target, ++*pass, 0, status);
        error = result == -EAGAIN ? ops->status(c->target, status) : result < 0 ? result : 0;
        watching.last = *status;
        uint64_t until = dtrace_trace_monotonic_now() + pass_interval(c->session),
                 at = dtrace_trace_monotonic_now();
        while (!error && !consumer_is_over(&watching) && at < until && !dtrace_trace_nsignals &&
               !command_child_ended(c)) {
            ops->wait(c->target, until - at < SLICE ? until - at : SLICE);
            error = ops->status(c->target, &watching.last);
            at = dtrace_trace_monotonic_now();
        }
    }
    return error;
}

/* Stops the program and logs what is left. Waits for room in the log: for the notes, so that END's
 * records find room then, and until a last pass is complete. Returns 0, or 1. */
static int finish_log(struct command *c, struct consumer *consumer, uint32_t pass,
                      struct dtrace_status *status)
{
    unsigned flags = DTRACE_LOG_LAST | (dtrace_trace_nsignals ? DTRACE_LOG_INTERRUPTED : 0);
    const struct target_ops *ops = c->target->ops;
    int error = ops->log_end(c->target), result = 0;

    if (error && error != -ECANCELED) {
        return target_failed(log_failed(c, error));
    }
    error = ops->stop(c->target, &consumer->end_cpu);
    if (error) {
        return target_failed(error);
    }
    for (unsigned i = 0; (result == 0 || result == -EAGAIN) && i < TRIES; i++) {
        if (i) {
            nanosleep(&(struct timespec){0, NAP}, NULL);
        }
        result = ops->log_pass(c->target, ++pass, flags, status);
    }
    if (result == -ECANCELED) {
        fputs("dtrace: log=1: the event log has ended before the program\n", stderr);
    } else if (result <= 0) {
        log_failed(c, result == 0 || result == -EAGAIN ? -ENOSPC : result);
        return 1;
    }
    return 0;
}

/* The target's kernel puts the records into its event log; this consumer only requests the passes,
 * and stops the program when it is over. `kymo dtrace -r` prints the records. */
static int consume_into_log(struct command *c, struct consumer *consumer)
{
    struct dtrace_status status = {0};
    uint32_t pass = 0;

    if (dtrace_trace_start_log(c) != 0 || dtrace_trace_start_program(c, consumer) != 0) {
        return 1;
    }
    int error = follow_log(c, &pass, &status);
    if (error && error != -ECANCELED) { /* the last pass reports an ended log */
        return target_failed(error);
    }
    if (finish_log(c, consumer, pass, &status) != 0) {
        return 1;
    }
    return status.exited ? status.exit_status & 0xff : 0;
}

/* ---- -r ----------------------------------------------------------------------------- */

/* A pass with more records than one answer holds comes in parts. */
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

/* Executes each pass that was logged, as a live consumer would have. */
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
    int status = dtrace_trace_finish_program(c, consumer);
    replay_report(r);
    return status;
}

int command_trace(struct command *c, const void *image, size_t size)
{
    struct consumer consumer = {.printer.out = c->out, .sink = c->sink};
    int status;

    command_catch_signals(true);
    output_catch_signals(true);
    status = command_enable(c, &consumer, image, size);
    if (!status) {
        status = c->replay                         ? replay_passes(c, &consumer)
                 : dt_option_on(c->session, "log") ? consume_into_log(c, &consumer)
                 : c->target->ops->feed            ? consume_capture(c, &consumer)
                                                   : dtrace_trace_consume_buffers(c, &consumer);
    }
    command_drop_child(c);
    consumer_free(&consumer);
    return status;
}
