/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What linkd owes a program that has a capture for the host: sys/linkmsg.h. `t_tolink PID CHID`
 * is a program that begins a capture and goes.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/linkmsg.h>

#define ROUNDS 8
#define HOGS 8
#define PRIORITY_HOG 30
#define PRIORITY_LOW 15 /* of the pulse that linkd has in hand */
#define PRIORITY_FIRST 40
#define LOAD_NS (30 * MS)
#define PULSE_UNKNOWN 99 /* linkd does nothing about it */

static int begin(int coid, const char *name)
{
    const struct linkmsg head = {LINKMSG_BEGIN, 0, (uint32_t)strlen(name)};
    iov_t parts[2];

    SETIOV(&parts[0], &head, sizeof(head));
    SETIOV(&parts[1], name, strlen(name));
    return (int)MsgSendvs(coid, parts, 2, NULL, 0);
}

/* As above, once a host is there. */
static int begin_waiting(int coid, const char *name)
{
    int result = begin(coid, name);

    for (int i = 0; result < 0 && errno == EAGAIN && i < 1000; i++) {
        sleep_ms(10);
        result = begin(coid, name);
    }
    return result;
}

/* ---- the first program ------------------------------------------------------------- */

/* Begins a capture, says so and goes, linkd having a pulse of low priority in hand. */
static int first(int pid, int chid)
{
    int link = name_open(LINKMSG_NAME, 0), other = ConnectAttach(0, pid, chid, 0, 0);

    if (link < 0 || other < 0 || begin_waiting(link, "first.kev") < 0 ||
        MsgSend(other, NULL, 0, NULL, 0) < 0) {
        return 1;
    }
    return MsgSendPulse(link, PRIORITY_LOW, PULSE_UNKNOWN, 0) < 0;
}

/* ---- the next one ------------------------------------------------------------------ */

static void *hog(void *until)
{
    while (now_ns() < *(uint64_t *)until) {
    }
    return NULL;
}

/* linkd hears of the first program's end after the next one's message: a pulse of the kernel's has
 * a low priority, and no CPU is free for linkd before. */
static void follow(void)
{
    struct link told = make_link(0);
    char pid_text[12], chid_text[12];
    int status = -1, tids[HOGS], link = name_open(LINKMSG_NAME, 0);
    unsigned hogs = cpu_count() < HOGS ? cpu_count() : HOGS;

    EXPECT(link >= 0);
    snprintf(pid_text, sizeof(pid_text), "%d", self_pid());
    snprintf(chid_text, sizeof(chid_text), "%d", told.chid);
    int pid = spawn("t_tolink", 0, PRIORITY_FIRST, pid_text, chid_text, NULL);
    EXPECT(pid > 0);
    int rcvid = MsgReceive(told.chid, NULL, 0, NULL);
    EXPECT(rcvid > 0);
    uint64_t until = now_ns() + LOAD_NS;
    for (unsigned i = 0; i < hogs; i++) {
        tids[i] = start_thread(hog, &until, PRIORITY_HOG);
    }
    EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(begin_waiting(link, "next.kev"), 0);
    for (unsigned i = 0; i < hogs; i++) {
        join(tids[i]);
    }
    name_close(link);
    drop_link(&told);
}

static void t_next(void)
{
    for (int i = 0; i < ROUNDS && check_failure()[0] == '\0'; i++) {
        follow();
    }
}

int main(int argc, char **argv)
{
    static const struct check table[] = {
        {"a capture after one whose program has just gone", t_next},
    };

    if (argc == 3) {
        return first(atoi(argv[1]), atoi(argv[2]));
    }
    return check_run("tolink", table, COUNT(table));
}
