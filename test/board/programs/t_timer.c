/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks and timers: one-shot, periodic, absolute, information, alarms, their errors. */
#include "test/board/programs/check.h"

static struct link to;

static int make_timer(int code)
{
    struct sigevent event = {0};

    SIGEV_PULSE_INIT(&event, to.coid, 20, code, 1234);
    return TimerCreate(CLOCK_MONOTONIC, &event);
}

static int wait_pulse(struct _pulse *pulse)
{
    uint64_t ns = 2000 * MS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    return MsgReceivePulse(to.chid, pulse, sizeof(*pulse), NULL);
}

static void t_one_shot(void)
{
    struct _itimer once = {20 * MS, 0}, old;
    struct _pulse pulse;
    uint64_t began;
    int id;

    to = make_link(0);
    id = make_timer(3);
    EXPECT(id >= 0);
    began = now_ns();
    EXPECT_EQ(TimerSettime(id, 0, &once, NULL), 0);
    EXPECT_EQ(wait_pulse(&pulse), 0);
    EXPECT(now_ns() - began >= 20 * MS);
    EXPECT(now_ns() - began < 500 * MS);
    EXPECT_EQ(pulse.code, 3);
    EXPECT_EQ(pulse.value.sival_int, 1234);
    EXPECT_EQ(TimerSettime(id, 0, &once, &old), 0);
    EXPECT_EQ(old.nsec, 0);
    once.nsec = 0; /* disarms */
    EXPECT_EQ(TimerSettime(id, 0, &once, &old), 0);
    EXPECT(old.nsec > 0 && old.nsec <= 20 * MS);
    EXPECT_EQ(TimerDestroy(id), 0);
    EXPECT_ERR(TimerDestroy(id), EINVAL);
    drop_link(&to);
}

static void t_periodic(void)
{
    struct _itimer each = {5 * MS, 5 * MS};
    struct _timer_info info;
    struct _pulse pulse;
    uint64_t began;
    int id;

    to = make_link(0);
    id = make_timer(4);
    began = now_ns();
    EXPECT_EQ(TimerSettime(id, 0, &each, NULL), 0);
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(wait_pulse(&pulse), 0);
    }
    EXPECT(now_ns() - began >= 50 * MS);
    EXPECT(TimerInfo(0, id, 0, &info) >= 0);
    EXPECT_EQ(info.itime.interval_nsec, 5 * MS);
    EXPECT(info.itime.nsec <= 5 * MS);
    EXPECT_EQ(info.notify & 0xff, SIGEV_PULSE);
    EXPECT_EQ(TimerDestroy(id), 0);
    while (ConnectDetach(to.coid) == 0) {
    }
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
}

static void t_absolute(void)
{
    struct _itimer at = {0, 0};
    struct _pulse pulse;
    int id;

    to = make_link(0);
    id = make_timer(5);
    at.nsec = now_ns() + 10 * MS;
    EXPECT_EQ(TimerSettime(id, (int)TIMER_ABSTIME, &at, NULL), 0);
    EXPECT_EQ(wait_pulse(&pulse), 0);
    EXPECT(now_ns() >= at.nsec);
    at.nsec = 1; /* long ago: at once */
    EXPECT_EQ(TimerSettime(id, (int)TIMER_ABSTIME, &at, NULL), 0);
    EXPECT_EQ(wait_pulse(&pulse), 0);
    EXPECT_EQ(TimerDestroy(id), 0);
    drop_link(&to);
}

static void t_limit(void)
{
    static int16_t ids[6000]; /* more than a board has */
    int first = 0;

    to = make_link(0);
    for (int round = 0; round < 2; round++) {
        int n = 0;

        while (n < (int)COUNT(ids) && (ids[n] = (int16_t)make_timer(1)) >= 0) {
            n++;
        }
        EXPECT_EQ(errno, EAGAIN);
        EXPECT(n >= 4 && n < (int)COUNT(ids));
        EXPECT(round == 0 || n == first);
        first = n;
        for (int i = 0; i < n; i++) {
            EXPECT_EQ(TimerDestroy(ids[i]), 0);
        }
    }
    drop_link(&to);
}

static void t_clocks(void)
{
    uint64_t a = 0, b = 0, set = 1700000000ull * 1000000000ull, got = 0;
    uint64_t c0 = ClockCycles(), c1;
    struct _clockperiod period = {0};

    EXPECT_EQ(ClockTime(CLOCK_MONOTONIC, NULL, &a), 0);
    sleep_ms(3);
    EXPECT_EQ(ClockTime(CLOCK_MONOTONIC, NULL, &b), 0);
    EXPECT(b - a >= 3 * MS);
    c1 = ClockCycles();
    EXPECT(c1 > c0);
    EXPECT_EQ(ClockPeriod(CLOCK_REALTIME, NULL, &period), 0);
    EXPECT(period.nsec > 0);
    EXPECT_ERR(ClockTime(77, NULL, &a), EINVAL);
    EXPECT_ERR(ClockTime(CLOCK_MONOTONIC, &set, NULL), EINVAL);
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, &set, NULL), 0); /* it has ability "clock" */
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, NULL, &got), 0);
    EXPECT(got >= set && got < set + 1000 * MS);
}

static void t_cpu_time(void)
{
    int id = ClockId(0, 0);
    uint64_t a = 0, b = 0;

    EXPECT(id != -1);
    EXPECT_EQ(ClockTime(id, NULL, &a), 0);
    for (volatile int i = 0; i < 100000; i++) {
    }
    EXPECT_EQ(ClockTime(id, NULL, &b), 0);
    EXPECT(b > a);
    EXPECT_ERR(ClockId(99999, 0), ESRCH);
}

static void t_intr_sleep_order(void)
{
    uint64_t began = now_ns();

    sleep_ms(0);
    sleep_ms(1);
    sleep_ms(17);
    EXPECT(now_ns() - began >= 18 * MS);
}

static const struct check table[] = {
    {"one shot", t_one_shot},      {"periodic", t_periodic},
    {"absolute", t_absolute},      {"limit", t_limit},
    {"clocks", t_clocks},          {"CPU time", t_cpu_time},
    {"sleep", t_intr_sleep_order},
};

int main(void)
{
    return check_run("timer", table, COUNT(table));
}
