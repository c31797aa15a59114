/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view -t: a thread does what `kymo capture` does, so data that the target learns is safe is
 * on the disk; it reports when a capture begins, and the main thread shows the part that has come.
 * A snapshot is made of all that has come, at most a quarter of the time, so a longer recording is
 * shown less often. If the link breaks it is tried again. Proof: test/host/view/live.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/link/cmd.h"
#include "host/link/store.h"
#include "host/reader/kev.h"
#include "host/temporary.h"
#include "host/view/view.h"

#define LOOK_MS 250
#define TICK_LOOKS 20
#define LEAST_BYTES 16384 /* that have come since the previous snapshot */
#define SHARE 3           /* so much longer than a snapshot took nothing is read */
#define WAIT_MOST 8       /* seconds between two tries */

struct live {
    struct store store; /* of the thread that records */
    const char *target, *name;
    pthread_t thread;
    pthread_mutex_t lock;
    int coming;     /* under the lock: a descriptor of a capture that isn't looked at yet, or -1 */
    unsigned begun; /* captures, of the thread that records */
    atomic_bool ended;
    int status;
    int fd; /* of the capture that is shown, closed by this side only; -1: none */
    struct server *server;
    const struct report *asked;
    bool no_symbols; /* --symbols are of another build, which has been said */
    uint64_t shown;  /* bytes */
    int64_t next;    /* ms: not before */
    bool complete;   /* the last snapshot has all of it */
};

static struct live *view_live_recorded; /* the store's functions have no argument */

/* ---- the thread that records --------------------------------------------------------- */

/* A descriptor for the other side, which takes it; one that it has not taken is stale. */
static void capture_opened(const struct store *store)
{
    struct live *live = view_live_recorded;

    pthread_mutex_lock(&live->lock);
    if (live->coming >= 0) {
        close(live->coming);
    }
    live->coming = fcntl(store->file.fd, F_DUPFD_CLOEXEC, 0);
    live->begun++;
    pthread_mutex_unlock(&live->lock);
}

static void capture_placed(const struct store *store, bool is_whole)
{
    (void)is_whole;
    if (store->is_passing) {
        unlink(store->path);
    }
}

static void view_live_print_message(struct live *live, const char *what)
{
    char text[400];

    snprintf(text, sizeof(text), "%.300s: %s", live->target, what);
    server_say(live->server, -1, text);
}

static void *view_live_record_thread(void *arg)
{
    struct live *live = arg;
    unsigned wait = 1;

    do {
        live->status = cmd_capture(live->target, &live->store, 1);
        if (live->store.stored > 0 || cmd_interrupted || live->begun == 0) {
            break; /* at first a target that isn't there is an error */
        }
        view_live_print_message(live, "the link is lost; it is tried again");
        for (unsigned i = 0; i < 10 * wait && !cmd_interrupted; i++) {
            poll(NULL, 0, 100);
        }
        wait = 2 * wait > WAIT_MOST ? WAIT_MOST : 2 * wait;
    } while (!cmd_interrupted);
    atomic_store(&live->ended, true);
    return NULL;
}

/* ---- what is shown -------------------------------------------------------------------- */

static int64_t view_live_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void view_live_show_progress(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)done;
    (void)total;
}

/* Reads the capture's file in place, as far as it has come. kev_interrupted ends it. */
static void snapshot_show(struct live *live, size_t bytes, bool complete)
{
    int64_t began = view_live_now_ms();
    struct report report = *live->asked;
    struct snapshot *snapshot;

    report.input = report.name = live->name;
    report.by_descriptor = true;
    report.descriptor = live->fd;
    report.grows = !complete;
    report.progress = view_live_show_progress;
    report.nsymbols = live->no_symbols ? 0 : report.nsymbols;
    report.no_symbols = &live->no_symbols;
    snapshot = snapshot_new(&report);

    if (snapshot != NULL && (complete || snapshot_events(snapshot) > 0)) {
        server_show(live->server, snapshot, !complete);
        view_live_print_message(live, complete ? "the recording is complete" : "recording");
    } else {
        snapshot_free(snapshot);
        if (complete && !cmd_interrupted) { /* snapshot_new() has said why */
            kymo_error("%s: the end of the recording cannot be shown", live->target);
            server_show_no_more(live->server);
            view_live_print_message(
                live, "the recording has ended, but its end cannot be shown; the command says why");
        }
    }
    live->shown = bytes;
    live->next = view_live_now_ms() + SHARE * (view_live_now_ms() - began);
}

/* The capture that began most recently; after a break of the link, another one. */
static void capture_take(struct live *live)
{
    int coming;

    pthread_mutex_lock(&live->lock);
    coming = live->coming;
    live->coming = -1;
    pthread_mutex_unlock(&live->lock);
    if (coming >= 0) {
        if (live->fd >= 0) {
            close(live->fd);
        }
        live->fd = coming;
        live->shown = 0;
    }
}

static void view_live_look_for_captures(struct live *live)
{
    bool complete = atomic_load(&live->ended); /* first: then no other capture comes */
    struct stat st;

    capture_take(live);
    if (live->fd < 0 || live->complete || fstat(live->fd, &st) != 0 || st.st_size == 0) {
        return;
    }
    if (complete ||
        ((uint64_t)st.st_size >= live->shown + LEAST_BYTES && view_live_now_ms() >= live->next)) {
        snapshot_show(live, (size_t)st.st_size, complete);
        live->complete = complete;
    }
}

/* ---- the whole ------------------------------------------------------------------------ */

static int live_run(struct live *live, bool browse)
{
    unsigned looks = 0;
    bool any;

    if (pthread_create(&live->thread, NULL, view_live_record_thread, live) != 0) {
        kymo_error("view: cannot start a thread");
        return KYMO_FAILURE;
    }
    view_begin(live->server, browse);
    while (!cmd_interrupted && !(atomic_load(&live->ended) && live->begun == 0)) {
        view_live_look_for_captures(live);
        poll(NULL, 0, LOOK_MS);
        if (++looks % TICK_LOOKS == 0) {
            server_tick(live->server);
        }
    }
    pthread_join(live->thread, NULL);
    any = live->begun > 0;
    capture_take(live);
    if (live->fd >= 0) {
        close(live->fd);
    }
    /* Ended by the user before the recording was: what there is has been kept, and said. */
    return any ? KYMO_OK : live->status;
}

int view_live(const struct report *asked, const char *target, const char *output, bool force,
              unsigned port, bool browse)
{
    static struct live live;
    char path[256];
    int fd = -1, status;

    live.store = (struct store){
        .output = output, .force = force, .opened = capture_opened, .placed = capture_placed};
    live.target = target;
    live.asked = asked;
    live.name = output == NULL ? target : output;
    live.fd = live.coming = -1;
    pthread_mutex_init(&live.lock, NULL);
    view_live_recorded = &live;
    kev_interrupted = &cmd_interrupted;
    kev_progress = NULL; /* the page shows how it goes on */
    cmd_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    if (output == NULL) {
        fd = temporary_file("view", path, sizeof(path));
        if (fd < 0) {
            kymo_error("%s: %s", temporary_place(), strerror(errno));
            return KYMO_FAILURE;
        }
        close(fd);
        live.store.output = path;
        live.store.force = live.store.is_passing = true;
    }
    live.server = store_check(&live.store) == 0 ? server_new(port, NULL, true) : NULL;
    if (live.server == NULL) {
        status = KYMO_FAILURE;
    } else {
        view_live_print_message(&live, "waiting for a recording (tracelogger -f link:NAME)");
        status = live_run(&live, browse);
    }
    server_free(live.server);
    if (output == NULL) {
        unlink(path);
    }
    return status;
}
