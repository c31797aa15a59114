/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of calls.h: timers, time limits, clocks. Times of more than 32 bits among them. */
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"

#define LONG_NS 0x123456789abcull
#define EVERY_NS 0x100000002ull

static void tell_event(const char *head, const struct sigevent *e)
{
    truth("wide:%s sigev_notify:%d sigev_coid:%d sigev_value:0x%08x sigev_code:%d "
          "sigev_priority:%d",
          head, e->sigev_notify, e->sigev_coid, (unsigned)e->sigev_value.sival_int, e->sigev_code,
          e->sigev_priority);
}

static void tell_info(int id, const struct _timer_info *t, int result)
{
    truth("fast:KER_CALL:TIMER_INFO/73 pid:0 id:%d", id);
    truth("wide:KER_CALL:TIMER_INFO/73 pid:0 id:%d flags:0x00000000", id);
    truth("fast:KER_EXIT:TIMER_INFO/73 ret_val:%d flags:0x%08x", result, (unsigned)t->flags);
    truth("wide:KER_EXIT:TIMER_INFO/73 ret_val:%d flags:0x%08x tid:%d notify:%d clockid:%d "
          "overruns:%d nsec:%llu interval_nsec:%llu set_nsec:%llu set_interval_nsec:%llu",
          result, (unsigned)t->flags, (int)t->tid, (int)t->notify, (int)t->clockid,
          (int)t->overruns, (unsigned long long)t->itime.nsec,
          (unsigned long long)t->itime.interval_nsec, (unsigned long long)t->otime.nsec,
          (unsigned long long)t->otime.interval_nsec);
}

void calls_timers(void)
{
    struct link to = make_link(0);
    struct sigevent event;
    const struct _itimer time = {LONG_NS, EVERY_NS}, none = {0, 0};
    struct _itimer old = {1, 2};
    struct _timer_info info = {0};
    char head[40];

    SIGEV_PULSE_INIT(&event, to.coid, 21, 3, 0x87654321);
    truth_step();
    int id = TimerCreate(CLOCK_MONOTONIC, &event);
    EXPECT_EQ(TimerSettime(id, 0, &time, NULL), 0);
    int result = TimerInfo(0, id, 0, &info);
    EXPECT_EQ(TimerSettime(id, 0, &none, &old), 0);
    EXPECT_EQ(TimerDestroy(id), 0);
    strcpy(head, "KER_CALL:TIMER_CREATE/70 clock:2");
    truth("fast:%s sigev_notify:4", head);
    tell_event(head, &event);
    truth("KER_EXIT:TIMER_CREATE/70 ret_val:%d", id);
    truth("fast:KER_CALL:TIMER_SETTIME/72 id:%d nsec:0x%08x", id, (unsigned)LONG_NS);
    truth("wide:KER_CALL:TIMER_SETTIME/72 id:%d flags:0x00000000 nsec:%llu interval_nsec:%llu", id,
          LONG_NS, EVERY_NS);
    tell_info(id, &info, result);
    truth("fast:KER_EXIT:TIMER_SETTIME/72 ret_val:0");
    truth("wide:KER_EXIT:TIMER_SETTIME/72 ret_val:0 old_nsec:%llu old_interval_nsec:%llu",
          (unsigned long long)old.nsec, (unsigned long long)old.interval_nsec);
    EXPECT_EQ(old.interval_nsec, EVERY_NS);
    EXPECT(info.itime.nsec > 0 && info.itime.nsec <= LONG_NS);
    truth("KER_CALL:TIMER_DESTROY/71 id:%d", id);

    truth_step();
    EXPECT_EQ(TimerAlarm(CLOCK_MONOTONIC, &time, NULL), 0);
    EXPECT_EQ(TimerAlarm(CLOCK_MONOTONIC, &none, &old), 0);
    truth("fast:KER_CALL:TIMER_ALARM/74 clock:2 nsec:0x%08x", (unsigned)LONG_NS);
    truth("wide:KER_CALL:TIMER_ALARM/74 clock:2 nsec:%llu interval_nsec:%llu", LONG_NS, EVERY_NS);
    truth("wide:KER_EXIT:TIMER_ALARM/74 ret_val:0 old_nsec:%llu old_interval_nsec:%llu",
          (unsigned long long)old.nsec, (unsigned long long)old.interval_nsec);
    drop_link(&to);
}

void calls_timeouts(void)
{
    struct sigevent event;
    uint64_t ns = EVERY_NS + 7, left = 3;
    char head[100];

    SIGEV_UNBLOCK_INIT(&event);
    event.sigev_coid = 5;
    event.sigev_value.sival_int = -6;
    event.sigev_code = 7;
    event.sigev_priority = -8;
    truth_step();
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEM, &event, &ns, &left);
    truth("fast:KER_CALL:TIMER_TIMEOUT/75 flags:0x00020000 ntime_lsb:0x%08x", (unsigned)ns);
    strcpy(head, "KER_CALL:TIMER_TIMEOUT/75 clock:2 flags:0x00020000 nsec:4294967305");
    tell_event(head, &event);
    truth("wide:KER_EXIT:TIMER_TIMEOUT/75 ret_val:within:0:0 old_nsec:%llu",
          (unsigned long long)left);
    TimerTimeout(CLOCK_MONOTONIC, 0, NULL, NULL, NULL);
}

void calls_clocks(void)
{
    uint64_t now = 0, cycles = 0;
    struct _clockperiod period = {0};
    const struct _clockperiod bad = {0x7fffffff, -3};
    struct _clockadjust adjust = {1, 1};
    const uintptr_t args[6] = {(uintptr_t)&cycles};

    truth_step();
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, NULL, &now), 0);
    EXPECT_EQ(ClockPeriod(CLOCK_REALTIME, NULL, &period), 0);
    EXPECT_EQ(ClockPeriod(CLOCK_REALTIME, &bad, NULL), -1);
    EXPECT_EQ(ClockAdjust(CLOCK_REALTIME, NULL, &adjust), 0);
    raw_call(117, args); /* CLOCK_CYCLES */
    truth("fast:KER_CALL:CLOCK_TIME/65 id:0 new_ns:0x00000000");
    truth("wide:KER_CALL:CLOCK_TIME/65 id:0 new_ns:0x00000000 nsec:0");
    truth("fast:KER_EXIT:CLOCK_TIME/65 ret_val:0");
    truth("wide:KER_EXIT:CLOCK_TIME/65 ret_val:0 old_nsec:%llu", (unsigned long long)now);
    truth("fast:KER_EXIT:CLOCK_PERIOD/67 ret_val:0 old_nsec:%d", (int)period.nsec);
    truth("wide:KER_EXIT:CLOCK_PERIOD/67 ret_val:0 old_nsec:%d old_fract:%d", (int)period.nsec,
          (int)period.fract);
    truth("fast:KER_CALL:CLOCK_PERIOD/67 id:0 nsec:2147483647");
    truth("wide:KER_CALL:CLOCK_PERIOD/67 id:0 new_period:" TRUTH_P " nsec:2147483647 fract:-3",
          TRUTH_PTR(&bad));
    truth("fast:KER_EXIT:CLOCK_ADJUST/66 ret_val:0 old_tick_count:%d", (int)adjust.tick_count);
    truth("wide:KER_EXIT:CLOCK_ADJUST/66 ret_val:0 old_tick_count:%d old_tick_nsec_inc:%d",
          (int)adjust.tick_count, (int)adjust.tick_nsec_inc);
    truth("KER_CALL:CLOCK_CYCLES/117 cycles:" TRUTH_P, TRUTH_PTR(&cycles));
    truth("wide:KER_EXIT:CLOCK_CYCLES/117 ret_val:0 time:0x%016llx", (unsigned long long)cycles);
}
