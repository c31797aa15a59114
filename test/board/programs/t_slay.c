/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `t_slay NAME` kills the process of that name and sees to it that it is gone, its name with it,
 * and what became of its trace buffers. `t_slay -gone NAME` only sees to that.
 */
#include "test/board/programs/check.h"

static const char *wanted;
static bool only_look;

/* Its pid, or 0. */
static int find(void)
{
    struct kymo_proc_info info = {0};

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        if (strcmp(info.name, wanted) == 0 && info.nthreads != 0) {
            return info.pid;
        }
    }
    return 0;
}

static void t_gone(void)
{
    struct kymo_name name;
    int pid = find();

    if (!only_look) {
        EXPECT(pid > 0);
        EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    }
    for (int i = 0; i < 30000 && find() != 0; i++) {
        sleep_ms(2);
    }
    EXPECT_EQ(find(), 0);
    EXPECT_ERR(NameLookup(wanted, &name), ENOENT);
    /* A killed owner's buffers stay, all given back, until the next one allocates: they can be
     * flushed, unless they are a ring: that goes on. One that ended by itself has freed them. */
    if (only_look) {
        EXPECT_ERR(TraceEvent((int)_NTO_TRACE_QUERYEVENTS), EFAULT);
        EXPECT_ERR(TraceEvent((int)_NTO_TRACE_FLUSHBUFFER), EFAULT);
    } else {
        EXPECT(TraceEvent((int)_NTO_TRACE_QUERYEVENTS) >= 0);
        EXPECT(TraceEvent((int)_NTO_TRACE_FLUSHBUFFER) == 0 || errno == ECANCELED);
    }
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"gone without a trace", t_gone}};

    only_look = argc >= 3 && strcmp(argv[1], "-gone") == 0;
    wanted = argv[argc - 1];
    return check_run("slay", table, COUNT(table));
}
