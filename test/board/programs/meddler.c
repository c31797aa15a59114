/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One of the processes that t_control starts: calls TraceEvent() at random, and makes events all
 * the while. `meddler SEED INDEX wild|tame`. Tame: somebody else owns the buffers, and what is his
 * must be refused. It returns 0 when it has had enough, 1 if something was answered that may not
 * be; else it goes on until it is killed. Where buffers come from, the gate, and every command with
 * any arguments: meddler_all.c.
 */
#include "test/board/programs/meddle.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/slot.h"

bool tame;

static uint64_t state;
static unsigned own_index;
static uint32_t made; /* numbers of the user events */
static struct link to;
static int hook = -1;

uint32_t pick(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Numbered, with the maker's pid: t_control looks whether they are in order. */
static void make_events(unsigned n)
{
    const uintptr_t args[6] = {0};

    while (n-- > 0) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, own_index, made++, self_pid()), 0);
        raw_call(0, args);
        if (pick(16) == 0) {
            MsgSendPulse(to.coid, -1, 1, 0);
        }
    }
}

/* ---- what may be answered ---------------------------------------------------------- */

static bool one_of(int error, const int *errors)
{
    while (*errors && *errors != error) {
        errors++;
    }
    return *errors != 0;
}

void meddle_check(const char *name, long result, const int *errors)
{
    int error = errno;

    if (result == -1 && !one_of(error, errors)) {
        check_fail(__FILE__, __LINE__, "%s: errno %d", name, error);
    }
    if (result < -1) {
        check_fail(__FILE__, __LINE__, "%s: %ld", name, result);
    }
}

/* ---- commands ---------------------------------------------------------------------- */

static void filter(void)
{
    static const unsigned commands[] = {_NTO_TRACE_ADDCLASS,     _NTO_TRACE_DELCLASS,
                                        _NTO_TRACE_SETCLASSFAST, _NTO_TRACE_SETCLASSWIDE,
                                        _NTO_TRACE_CLRCLASSPID,  _NTO_TRACE_CLRCLASSTID};
    static const unsigned of_events[] = {_NTO_TRACE_ADDEVENT,     _NTO_TRACE_DELEVENT,
                                         _NTO_TRACE_SETEVENTFAST, _NTO_TRACE_SETEVENTWIDE,
                                         _NTO_TRACE_CLREVENTPID,  _NTO_TRACE_CLREVENTTID};
    unsigned class = pick(19), event = pick(2) ? pick(40) : 1u << pick(32);

    if (pick(2)) {
        CHECK("a class", TraceEvent((int)commands[pick(6)], class), ENOTSUP);
    } else {
        CHECK("an event", TraceEvent((int)of_events[pick(6)], class, event), ENOTSUP);
    }
}

static void limit(void)
{
    unsigned class = 2 + pick(13), event = pick(2) ? pick(130) : 1u << pick(32);
    int pid = pick(4) ? self_pid() : (int)pick(20);

    switch (pick(6)) {
    case 0:
        CHECK("SETCLASSPID", TraceEvent((int)_NTO_TRACE_SETCLASSPID, class, pid), ENOTSUP, EINVAL);
        break;
    case 1:
        CHECK("SETCLASSTID", TraceEvent((int)_NTO_TRACE_SETCLASSTID, class, pid, pick(3)), ENOTSUP,
              EINVAL);
        break;
    case 2:
        CHECK("SETEVENTPID", TraceEvent((int)_NTO_TRACE_SETEVENTPID, class, event, pid), ENOTSUP,
              EINVAL);
        break;
    case 3:
        CHECK("SETEVENTTID", TraceEvent((int)_NTO_TRACE_SETEVENTTID, class, event, pid, pick(3)),
              ENOTSUP, EINVAL);
        break;
    default:
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_CLRALLTHREADS), 0);
    }
}

static void all_filters(void)
{
    static const unsigned commands[] = {_NTO_TRACE_ADDALLCLASSES, _NTO_TRACE_ADDALLCLASSES,
                                        _NTO_TRACE_DELALLCLASSES, _NTO_TRACE_SETALLCLASSESFAST,
                                        _NTO_TRACE_SETALLCLASSESWIDE};

    EXPECT_EQ(TraceEvent((int)commands[pick(5)]), 0);
}

static void run(void)
{
    switch (pick(6)) {
    case 0:
        CHECK("START", TraceEvent((int)_NTO_TRACE_START), ECANCELED);
        break;
    case 1:
    case 2:
        CHECK("STARTNOSTATE", TraceEvent((int)_NTO_TRACE_STARTNOSTATE), ECANCELED);
        break;
    case 3:
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
        break;
    default:
        CHECK("FLUSHBUFFER", TraceEvent((int)_NTO_TRACE_FLUSHBUFFER), EFAULT, ECANCELED);
    }
}

static void query(void)
{
    struct kymo_trace_loss loss;
    struct kymo_trace_owner owner;

    CHECK("QUERYEVENTS", TraceEvent((int)_NTO_TRACE_QUERYEVENTS), EFAULT);
    CHECK("QUERYOWNER", TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), EFAULT);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_QUERYOWNER, (void *)4), EFAULT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, pick(cpu_end()), &loss), 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu_end(), &loss), EINVAL);
}

static void mode(void)
{
    static const unsigned modes[] = {_NTO_TRACE_SETRINGMODE, _NTO_TRACE_SETLINEARMODE,
                                     KYMO_TRACE_SETFILLMODE};
    static const unsigned policies[] = {_NTO_TRACE_SKIPBUFFER, _NTO_TRACE_OVERWRITEBUFFER};

    OWNERS("a mode", TraceEvent((int)modes[pick(3)]), ECANCELED);
    OWNERS("a policy", TraceEvent((int)policies[pick(2)]), EPERM);
    OWNERS("SETHIGHWATER", TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 10 + pick(1030)), EINVAL);
}

/* Some are given back, some not, some twice. */
static void take(void)
{
    struct kymo_trace_buffer b = {0};

    OWNERS("TAKEBUFFER", TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), EAGAIN, EBUSY, EFAULT);
    for (unsigned n = pick(3); n > 0; n--) {
        OWNERS("GIVEBUFFER", TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), EINVAL, EFAULT);
    }
}

/* Mapped; not looked at, because whoever frees the buffers ends who looks. */
static void map(void)
{
    struct kymo_map m = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    if (MemMap(&m) == 0 && pick(2)) {
        CHECK("MemUnmap", MemUnmap((void *)(uintptr_t)m.vaddr, (size_t)m.len), EINVAL);
    }
}

static void attach(void)
{
    struct sigevent event;

    if (hook >= 0) {
        EXPECT_EQ(InterruptDetach(hook), 0);
        hook = -1;
    } else if (!tame) { /* there, detaching would stop what t_control counts on */
        SIGEV_PULSE_INIT(&event, to.coid, -1, 1, 0);
        hook = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
        CHECK("the hook", hook, EAGAIN, EBUSY, EEXIST);
    }
}

/* Every command word that there may be, with arguments that are nothing. Not those that would be
 * right by chance: there are others for them. */
static void nonsense(void)
{
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTEVENT, 6u << 10 | 100, 0, pick(99), 0), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSCLASSEVENT, 7, pick(8), pick(99), 0), 0);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTEVENT, 1u << 10 | 2, 0, 1, 2), ENOTSUP);
    uint32_t cmd = _NTO_TRACE_CMD(pick(8), 0x2000 + pick(0x2000));
    int error;

    EXPECT_ERR(TraceEvent((int)cmd, pick(99), pick(99), pick(99), pick(99)), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, (void *)4, 4), EFAULT);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 4, (void *)3), -1);
    error = errno;
    EXPECT(error == EFAULT || error == EEXIST);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, (void *)3), EFAULT);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_ALLOCOBJECT, 1, (void *)3, 7), EINVAL);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_ALLOCOBJECT, 4, (void *)3, 700), EBADF);
}

/* Any meddler, this one too. */
static void kill_one(void)
{
    struct kymo_proc_info p = {0};
    int pids[16], n = 0;

    for (int at = 1; n < 16 && ProcInfo(at, &p) > 0; at = p.pid + 1) {
        if (strcmp(p.name, "meddler") == 0) {
            pids[n++] = p.pid;
        }
    }
    if (n > 0) {
        SignalKill(0, pids[pick((uint32_t)n)], 0, 9, 0, 0);
    }
}

static void drain(void)
{
    struct _pulse pulse;
    uint64_t ns = 0;

    do {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    } while (MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL) == 0);
}

static void something(void)
{
    static void (*const often[])(void) = {
        filter,   limit,       all_filters, run,  run,      run,      query,       mode,
        allocate, take,        take,        map,  attach,   run,      drain,       drain,
        nonsense, all_filters, gate,        gate, retained, inserted, any_command, any_command,
    };

    if (pick(150) == 0) {
        kill_one();
    } else {
        often[pick(COUNT(often))]();
    }
}

/* Without the ability: everything is refused, whatever it is. */
static void not_able(void)
{
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_CMD(1 + pick(5), 1 + pick(29)), pick(20), pick(20)),
               EPERM);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_CMD(1 + pick(3), 0x1000 + pick(8)), pick(20), pick(20)),
               EPERM);
    refused_command();
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 2;
    }
    state = strtoul(argv[1], NULL, 0) * 1000003u + 12345;
    own_index = (unsigned)atoi(argv[2]);
    tame = strcmp(argv[3], "tame") == 0;
    to = make_link(0);
    for (unsigned left = 50 + pick(400); left > 0 && check_failure()[0] == '\0'; left--) {
        make_events(pick(12));
        if (own_index == 7) {
            not_able();
        } else {
            something();
        }
    }
    if (check_failure()[0] != '\0') {
        say("meddler %s %s %s: %s", argv[1], argv[2], argv[3], check_failure());
        return 1;
    }
    return 0;
}
