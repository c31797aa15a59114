/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that records by itself: <sys/tracelog.h>. One case a run, by name; its capture goes to
 * NAME.kev on the host, its account to the console. test/board/library.py judges both.
 */
#include "test/board/programs/check.h"

#include <stdlib.h>

#include "lib/include/sys/tracelog.h"

#define EVENTS 9000

static struct {
    const char *name; /* of the case */
    int file;
    uint64_t bytes;             /* that the writer has taken */
    uint64_t most;              /* refuses what comes after */
    int refusal;                /* -1 and this errno; 0: takes a part */
    tracelog_instance_t *stops; /* itself, at the first slots */
} out = {.file = -1, .most = UINT64_MAX};

static ssize_t write_it(void *cookie, const char *data, size_t bytes)
{
    size_t take = out.most - out.bytes < bytes ? (size_t)(out.most - out.bytes) : bytes;

    EXPECT(cookie == &out);
    if (take < bytes && out.refusal != 0) {
        errno = out.refusal;
        return -1;
    }
    EXPECT_EQ(HostCall(KYMO_HOST_WRITE, data, take, out.file), (long)take);
    out.bytes += take;
    if (out.stops && bytes > 2000) {
        EXPECT_EQ(tracelog_stop(out.stops), 0);
    }
    return (ssize_t)take;
}

static tracelog_instance_t *begin(int buffers)
{
    tracelog_instance_t *log = NULL;
    char file[40];

    EXPECT_EQ(tracelog_acquire(), 0);
    EXPECT_EQ(tracelog_instance_init(&log), 0);
    EXPECT_EQ(tracelog_setkbuffers(log, TRACELOG_ANYWHERE, buffers, 0, 0), 0);
    EXPECT_EQ(tracelog_setwriter(log, write_it, NULL, &out), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_PROCESS), 0);
    strcpy(file, out.name);
    strcat(file, ".kev");
    out.file = (int)HostCall(KYMO_HOST_OPEN, file, strlen(file), 1);
    EXPECT(out.file >= 0);
    return log;
}

/* Waits for the end, says the account, and gives all back. */
static void end(tracelog_instance_t *log, int error)
{
    struct tracelog_account a = {0};

    EXPECT_EQ(tracelog_instance_destroy(log), EBUSY);
    EXPECT_EQ(tracelog_release(), EBUSY);
    EXPECT_EQ(tracelog_wait(), error);
    EXPECT_EQ(tracelog_account(log, &a), 0);
    EXPECT_EQ(a.bytes, out.bytes);
    EXPECT_EQ(HostCall(KYMO_HOST_CLOSE, NULL, 0, out.file), 0);
    say("library %s: made %u lost %u recycled %u unwritten %u", out.name, (unsigned)a.made,
        (unsigned)a.lost, (unsigned)a.recycled, (unsigned)a.unwritten);
    EXPECT_EQ(tracelog_instance_destroy(log), 0);
    EXPECT_EQ(tracelog_release(), 0);
}

static void *insert(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < EVENTS; i++) {
        EXPECT_EQ(trace_logi(0, i, ~i), 0);
    }
    return NULL;
}

/* The library's thread has this one's priority. */
static void storm(int more)
{
    join(start_thread(insert, NULL, own_priority() + more));
}

static void t_linear(void)
{
    tracelog_instance_t *log = begin(4);

    EXPECT_EQ(tracelog_setbuffers(log, NULL, 4), 0);
    EXPECT_EQ(tracelog_start(log, 1), 0);
    EXPECT_EQ(tracelog_start(log, 1), EBUSY);
    EXPECT_EQ(tracelog_setring(log, true), EBUSY);
    storm(-1);
    EXPECT_EQ(tracelog_stop(log), 0);
    EXPECT_EQ(tracelog_stop(log), 0);
    EXPECT_EQ(trace_logi(1, 0, 0), 0); /* outside */
    end(log, 0);
    EXPECT_EQ(tracelog_wait(), EINVAL);
}

/* As often as it likes: the last is the one that is looked at, with the names of its ring's end. */
static void t_ring(void)
{
    tracelog_instance_t *log = begin(2);

    EXPECT_EQ(tracelog_setring(log, true), 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(HostCall(KYMO_HOST_CLOSE, NULL, 0, out.file), 0);
        out.file = (int)HostCall(KYMO_HOST_OPEN, "library-ring.kev", 16, 1);
        out.bytes = 0;
        EXPECT_EQ(tracelog_start(log, 1), 0);
        storm(-1);
        EXPECT_EQ(tracelog_stop(log), 0);
        if (i < 2) {
            EXPECT_EQ(tracelog_wait(), 0);
        }
    }
    end(log, 0);
}

static void t_starved(void)
{
    tracelog_instance_t *log = begin(2);

    EXPECT_EQ(tracelog_start(log, 0), 0);
    storm(5);
    EXPECT_EQ(tracelog_stop(log), 0);
    end(log, 0);
}

/* The writer refuses in the middle of a buffer; or says why. */
static void refuses(uint64_t most, int refusal)
{
    tracelog_instance_t *log = begin(4);

    out.most = most;
    out.refusal = refusal;
    EXPECT_EQ(tracelog_start(log, 1), 0);
    storm(-1);
    EXPECT_EQ(tracelog_stop(log), 0);
    end(log, refusal ? refusal : EIO);
}

static void t_part(void)
{
    refuses(60007, 0);
}

static void t_full(void)
{
    refuses(60000, ENOSPC);
}

/* Not even the beginning: no recording. */
static void t_none(void)
{
    tracelog_instance_t *log = begin(4);

    out.most = 100;
    out.refusal = ENXIO;
    EXPECT_EQ(tracelog_start(log, 1), ENXIO);
    EXPECT_EQ(tracelog_wait(), EINVAL);
    out.most = UINT64_MAX;
    out.bytes = 0;
    EXPECT_EQ(HostCall(KYMO_HOST_CLOSE, NULL, 0, out.file), 0);
    out.file = (int)HostCall(KYMO_HOST_OPEN, "library-none.kev", 16, 1);
    EXPECT_EQ(tracelog_start(log, 1), 0);
    EXPECT_EQ(tracelog_stop(log), 0);
    end(log, 0);
}

/* Its writer stops it. */
static void t_itself(void)
{
    tracelog_instance_t *log = begin(4);

    out.stops = log;
    EXPECT_EQ(tracelog_start(log, 1), 0);
    storm(-1);
    end(log, 0);
}

/* Until somebody else stops it: STOP of its own, or `tracestop`. */
static void t_stopped(void)
{
    tracelog_instance_t *log = begin(4);

    EXPECT_EQ(tracelog_start(log, 1), 0);
    storm(-1);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    end(log, 0);
}

static void t_waits(void)
{
    tracelog_instance_t *log = begin(4);

    EXPECT_EQ(tracelog_start(log, 1), 0);
    end(log, 0);
}

/* For ever: it is to be killed. */
static void t_killed(void)
{
    tracelog_instance_t *log = begin(4);

    EXPECT_EQ(tracelog_start(log, 1), 0);
    for (;;) {
        storm(-1);
    }
}

static void t_errors(void)
{
    tracelog_instance_t *log;

    EXPECT_EQ(tracelog_release(), EPERM);
    EXPECT_EQ(tracelog_wait(), EINVAL);
    EXPECT_EQ(tracelog_instance_init(NULL), EINVAL);
    EXPECT_EQ(tracelog_instance_init(&log), 0);
    EXPECT_EQ(tracelog_start(log, 1), EINVAL);
    EXPECT_EQ(tracelog_setwriter(log, write_it, NULL, NULL), 0);
    EXPECT_EQ(tracelog_start(log, 1), EPERM);
    EXPECT_EQ(tracelog_stop(log), EINVAL);
    EXPECT_EQ(tracelog_setkbuffers(log, 0x1000, 4, 0, 0), ENOTSUP);
    EXPECT_EQ(tracelog_setkbuffers(log, 0, 4, 1, 0), ENOTSUP);
    EXPECT_EQ(tracelog_setkbuffers(log, 0, 4, 0, 1), ENOTSUP);
    EXPECT_EQ(tracelog_setkbuffers(log, 0, 1, 0, 0), EINVAL);
    EXPECT_EQ(tracelog_setkbuffers(log, 0, 1025, 0, 0), EINVAL);
    EXPECT_EQ(tracelog_setkbuffers(NULL, 0, 4, 0, 0), EINVAL);
    EXPECT_EQ(tracelog_setbuffers(log, &log, 4), ENOTSUP);
    EXPECT_EQ(tracelog_setbuffers(log, NULL, -1), EINVAL);
    EXPECT_EQ(tracelog_setwriter(log, write_it, (void (*)(void))write_it, NULL), ENOTSUP);
    EXPECT_EQ(tracelog_account(log, NULL), EINVAL);
    EXPECT_EQ(tracelog_acquire(), 0);
    EXPECT_EQ(tracelog_acquire(), EEXIST);
    EXPECT_EQ(tracelog_release(), 0);
    EXPECT_EQ(tracelog_instance_destroy(log), 0);
    EXPECT_EQ(tracelog_instance_destroy(NULL), EINVAL);
}

/* While a tracelogger records; and without the abilities. */
static void t_second(void)
{
    EXPECT_EQ(tracelog_acquire(), EEXIST);
}

static void t_unable(void)
{
    EXPECT_EQ(tracelog_acquire(), EPERM);
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"library", t_linear},
                                         {"library-ring", t_ring},
                                         {"library-starved", t_starved},
                                         {"library-part", t_part},
                                         {"library-full", t_full},
                                         {"library-none", t_none},
                                         {"library-itself", t_itself},
                                         {"library-stopped", t_stopped},
                                         {"library-waits", t_waits},
                                         {"library-killed", t_killed},
                                         {"errors", t_errors},
                                         {"second", t_second},
                                         {"unable", t_unable}};

    ThreadCtl(_NTO_TCTL_RUNMASK,
              (void *)1); /* so that whose priority is higher starves the other */
    for (unsigned i = 0; argc == 2 && i < COUNT(table); i++) {
        if (strcmp(argv[1], table[i].name) == 0) {
            out.name = argv[1];
            return check_run("tracelog", &table[i], 1);
        }
    }
    return 2;
}
