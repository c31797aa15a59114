/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print's loop over the events, and --follow: while the capture grows, events come out in
 * order of time as long as every CPU has something; when it has not grown for a while, all there
 * is.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "host/print/print.h"

#define POLL_MS 50
#define QUIET_POLLS \
    6 /* polls without growth until what is there is printed regardless of order \
       */
#define PROGRESS_EVENTS 65536

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

static void interrupts_take(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: polls end */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

enum kev_result print_events(struct print *print, struct kev *kev, struct kev_error *error)
{
    struct kev_event event;
    enum kev_result result;

    while ((result = kev_next(kev, &event, error)) == KEV_EVENT) {
        print->style.index = print->events++;
        if (print->style.index == 0) {
            print->style.first = event.time;
        }
        if (print->events % PROGRESS_EVENTS == 0) {
            kymo_progress("printing", event.offset, kev_info(kev)->size);
        }
        if (print->symbols != NULL) {
            symbols_follow(print->symbols, &event);
        }
        if (!kymo_class_wanted(&print->classes, &event)) {
            continue;
        }
        line_event(print->out, kev, &event, &print->style);
        if (print->out->error != 0 || interrupted) {
            return KEV_END;
        }
    }
    return result;
}

/* What goes wrong is said when it is printed. */
void print_learn(const struct print *print)
{
    struct kev_options options = {.recover = print->recover};
    struct kev_error error;
    struct kev_event event;
    struct kev *kev = strcmp(print->input, "-") == 0 || print->follow
                          ? NULL
                          : kev_open(print->input, &options, &error);

    while (kev != NULL && kev_next(kev, &event, &error) == KEV_EVENT) {
        symbols_learn(print->symbols, &event);
    }
    if (kev != NULL) {
        kev_close(kev);
    }
}

static void wait_a_little(void)
{
    poll(NULL, 0, POLL_MS);
}

enum kev_result print_follow(struct print *print, struct kev *kev, struct kev_error *error)
{
    unsigned quiet = 0;
    bool ended = false;

    while (!interrupted && print->out->error == 0) {
        int found = kev_refresh(kev, &ended, error);
        enum kev_result result;

        if (found < 0) {
            return KEV_ERROR;
        }
        quiet = found > 0 ? 0 : quiet + 1;
        kev_hold(kev, quiet < QUIET_POLLS && !ended);
        result = print_events(print, kev, error);
        out_flush(print->out);
        if (result == KEV_ERROR || ended) {
            return result;
        }
        wait_a_little();
    }
    return KEV_END;
}

struct kev *print_open(struct print *print, struct kev_error *error)
{
    struct kev_options options = {.recover = print->recover,
                                  .follow = print->follow,
                                  .cpus = print->cpus,
                                  .progress = kymo_progress,
                                  .progress_arg = (void *)"reading"};
    struct kev *kev;

    if (print->follow) {
        interrupts_take();
    }
    kev = kev_open(print->input, &options, error);

    while (kev == NULL && print->follow && error->incomplete && !interrupted &&
           strcmp(print->input, "-") != 0) {
        wait_a_little();
        kev = kev_open(print->input, &options, error);
    }
    return kev;
}
