/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of guest_bounds.c on interrupts, clocks, timers, processes, memory, and the rest. */
#include <kymo.h>
#include <string.h>

#include "test/bench/bounds.h"

/* A line that nothing raises, on each board. */
#define LINE (sizeof(void *) == 8 ? 100 : 20)
static int intr;

/* ---- interrupts, clocks, timers -------------------------------------------------- */

static int call_interrupt_attach(void)
{
    struct sigevent event;

    SIGEV_INTR_INIT(&event);
    while (keep(InterruptAttachEvent(LINE, &event, 0))) {
    }
    return nmade == 0;
}

static int call_interrupt_detach(void)
{
    while (nmade > 0) {
        InterruptDetach(made[--nmade]);
    }
    return 0;
}

static void end_interrupts(void)
{
    call_interrupt_detach();
}

static int begin_interrupt(void)
{
    int error = call_interrupt_attach();

    intr = error ? -1 : made[0];
    return error;
}

static int call_interrupt_wait(void)
{
    const uint64_t ns = 1000;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_INTR, NULL, &ns, NULL);
    return InterruptWait(0, NULL) == 0;
}

static int call_interrupt_mask(void)
{
    return InterruptMask(LINE, intr) < 0;
}

static int call_interrupt_unmask(void)
{
    return InterruptUnmask(LINE, intr) < 0;
}

static int call_clock_time(void)
{
    uint64_t ns;
    int error = ClockTime(CLOCK_REALTIME, NULL, &ns);

    return error || ClockTime(CLOCK_REALTIME, &ns, &ns) || ClockTime(ClockId(0, 0), NULL, &ns);
}

static int call_clock_adjust(void)
{
    struct _clockadjust adjust = {.tick_count = 1, .tick_nsec_inc = 1};

    return ClockAdjust(CLOCK_REALTIME, &adjust, &adjust);
}

static int call_clock_period(void)
{
    struct _clockperiod period;

    return ClockPeriod(CLOCK_REALTIME, NULL, &period);
}

static int call_clock_id(void)
{
    return ClockId(0, crowd_tids[crowd_size - 1]) < 0;
}

static int call_clock_cycles(void)
{
    return 0 * (int)ClockCycles();
}

static int call_timer_create(void)
{
    struct sigevent event = pulse_event();

    while (keep(TimerCreate(CLOCK_MONOTONIC, &event))) {
    }
    return 0;
}

static int begin_timers(void)
{
    return call_timer_create() || nmade == 0;
}

/* To the far end of all timers' heap, to its top, and stopped. */
static int call_timer_settime(void)
{
    const struct _itimer times[] = {{LATE, 0}, {LATE + 1, LATE}, {1000000000, 100000000}, {0, 0}};
    struct _itimer old;
    int error = 0;

    for (unsigned n = 0; n < sizeof(times) / sizeof(*times); n++) {
        for (unsigned i = 0; i < nmade; i++) {
            error |= TimerSettime(made[i], 0, &times[n], &old);
        }
    }
    return error;
}

static int call_timer_info(void)
{
    struct _timer_info info;

    return TimerInfo(0, made[nmade - 1], 0, &info) < 0;
}

static int call_timer_destroy(void)
{
    int error = 0;

    while (nmade > 0) {
        error |= TimerDestroy(made[--nmade]);
    }
    return error;
}

static void end_timers(void)
{
    call_timer_destroy();
}

static int call_timer_alarm(void)
{
    const struct _itimer late = {LATE, 0}, none = {0, 0};
    struct _itimer old;

    return TimerAlarm(CLOCK_REALTIME, &late, &old) | TimerAlarm(CLOCK_REALTIME, &none, &old);
}

static int call_timer_timeout(void)
{
    const uint64_t ns = 1000;
    uint64_t left;

    TimerTimeout(CLOCK_REALTIME, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, &left);
    return 0;
}

MEASURE(interrupt_attach, NULL, call_interrupt_attach, end_interrupts);
MEASURE(interrupt_detach, begin_interrupt, call_interrupt_detach, NULL);
MEASURE(interrupt_wait, begin_interrupt, call_interrupt_wait, end_interrupts);
MEASURE(interrupt_mask, begin_interrupt, call_interrupt_mask, end_interrupts);
MEASURE(interrupt_unmask, begin_interrupt, call_interrupt_unmask, end_interrupts);
MEASURE(clock_time, begin_sleepers, call_clock_time, crowd_end);
MEASURE(clock_adjust, NULL, call_clock_adjust, NULL);
MEASURE(clock_period, NULL, call_clock_period, NULL);
MEASURE(clock_id, begin_sleepers, call_clock_id, crowd_end);
MEASURE(clock_cycles, NULL, call_clock_cycles, NULL);
MEASURE(timer_create, NULL, call_timer_create, end_timers);
MEASURE(timer_destroy, begin_timers, call_timer_destroy, NULL);
MEASURE(timer_settime, begin_timers, call_timer_settime, end_timers);
MEASURE(timer_info, begin_timers, call_timer_info, end_timers);
MEASURE(timer_alarm, NULL, call_timer_alarm, NULL);
MEASURE(timer_timeout, begin_sleepers, call_timer_timeout, crowd_end);

/* ---- processes, memory, the rest ------------------------------------------------- */

static int call_proc_self(void)
{
    int tid, ppid;

    return ProcSelf(&tid, &ppid) < 0;
}

static int call_name_attach(void)
{
    char name[KYMO_NAME_MAX];

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    do {
        name[sizeof(name) - 2] = (char)('a' + nmade);
    } while (nmade < 20 && keep(NameAttach(name, chid)));
    return 0;
}

static int begin_names(void)
{
    return call_name_attach();
}

static int call_name_detach(void)
{
    while (nmade > 0) {
        NameDetach(made[--nmade]);
    }
    return 0;
}

static void end_names(void)
{
    call_name_detach();
}

static int call_host_call(void)
{
    return HostCall(KYMO_HOST_TIME, NULL, 0, 0) <= 0;
}

static int call_system_ctl(void)
{
    return SystemCtl(KYMO_SYSTEM_STATUS, 0) < 0 ||
           SystemCtl(KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_STOPS) < 0;
}

static int call_syspage_read(void)
{
    return SyspageRead(0, big, sizeof(big)) < 0;
}

static int call_console_read(void)
{
    uint64_t position = 0;

    return ConsoleRead(big, sizeof(big), &position) < 0;
}

static int object;

static int begin_object(void)
{
    object = ObjectOpen("/bound", KYMO_OBJECT_CREATE | KYMO_OBJECT_WRITE, 0666);
    return object < 0 || ObjectSize(object, 65536) < 0;
}

static int call_object_open(void)
{
    int id = ObjectOpen("/bound", KYMO_OBJECT_WRITE, 0);

    ObjectOpen("/no object has this name, which is as long as", 0, 0);
    return id < 0 || ObjectClose(id) < 0;
}

static int call_object_info(void)
{
    struct kymo_object_info info;

    ObjectInfo(KYMO_OBJECT_AT + 1, &info);
    return ObjectInfo(object, &info) < 0;
}

static int call_object_unlink(void)
{
    return ObjectUnlink("/bound");
}

static void end_object(void)
{
    ObjectUnlink("/bound");
    ObjectClose(object);
}

static int call_object_close(void)
{
    ObjectUnlink("/bound");
    return ObjectClose(object);
}

static int call_proc_limits(void)
{
    struct kymo_quota quota;
    unsigned level = 0;

    while (ProcLimits(ProcSelf(NULL, NULL), level, &quota) >= 0 && level < 8) {
        level++;
    }
    return level == 0;
}

SAME(proc_spawn, "spawn", "a program of the image with all arguments, its end, ProcWait()");
SAME(proc_exit, "end_full", "of a process that has all tables full");
SAME(proc_wait, "end_full", "its parent waits for it");
SAME(proc_info, "info", "each process and thread in turn, with all tables full");
SAME(thread_info, "info", "each process and thread in turn, with all tables full");
MEASURE(proc_self, NULL, call_proc_self, NULL);
SAME(mem_map, "map", "64 MB (Cortex-M: 256 KB) of RAM, cleared, with most of RAM in use");
SAME(mem_unmap, "unmap", "of the same");
SAME(mem_protect, "protect", "of the same");
MEASURE(name_attach, NULL, call_name_attach, end_names);
MEASURE(name_detach, begin_names, call_name_detach, NULL);
SAME(name_lookup, "names", "a name that is there and one that is not, with all names attached");
SAME(image_read, "image_read", "16 KB");
MEASURE(host_call, NULL, call_host_call, NULL);
MEASURE(system_ctl, NULL, call_system_ctl, NULL);
MEASURE(syspage_read, NULL, call_syspage_read, NULL);
SAME(lib_word, "call_SCHED_INFO", "checks an address and stores it");
SAME(console_write, "console_write", "2,000 characters");
SAME(dtrace, "its commands", "");
SAME(trace_event, "its commands", "");
MEASURE(console_read, NULL, call_console_read, NULL);
MEASURE(object_open, begin_object, call_object_open, end_object);
MEASURE(object_close, begin_object, call_object_close, NULL);
SAME(object_size, "object", "64 MB (Cortex-M: 256 KB) of RAM, cleared");
MEASURE(object_info, begin_object, call_object_info, end_object);
MEASURE(object_unlink, begin_object, call_object_unlink, end_object);
MEASURE(proc_limits, NULL, call_proc_limits, NULL);
