/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals: taken as a pulse, or the end. */
#include "test/board/programs/check.h"

#include <signal.h>
#include <unistd.h>

#include "lib/include/kymo.h"

static struct link to;

/* A signal that is taken as a pulse ends nobody; the others do, and SIGKILL can't be taken. */
static void t_pulse(void)
{
    struct sigevent event;
    struct _pulse pulse;

    to = make_link(0);
    SIGEV_PULSE_INIT(&event, to.coid, SIGEV_PULSE_PRIO_INHERIT, 7, 0);
    EXPECT_EQ(kymo_signal_pulse(1u << SIGINT | 1u << SIGTERM, &event), 0);
    EXPECT_EQ(kill(getpid(), SIGTERM), 0);
    EXPECT_EQ(kill(getpid(), SIGINT), 0);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.code, 7);
    EXPECT_EQ(pulse.value.sival_int, SIGTERM);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.value.sival_int, SIGINT);
    EXPECT_ERR(kymo_signal_pulse(1u << SIGKILL | 1u << SIGINT, &event), EINVAL);
    event.sigev_notify = SIGEV_SIGNAL;
    EXPECT_ERR(kymo_signal_pulse(1u << SIGINT, &event), EINVAL);
    SIGEV_PULSE_INIT(&event, 99, SIGEV_PULSE_PRIO_INHERIT, 7, 0);
    EXPECT_ERR(kymo_signal_pulse(1u << SIGINT, &event), EBADF);
    EXPECT_ERR(ThreadCtl(_NTO_TCTL_SIGNAL_EVENT, (void *)4), EFAULT);
    EXPECT_EQ(kymo_signal_pulse(0, NULL), 0);
    drop_link(&to);
}

/* In a child: what comes after the ways to hear of a signal are gone, or for another signal. */
static int child_that_ends(int way)
{
    struct sigevent event;

    to = make_link(0);
    SIGEV_PULSE_INIT(&event, to.coid, SIGEV_PULSE_PRIO_INHERIT, 7, 0);
    kymo_signal_pulse(1u << SIGTERM, &event);
    if (way == 1) {
        kymo_signal_pulse(0, NULL);
    } else if (way == 2) {
        drop_link(&to);
    }
    kill(getpid(), way == 3 ? SIGKILL : way == 4 ? SIGINT : SIGTERM);
    return 100;
}

static void t_signal_ends(void)
{
    static const int ends_by[] = {0, SIGTERM, SIGTERM, SIGKILL, SIGINT};

    for (int way = 0; way < (int)COUNT(ends_by); way++) {
        char text[4] = {(char)('0' + way), '\0'};
        char *argv[] = {"t_signal", text, NULL};
        int status = -1, pid = kymo_spawn("t_signal", argv, NULL);

        EXPECT(pid > 0);
        EXPECT_EQ(ProcWait(pid, &status, 0), pid);
        EXPECT_EQ(KYMO_STATUS_SIGNAL(status), ends_by[way]);
        EXPECT(ends_by[way] != 0 || KYMO_STATUS_CODE(status) == 100);
    }
}

static const struct check table[] = {
    {"as a pulse", t_pulse},
    {"the end", t_signal_ends},
};

int main(int argc, char **argv)
{
    if (argc == 2) {
        return child_that_ends(argv[1][0] - '0');
    }
    return check_run("signal", table, COUNT(table));
}
