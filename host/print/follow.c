/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print's loop over the events, and --follow.
 *
 * While a capture grows, the buffers of its CPUs arrive at different times, so the earliest event
 * in the file need not be the next one: a CPU that has nothing new may still deliver an earlier
 * event. An event waits for such CPUs, at least as long as --wait says and at most twice as long,
 * counted from when it was seen in the file; then it is printed. Events that arrive even later are
 * printed out of order, and counted. The end of a pipe and an interrupt end all waiting. Tested by
 * test/host/reader/reader_test.c and test/host/check.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "host/print/print.h"
#include "host/print/row.h"
#include "host/print/symbols.h"
#include "host/verify/verify.h"

#define POLL_MS 50
#define PROGRESS_EVENTS 65536
#define MILLISECONDS_HZ 1000

static volatile sig_atomic_t print_follow_interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    print_follow_interrupted = 1;
}

enum kev_result print_events(struct print *print, struct kev *kev, struct kev_error *error)
{
    void (*const event_print)(struct out *, const struct kev *, const struct kev_event *,
                              const struct line_style *) = print->shape == PRINT_JSON  ? json_event
                                                           : print->shape == PRINT_CSV ? csv_event
                                                                                       : line_event;
    struct kev_event event;
    enum kev_result result;

    while ((result = kev_next(kev, &event, error)) == KEV_EVENT) {
        if (print->events == 0) {
            print->style.first = kev_info(kev)->start;
            kymo_select_bind_times(&print->select, kev);
        }
        /* In captures of other kernels times may be out of order. */
        if (event.time >= print->select.end && kev_info(kev)->kymo &&
            print->select.end != UINT64_MAX) {
            print->past = true;
            return KEV_END;
        }
        print->style.index = print->events++;
        count_event(&print->count, event.class, event.injected);
        print->late += event.time < print->last;
        print->last = event.time > print->last ? event.time : print->last;
        if (print->events % PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"printing", event.offset, kev_info(kev)->size);
        }
        if (print->symbols.symbols != NULL) {
            print_symbols_follow(&print->symbols, &event);
        }
        if (print->owners != NULL) {
            print->style.owner = owners_follow(print->owners, &event);
        }
        if (!kymo_select_event(&print->select, &event, &print->style.owner, print->owners)) {
            continue;
        }
        event_print(print->out, kev, &event, &print->style);
        if (print->out->error != 0) {
            return KEV_END;
        }
    }
    return result;
}

/* Faults of the file are reported when the events are printed. */
bool print_learn(struct print *print, struct kev *kev)
{
    struct kev_error error = {0};
    struct kev_event event;

    if (print->follow || (print->symbols.symbols == NULL && print->owners == NULL)) {
        return true;
    }
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        if (print->symbols.symbols != NULL) {
            symbols_learn(print->symbols.symbols, &event);
        }
        if (print->owners != NULL) {
            owners_learn(print->owners, &event);
        }
        kymo_select_learn(&print->select, &event);
        kymo_progress((void *)"looking for names", event.offset, kev_info(kev)->size);
    }
    if (print->owners != NULL) {
        owners_begin(print->owners);
    }
    if (error.no_memory) {
        verify_refuse(&error);
    }
    kev_rewind(kev);
    return !error.no_memory;
}

static void wait_a_little(void)
{
    poll(NULL, 0, POLL_MS);
}

/* ---- how long events wait for CPUs that have nothing new --------------------------- */

static uint64_t print_follow_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Data that has been in the file for the limit is printed in any case. */
enum kev_result print_follow(struct print *print, struct kev *kev, struct kev_error *error)
{
    uint64_t limit = kymo_when_cycles(&print->wait, 0, MILLISECONDS_HZ);
    uint64_t since = print_follow_now_ms(); /* when `newer` was taken */
    uint64_t older = 0, newer = 0;          /* sizes of the file */
    bool ended = false;

    for (;;) {
        bool last = print_follow_interrupted;
        enum kev_result result;

        if (kev_refresh(kev, &ended, error) < 0) {
            return KEV_ERROR;
        }
        last |= ended;
        uint64_t now = print_follow_now_ms();
        if (!last && now - since >= limit) {
            older = limit == 0 ? kev_info(kev)->size : newer;
            newer = kev_info(kev)->size;
            since = now;
        }
        kev_hold(kev, last ? KEV_HOLD_NONE : older);
        result = print_events(print, kev, error);
        out_flush(print->out);
        if (result == KEV_ERROR || last || print->past || print->out->error != 0) {
            return result;
        }
        wait_a_little();
    }
}

struct kev *print_open(struct print *print, struct kev_error *error)
{
    struct kev_options options = {.recover = print->recover,
                                  .follow = print->follow,
                                  .cpus = print->owners_wanted ? 0 : print->select.cpus,
                                  .progress = kymo_progress,
                                  .progress_arg = (void *)"reading"};
    /* A second interrupt ends the process, however much is still to be printed. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    struct kev *kev;

    if (print->follow) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    kev = kev_open(print->input, &options, error);

    while (kev == NULL && print->follow && error->incomplete && !print_follow_interrupted &&
           strcmp(print->input, "-") != 0) {
        wait_a_little();
        kev = kev_open(print->input, &options, error);
    }
    return kev;
}
