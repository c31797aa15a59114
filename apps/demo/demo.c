/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo: the workload of `make demo`: starts the other programs of this folder at their priorities,
 * waits for them and ends: about three seconds of the machine's time. Status 0 if all succeeded
 * (the intended crash must end by a signal). `demo [-r [TURNS]] [xTIMES]`: -r repeats it, TURNS
 * times or until it fails; xTIMES runs it that many times as fast.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/trace.h>
#include <unistd.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

#define THREADS_HEAP 32768

struct job {
    int priority, policy;
    bool crashes;
    uint32_t heap; /* 0: the default; threads' stacks need more on Cortex-M */
    char *argv[6];
};

static char *demo_speed; /* xTIMES, of all programs; NULL: the default */

static struct job demo_jobs[] = {
    {20, SCHED_FIFO, false, 0, {"sensor", "250"}},
    {18, SCHED_RR, false, 0, {"client", "fast", "150", "10"}},
    {14, SCHED_RR, false, 0, {"client", "middle", "80", "20"}},
    {9, SCHED_RR, false, 0, {"client", "slow", "40", "45"}},
    {13, SCHED_RR, false, THREADS_HEAP, {"workers"}},
    {12, SCHED_RR, false, THREADS_HEAP, {"pipeline"}},
    {12, SCHED_FIFO, false, THREADS_HEAP, {"inversion"}},
    {8, SCHED_RR, false, THREADS_HEAP, {"spinner", "1500"}},
    {10, SCHED_RR, true, 0, {"crash", "null_write"}},
};
#define JOBS (sizeof(demo_jobs) / sizeof(demo_jobs[0]))
static int demo_pids[JOBS];

static int demo_start_job(char *const argv[], int priority, int policy, uint32_t heap)
{
    struct kymo_spawn_attr attr = {.priority = priority, .policy = policy, .heap_size = heap};
    char *with_speed[7] = {NULL};

    for (size_t i = 0; argv[i]; i++) {
        with_speed[i] = argv[i];
        with_speed[i + 1] = demo_speed;
    }
    int pid = kymo_spawn(argv[0], with_speed, &attr);

    if (pid < 0) {
        printf("demo: %s: %s\n", argv[0],
               errno == EPERM ? "it needs the ability spawn" : strerror(errno));
    }
    return pid;
}

static bool wait_for_name(const char *name)
{
    struct kymo_name found;

    for (int i = 0; i < 200; i++) {
        if (NameLookup(name, &found) == 0) {
            return true;
        }
        usleep(5000);
    }
    printf("demo: no server has attached the name %s\n", name);
    return false;
}

static bool demo_finish_job(size_t i)
{
    int status = 0;

    if (demo_pids[i] < 0 || ProcWait(demo_pids[i], &status, 0) < 0) {
        return false;
    }
    bool good = demo_jobs[i].crashes ? KYMO_STATUS_SIGNAL(status) != 0 : status == 0;
    if (!good) {
        printf("demo: %s: status 0x%x\n", demo_jobs[i].argv[0], (unsigned)status);
    }
    return good;
}

static bool stop_filter(int pid)
{
    struct filter_msg msg = {FILTER_STOP, 0, 0};
    int status = -1;
    int coid = name_open(FILTER_NAME, 0);
    bool good = coid >= 0 && MsgSend(coid, &msg, sizeof(msg), NULL, 0) == 0 &&
                ProcWait(pid, &status, 0) == pid && status == 0;

    /* Closed each time, as the demo may repeat: a process has a limited number of connections. */
    return coid >= 0 && name_close(coid) == 0 && good;
}

static bool demo_run_jobs(void)
{
    char *filter_args[] = {"filter", NULL};
    int filter = demo_start_job(filter_args, 10, SCHED_RR, 0);
    bool good = filter > 0 && wait_for_name(FILTER_NAME);

    trace_logf(EVENT_PHASE, "workload starts");
    for (size_t i = 0; i < JOBS && good; i++) {
        demo_pids[i] = demo_start_job(demo_jobs[i].argv, demo_jobs[i].priority, demo_jobs[i].policy,
                                      demo_jobs[i].heap);
    }
    for (size_t i = 0; i < JOBS && filter > 0; i++) {
        good &= demo_finish_job(i);
    }
    trace_logf(EVENT_PHASE, "workload ends");
    good &= stop_filter(filter);
    printf("demo: %s\n", good ? "all went well" : "something went wrong");
    return good;
}

static int demo_usage(int status)
{
    printf("usage: demo [-r [TURNS]] [xTIMES]\n"
           "A workload to trace: about three seconds of sensors, messages, locks and a crash.\n"
           "  -r      over and over, TURNS times, or until it fails\n"
           "  xTIMES  so many times as fast\n");
    return status;
}

int main(int argc, char **argv)
{
    bool good = true;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        return demo_usage(0);
    }
    demo_speed = argc > 1 && argv[argc - 1][0] == 'x' ? argv[argc - 1] : NULL;
    argc = demo_arguments(argc, argv);
    bool repeat = argc > 1 && strcmp(argv[1], "-r") == 0;
    int turns = argc > 2 ? atoi(argv[2]) : repeat ? INT_MAX : 1;

    if ((argc > 1 && !repeat) || argc > 3 || turns < 1) {
        return demo_usage(2);
    }
    for (int i = 0; i < turns && good; i++) {
        good = demo_run_jobs();
    }
    return good ? 0 : 1;
}
