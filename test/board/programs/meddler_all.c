/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meddler's other half: where the buffers come from (anywhere, retained memory, an object), the
 * gate, the insertions that t_control doesn't count one by one, and every command there is with any
 * arguments. That none is missing here is test/trace/commands_test.c's.
 */
#include "test/board/programs/meddle.h"

#include <stdio.h>

#include "lib/include/kymo.h"
#include "trace/slot.h"

/* ---- buffers ----------------------------------------------------------------------- */

static bool allocated(const char *name, long result)
{
    if (tame) {
        EXPECT_EQ(result, -1);
        EXPECT_EQ(errno, EEXIST);
    } else {
        CHECK(name, result, EEXIST, EINVAL, ENOMEM);
    }
    return result == 0;
}

/* One of four objects that any of us may have open, and t_control removes. */
static bool in_object(void)
{
    uint64_t paddr;
    unsigned count = 2 + pick(3);
    char name[16];

    snprintf(name, sizeof(name), "meddled%u", (unsigned)pick(4));
    int id = ObjectOpen(name, KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE, 0600);
    CHECK("ObjectOpen", id, ENOMEM, EAGAIN);
    if (id < 0) {
        return false;
    }
    size_t sized = pick(4) ? count : pick(5);
    CHECK("ObjectSize", ObjectSize(id, sized * TRACE_BUFFER_BYTES * cpu_end()), EBUSY, ENOMEM,
          EINVAL);
    long result = TraceEvent((int)KYMO_TRACE_ALLOCOBJECT, count, &paddr, id);
    CHECK("ALLOCOBJECT", result, EEXIST, EINVAL, EBUSY, ENOMEM);
    EXPECT_EQ(ObjectClose(id), 0);
    if (pick(3) == 0) {
        CHECK("ObjectUnlink", ObjectUnlink(name), ENOENT);
    }
    return result == 0;
}

static bool somewhere(void)
{
    uint64_t paddr;

    switch (pick(4)) {
    case 0:
        return in_object();
    case 1:
        return allocated("ALLOCRETAINED",
                         TraceEvent((int)KYMO_TRACE_ALLOCRETAINED, pick(6), &paddr));
    default:
        return allocated("ALLOCBUFFER", TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, pick(6), &paddr));
    }
}

void allocate(void)
{
    if (somewhere() && pick(2)) {
        gate(); /* while they are ours */
    }
    if (pick(3) == 0) {
        OWNERS("DEALLOCBUFFER", TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), EFAULT);
    }
}

/* ---- the gate ---------------------------------------------------------------------- */

void gate(void)
{
    static const char *const programs[] = {"shell.dif",   "states.dif", "either.dif", "third.dif",
                                           "trigger.dif", "sched.dif",  "cpu.dif",    "acts.dif",
                                           "ticks.dif",   "start",      "nobody.dif", NULL};
    struct kymo_trace_refusal why;
    char random[] = "random-00.dif";
    unsigned at = pick(2 * COUNT(programs)), number = pick(12);
    const char *name = at < COUNT(programs) ? programs[at] : random;
    bool there = !name || strcmp(name, "nobody.dif") != 0;
    struct kymo_trace_stopped stopped;

    random[7] = (char)('0' + number / 10);
    random[8] = (char)('0' + number % 10);
    OWNERS("SETGATE", TraceEvent((int)KYMO_TRACE_SETGATE, name, &why), EFAULT, EEXIST, ENOMEM,
           EINVAL, there ? EINVAL : ENOENT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYSTOPPED, pick(cpu_end()), &stopped), 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_QUERYSTOPPED, cpu_end(), &stopped), EINVAL);
}

/* ---- an earlier boot --------------------------------------------------------------- */

void retained(void)
{
    struct kymo_retained info;
    char bytes[64];

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYRETAINED, &info), 0);
    EXPECT_EQ(info.found, 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_READRETAINED, pick(1u << 24), bytes, pick(64)), ENOENT);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_DROPRETAINED), ENOENT);
}

/* ---- insertions -------------------------------------------------------------------- */

#define EVENT_FROM 64 /* below are those that t_control looks at */

void inserted(void)
{
    uint32_t words[KYMO_TRACE_USER_COMBINE_MAX / 4] = {pick(1000)};
    unsigned event = EVENT_FROM + pick(960), n = pick(KYMO_TRACE_USER_COMBINE_MAX / 4 + 1);

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, event, words, n), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, event, "meddled"), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, TRACE_CLASS_SYSTEM, _NTO_TRACE_SYS_SLOG,
                         words, 2 + pick(60)),
              0);
    CHECK("INSERTCCLASSEVENT",
          TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, pick(32), pick(64), words, n), ENOTSUP,
          EINVAL);
}

/* ---- every command ----------------------------------------------------------------- */

enum who {
    ABLE,  /* EPERM for all others */
    USERS, /* a user event, its number first */
    ALL,
};

static const struct row {
    uint32_t cmd;
    enum who who;
} rows[] = {
/* clang-format off */
#define ROW(name, who) {_NTO_TRACE_##name, who}
#define KYMO(name, who) {KYMO_TRACE_##name, who}
    ROW(ADDALLCLASSES, ABLE), ROW(DELALLCLASSES, ABLE), ROW(ADDCLASS, ABLE), ROW(DELCLASS, ABLE),
    ROW(ADDEVENT, ABLE), ROW(DELEVENT, ABLE), ROW(ADDEVENTHANDLER, ABLE),
    ROW(DELEVENTHANDLER, ABLE), ROW(INSERTEVENT, ABLE), ROW(START, ABLE), ROW(STOP, ABLE),
    ROW(ALLOCBUFFER, ABLE), ROW(DEALLOCBUFFER, ABLE), ROW(FLUSHBUFFER, ABLE),
    ROW(QUERYEVENTS, ABLE), ROW(SETALLCLASSESFAST, ABLE), ROW(SETALLCLASSESWIDE, ABLE),
    ROW(SETCLASSFAST, ABLE), ROW(SETCLASSWIDE, ABLE), ROW(SETEVENTFAST, ABLE),
    ROW(SETEVENTWIDE, ABLE), ROW(SETCLASSPID, ABLE), ROW(SETCLASSTID, ABLE),
    ROW(SETEVENTPID, ABLE), ROW(SETEVENTTID, ABLE), ROW(CLRCLASSPID, ABLE), ROW(CLRCLASSTID, ABLE),
    ROW(CLREVENTPID, ABLE), ROW(CLREVENTTID, ABLE), ROW(INSERTSUSEREVENT, USERS),
    ROW(INSERTCUSEREVENT, USERS), ROW(INSERTUSRSTREVENT, USERS), ROW(STARTNOSTATE, ABLE),
    ROW(SETRINGMODE, ABLE), ROW(SETLINEARMODE, ABLE), ROW(ADDCLASSEVHANDLER, ABLE),
    ROW(DELCLASSEVHANDLER, ABLE), ROW(SKIPBUFFER, ABLE), ROW(OVERWRITEBUFFER, ABLE),
    ROW(QUERYVERSION, ALL), ROW(QUERYSUPPORT, ALL), ROW(INSERTSCLASSEVENT, ALL),
    ROW(INSERTCCLASSEVENT, ALL), ROW(SETBUFFER, ABLE), ROW(LOGGER_ATTACH, ABLE),
    ROW(WAITBUFFER, ABLE), ROW(LOGGER_DETACH, ABLE), ROW(PMU_CONFIG, ABLE),
    ROW(PMU_QUERYEVENTS, ABLE), KYMO(TAKEBUFFER, ABLE), KYMO(GIVEBUFFER, ABLE),
    KYMO(SETFILLMODE, ABLE), KYMO(SETHIGHWATER, ABLE), KYMO(QUERYLOSS, ABLE),
    KYMO(QUERYOWNER, ABLE), KYMO(CLRALLTHREADS, ABLE), KYMO(ALLOCRETAINED, ABLE),
    KYMO(QUERYRETAINED, ABLE), KYMO(READRETAINED, ABLE), KYMO(DROPRETAINED, ABLE),
    KYMO(ALLOCOBJECT, ABLE), KYMO(SETGATE, ABLE), KYMO(QUERYSTOPPED, ABLE),
    KYMO(FLUSHCPUS, ABLE), KYMO(USERWORD, ALL), KYMO(USERSITES, ALL),
    KYMO(INSERTPROBE, ALL),
    /* clang-format on */
};

/* Room for every answer. */
static uint64_t room[sizeof(struct kymo_trace_loss) / 8 + 1];

static uintptr_t any(void)
{
    static const char text[] = "shell.dif";
    const uintptr_t values[] = {0,
                                EVENT_FROM + pick(64),
                                pick(UINT32_MAX),
                                UINTPTR_MAX - pick(64),
                                (uintptr_t)room,
                                (uintptr_t)room + sizeof(room) - 4,
                                (uintptr_t)text,
                                (uintptr_t)&any,
                                1,
                                2 + pick(18)};

    return values[pick(COUNT(values))];
}

static long with_anything(const struct row *row)
{
    uintptr_t first = any();

    if (row->who == USERS) {
        first |= EVENT_FROM;
    }
    return TraceEvent((int)row->cmd, first, any(), any(), any());
}

void any_command(void)
{
    const struct row *row = &rows[pick(COUNT(rows))];
    char name[16];

    snprintf(name, sizeof(name), "%08lx", (unsigned long)row->cmd);
    CHECK(name, with_anything(row), EPERM, EFAULT, EINVAL, ENOTSUP, EEXIST, ENOMEM, ECANCELED,
          EAGAIN, EBUSY, ENOENT, EBADF, ESRCH, EACCES, ENAMETOOLONG);
}

void refused_command(void)
{
    const struct row *row = &rows[pick(COUNT(rows))];
    long result = with_anything(row);

    if (row->who == ABLE && (result != -1 || errno != EPERM)) {
        check_fail(__FILE__, __LINE__, "%08lx: %ld, errno %d", (unsigned long)row->cmd, result,
                   errno);
    }
}
