/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo why: for an interval of a thread the chain of causes: what it waited for, who held it or ran
 * instead, back to the interrupt or message that began it. kymo-why(1), docs/guide/why.md.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kymo.h"
#include "host/life.h"
#include "host/verify/verify.h"
#include "host/when.h"
#include "host/why/why.h"

#define MOST_RANKED 1000

static const char why_help[] =
    "Usage: kymo why [options] --thread THREAD --at TIME FILE\n"
    "       kymo why [options] --thread THREAD --from TIME --to TIME FILE\n"
    "       kymo why [options] --slowest N | --waits N FILE\n"
    "\n"
    "Shows why a thread was not done earlier: what it waited for, who held that or\n"
    "ran instead, with priorities, and which interrupt or thread began it. FILE - is\n"
    "standard input.\n"
    "\n"
    "  --thread T   a thread: PID:TID, its name, PROCESS/NAME, or the process's name\n"
    "               if it has one thread only\n"
    "               PID:TID@2 is the second thread that had these numbers\n"
    "  --at TIME    what it did then: the wait it was in, or how it came to run\n"
    "  --from TIME --to TIME   all of this time\n"
    "  --slowest N  the N messages that took longest from send to reply\n"
    "  --waits N    the N longest waits for a CPU, a server or an object; with --thread\n"
    "               both show only those of the thread\n"
    "  --all        print all stretches, however short\n"
    "  --json       for programs: one JSON object a line, times in nanoseconds\n"
    "  --recover    read the undamaged parts of a damaged file\n"
    "  -h, --help   print this text\n"
    "\n"
    "TIME: 1.25, 1250ms since the capture's start, or 0x... cycles as kymo print has.\n"
    "Exit status: 0 success, 1 failure, 2 usage error.\n";

struct request {
    const char *input, *thread;
    struct kymo_when at, from, to;
    unsigned slowest, waits;
    bool json, all, recover;
};

enum {
    OPT_THREAD = 256,
    OPT_AT,
    OPT_FROM,
    OPT_TO,
    OPT_SLOWEST,
    OPT_WAITS,
    OPT_ALL,
    OPT_JSON,
    OPT_RECOVER
};

static const struct option why_options[] = {
    {"thread", required_argument, NULL, OPT_THREAD},
    {"at", required_argument, NULL, OPT_AT},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"slowest", required_argument, NULL, OPT_SLOWEST},
    {"waits", required_argument, NULL, OPT_WAITS},
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ---- options ----------------------------------------------------------------------- */

static int when_parse(const char *option, struct kymo_when *when)
{
    return kymo_parse_when(optarg, when) == 0
               ? -1
               : kymo_usage("why", "why: %s: %s is not a time; 1.25, 1250ms or 0x... are", option,
                            optarg);
}

static int why_count_parse(const char *option, unsigned *count)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(optarg, &end, 10);
    if (errno != 0 || *end != '\0' || optarg[0] < '0' || optarg[0] > '9' || value < 1 ||
        value > MOST_RANKED) {
        return kymo_usage("why", "why: %s: a number from 1 to %d", option, MOST_RANKED);
    }
    *count = (unsigned)value;
    return -1;
}

/* Returns the exit status, -1 to continue. */
static int option_take(struct request *request, int argc, char **argv, int option)
{
    switch (option) {
    case 'h':
        return kymo_help(&kymo_why_command);
    case OPT_THREAD:
        request->thread = optarg;
        return -1;
    case OPT_AT:
        return when_parse("--at", &request->at);
    case OPT_FROM:
        return when_parse("--from", &request->from);
    case OPT_TO:
        return when_parse("--to", &request->to);
    case OPT_SLOWEST:
        return why_count_parse("--slowest", &request->slowest);
    case OPT_WAITS:
        return why_count_parse("--waits", &request->waits);
    case OPT_ALL:
        request->all = true;
        return -1;
    case OPT_JSON:
        request->json = true;
        return -1;
    case OPT_RECOVER:
        request->recover = true;
        return -1;
    default:
        return kymo_bad_option("why", why_options, argc, argv, option);
    }
}

static int request_check(const struct request *request)
{
    bool range = request->from.given || request->to.given;
    unsigned ways = (request->slowest > 0) + (request->waits > 0) + request->at.given + range;

    if (ways != 1) {
        return kymo_usage("why", ways == 0 ? "why: when? --at, --from and --to, --slowest or "
                                             "--waits says it"
                                           : "why: one of --at, --from and --to, --slowest, "
                                             "--waits");
    }
    if (range && (!request->from.given || !request->to.given)) {
        return kymo_usage("why", "why: --from and --to go together");
    }
    if (request->thread == NULL && (request->at.given || range)) {
        return kymo_usage("why", "why: which thread? --thread NAME or PID:TID says it");
    }
    return -1;
}

static int why_options_parse(struct request *request, int argc, char **argv)
{
    int option, status = -1;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", why_options, NULL)) != -1) {
        status = option_take(request, argc, argv, option);
        if (status >= 0) {
            return status;
        }
    }
    if (optind + 1 != argc) {
        return optind == argc ? kymo_usage("why", "why: which capture?")
                              : kymo_usage("why", "why: one capture at a time");
    }
    request->input = argv[optind];
    return request_check(request);
}

/* ---- which thread ------------------------------------------------------------------ */

static bool thread_matches(const struct timeline_thread *thread, const char *text)
{
    const char *process = thread->process == NULL ? "" : thread->process;
    size_t length = strlen(process);
    int32_t pid, tid;
    uint32_t life;

    if (life_parse(text, &pid, &tid, &life)) {
        return thread->pid == pid && thread->tid == tid && (life == 0 || thread->life == life);
    }
    if (thread->name != NULL && strcmp(thread->name, text) == 0) {
        return true;
    }
    if (length > 0 && strncmp(process, text, length) == 0) {
        return text[length] == '\0' || (text[length] == '/' && thread->name != NULL &&
                                        strcmp(thread->name, text + length + 1) == 0);
    }
    return false;
}

/* The thread of that name that lives between the two times. TIMELINE_NONE: a message says why. */
static uint32_t why_thread_find(const struct timeline *timeline, const struct request *request,
                                int64_t from, int64_t to)
{
    uint32_t found = TIMELINE_NONE, elsewhere = TIMELINE_NONE;

    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        const struct timeline_thread *thread = &timeline->threads[i];

        if (!thread_matches(thread, request->thread)) {
            continue;
        }
        if (thread->from > to || thread->to < from) {
            elsewhere = i;
            continue;
        }
        if (found != TIMELINE_NONE) {
            const struct timeline_thread *first = &timeline->threads[found];

            kymo_error("%s: several threads are called %s then: %" PRId32 ":%" PRId32 "@%" PRIu32
                       ", %" PRId32 ":%" PRId32 "@%" PRIu32
                       " ...; --thread PID:TID@N picks one, the N-th that had these numbers",
                       request->input, request->thread, first->pid, first->tid, first->life,
                       thread->pid, thread->tid, thread->life);
            return TIMELINE_NONE;
        }
        found = i;
    }
    if (found == TIMELINE_NONE && elsewhere != TIMELINE_NONE) {
        kymo_error("%s: nothing is known of thread %s then: its events are from %.6f to %.6f s",
                   request->input, request->thread, (double)timeline->threads[elsewhere].from / 1e9,
                   (double)(timeline->threads[elsewhere].to < timeline->to
                                ? timeline->threads[elsewhere].to
                                : timeline->to) /
                       1e9);
    } else if (found == TIMELINE_NONE) {
        kymo_error("%s: there is no thread %s; kymo stat --all lists them", request->input,
                   request->thread);
    }
    return found;
}

static int64_t why_ns_of(const struct timeline *timeline, const struct kymo_when *when)
{
    const struct kev_facts *facts = kev_capture_facts(timeline->capture);

    return kymo_when_ns(kymo_when_cycles(when, facts->start, facts->cycles_per_second),
                        facts->start, facts->cycles_per_second);
}

/* ---- answers ----------------------------------------------------------------------- */

static bool why_answer_thread(const struct request *request, const struct timeline *timeline,
                              uint32_t thread, int64_t from, int64_t to)
{
    struct why why;
    bool good = why_path(&why, timeline, thread, from, to);

    if (!good) {
        kymo_error("%s: out of memory; ask for a shorter time", request->input);
    } else if (request->json) {
        why_json(&why);
    } else {
        why_text(&why, request->all);
    }
    why_free(&why);
    return good;
}

/* The wait that the thread was in and what came before it ran, or all since it was READY. */
static bool answer_at(const struct request *request, const struct timeline *timeline)
{
    int64_t ns = why_ns_of(timeline, &request->at);
    uint32_t thread = why_thread_find(timeline, request, ns, ns), at, first, count;
    const struct timeline_span *span;
    int64_t to;

    if (thread == TIMELINE_NONE) {
        return false;
    }
    span = timeline_span_at(timeline, thread, ns);
    if (span == NULL) {
        kymo_error("%s: nothing tells what thread %s did at %.6f s", request->input,
                   request->thread, (double)ns / 1e9);
        return false;
    }
    at = timeline_span_find(timeline, thread, ns);
    count = timeline->threads[thread].count;
    first = at;
    to = span->to;
    if (span->state == STATE_RUNNING || span->state == STATE_READY) {
        while (first > 0 &&
               timeline_span(timeline, thread, first)->cause != TIMELINE_CAUSE_THREAD &&
               timeline_span(timeline, thread, first)->cause != TIMELINE_CAUSE_INTERRUPT &&
               timeline_span(timeline, thread, first - 1)->state <= STATE_READY) {
            first--;
        }
    } else {
        while (span->state != TIMELINE_UNKNOWN && at + 1 < count &&
               timeline_span(timeline, thread, at + 1)->state == STATE_READY) {
            to = timeline_span(timeline, thread, ++at)->to;
        }
    }
    return why_answer_thread(request, timeline, thread,
                             timeline_span(timeline, thread, first)->from, to);
}

struct ranked {
    uint32_t thread;
    int64_t from, to;
    uint32_t message; /* TIMELINE_NONE: it is a wait */
};

/* Among the longest `most`, if it is one: the longest first, of equal ones the earlier. */
static void ranked_add(struct ranked *all, unsigned *n, unsigned most, const struct ranked *more)
{
    unsigned at = *n;

    if (at == most && more->to - more->from <= all[at - 1].to - all[at - 1].from) {
        return;
    }
    *n += at < most;
    for (at = *n - 1; at > 0 && more->to - more->from > all[at - 1].to - all[at - 1].from; at--) {
        all[at] = all[at - 1];
    }
    all[at] = *more;
}

static bool why_is_shown(const struct request *request, const struct timeline *timeline,
                         uint32_t thread)
{
    return thread != TIMELINE_NONE && !timeline->threads[thread].idle &&
           (request->thread == NULL || thread_matches(&timeline->threads[thread], request->thread));
}

/* Returns whether the capture ends before a message's reply has come, if one ever does. */
static bool is_waited_for(const struct timeline *timeline, uint32_t message)
{
    uint32_t client = timeline->messages[message].client;
    const struct timeline_thread *thread = &timeline->threads[client];
    const struct timeline_span *last =
        thread->count == 0 ? NULL : timeline_span(timeline, client, thread->count - 1);

    return last != NULL && last->to == timeline->to && last->other == message &&
           (last->state == STATE_SEND || last->state == STATE_REPLY);
}

static unsigned messages_rank(const struct request *request, const struct timeline *timeline,
                              struct ranked *all)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < timeline->nmessages; i++) {
        const struct timeline_message *message = &timeline->messages[i];

        int64_t to = message->replied;

        if (!why_is_shown(request, timeline, message->client)) {
            continue;
        }
        if (to == KEV_NEVER && is_waited_for(timeline, i)) {
            to = timeline->to;
        }
        if (to != KEV_NEVER) {
            ranked_add(all, &n, request->slowest,
                       &(struct ranked){message->client, message->sent, to, i});
        }
    }
    return n;
}

static unsigned waits_rank(const struct request *request, const struct timeline *timeline,
                           struct ranked *all)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < timeline->nspans; i++) {
        const struct timeline_span *span = &timeline->spans[i];

        if (why_is_shown(request, timeline, span->thread) &&
            (span->state == STATE_READY || span->state == STATE_MUTEX || span->state == STATE_SEM ||
             span->state == STATE_CONDVAR || span->state == STATE_SEND ||
             span->state == STATE_REPLY)) {
            ranked_add(all, &n, request->waits,
                       &(struct ranked){span->thread, span->from, span->to, TIMELINE_NONE});
        }
    }
    return n;
}

static bool answer_ranked(const struct request *request, const struct timeline *timeline)
{
    unsigned most = request->slowest + request->waits, n;
    struct ranked *all = calloc(most, sizeof(*all));
    bool good = all != NULL;

    if (!good) {
        kymo_error("out of memory");
        return false;
    }
    n = request->slowest > 0 ? messages_rank(request, timeline, all)
                             : waits_rank(request, timeline, all);
    if (n == 0) {
        kymo_error("%s: %s", request->input,
                   request->slowest > 0 ? "no message of which sending and reply are known"
                                        : "no wait for a CPU, a server or an object is known");
        good = false;
    }
    for (unsigned i = 0; i < n && good; i++) {
        if (!request->json) {
            printf("%s%s %u of %u\n", i == 0 ? "" : "\n",
                   request->slowest > 0 ? "Slowest message" : "Longest wait", i + 1, n);
        }
        good = why_answer_thread(request, timeline, all[i].thread, all[i].from, all[i].to);
    }
    free(all);
    return good;
}

static bool answer_range(const struct request *request, const struct timeline *timeline)
{
    int64_t from = why_ns_of(timeline, &request->from), to = why_ns_of(timeline, &request->to);
    uint32_t thread;

    if (from >= to) {
        kymo_error("why: --from must be before --to");
        return false;
    }
    thread = why_thread_find(timeline, request, from, to);
    return thread != TIMELINE_NONE && why_answer_thread(request, timeline, thread, from, to);
}

static int timeline_answer(const struct request *request, const struct timeline *timeline)
{
    bool good;

    if (timeline->outcome == KEV_FAILED) {
        kymo_error("%s", timeline->fault);
        return KYMO_FAILURE;
    }
    if (timeline->doubt != NULL) {
        kymo_error("%s: %s", request->input, timeline->doubt);
    }
    good = request->at.given     ? answer_at(request, timeline)
           : request->from.given ? answer_range(request, timeline)
                                 : answer_ranked(request, timeline);
    good &= verify_end_capture(timeline->capture, timeline->outcome, true) == KYMO_OK;
    return kymo_stdout_end(good ? KYMO_OK : KYMO_FAILURE);
}

static int why_main(int argc, char **argv)
{
    struct request request = {0};
    int status = why_options_parse(&request, argc, argv);
    struct kev_capture *capture;
    struct timeline *timeline = NULL;

    if (status >= 0) {
        return status;
    }
    capture = kev_capture_new();
    if (capture == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    status = KYMO_FAILURE;
    if ((request.recover && kev_capture_set_recover(capture, 1) < 0) ||
        kev_capture_open(capture, request.input) < 0) {
        verify_refuse_fault(kev_capture_fault(capture));
    } else {
        timeline = timeline_new(capture, kymo_progress, (void *)"reading");
        kymo_progress_end();
        if (timeline == NULL) {
            kymo_error("out of memory");
        } else {
            status = timeline_answer(&request, timeline);
        }
    }
    timeline_free(timeline);
    kev_capture_free(capture);
    return status;
}

const struct kymo_command kymo_why_command = {
    .name = "why",
    .summary = "show what a thread waited for, and who began it",
    .run = why_main,
    .help = why_help,
};
