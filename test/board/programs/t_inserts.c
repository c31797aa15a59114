/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the kernel's classes from a program that has the ability: as they are inserted, so
 * `kymo print` prints them. Told as t_events tells its own; runs after it, while tracelogger
 * records.
 */
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"
#include "trace/slot.h"

#define SLOT(class, event) TRACE_HEADER(0, 0, class, event)

static int raw(uint32_t header, uint32_t d1, uint32_t d2)
{
    return TraceEvent((int)_NTO_TRACE_INSERTEVENT, header, 0x12345678, d1, d2);
}

static void slots(void)
{
    truth_step();
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_COMM, 3), 0x40000001, 77), 0);
    truth("COMM :REC_PULSE scoid:0x40000001 pid:77");
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_INT, 1), 33, 0xabcdee), 0);
    truth("INT_ENTR:0x00000021 (33) IP:0x00abcdee");
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_KYMO_CALL, 108), 3, 4), 0);
    truth("KER_CALL:NAME_ATTACH/108 name:0x00000003 chid:4");
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_PR_TH, 6), 78, 2), 0);
    truth("THREAD :THREPLY pid:78 tid:2");
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_USER, 61), 1, 2), 0);
    truth("USREVENT:EVENT:61, d0:0x00000001 d1:0x00000002");
    EXPECT_EQ(raw(SLOT(TRACE_CLASS_USER, 62) | _NTO_TRACE_PROCESS_INJECTED | 5u << 24, 3, 4), 0);
    truth("USREVENT:EVENT:62, d0:0x00000003 d1:0x00000004"); /* of this CPU, not of CPU 5 */
}

static void refused(void)
{
    EXPECT_ERR(raw(SLOT(TRACE_CLASS_CONTROL, 2), 1, 1), ENOTSUP);
    EXPECT_ERR(raw(SLOT(TRACE_CLASS_EMPTY, 0), 1, 1), ENOTSUP);
    EXPECT_ERR(raw(SLOT(TRACE_CLASS_D, 0), 1, 1), ENOTSUP);
    EXPECT_ERR(raw(SLOT(31, 0), 1, 1), ENOTSUP);
    EXPECT_ERR(raw(SLOT(TRACE_CLASS_USER, 1) | TRACE_STRUCT_CB, 1, 1), ENOTSUP);
    EXPECT_ERR(raw(SLOT(TRACE_CLASS_USER, 1) | 0x8000, 1, 1), EINVAL);
}

static void classes(void)
{
    static const uint32_t state[] = {79, 3, 12, 1};

    truth_step();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSCLASSEVENT, TRACE_CLASS_COMM, 1, 5, 80), 0);
    truth("COMM :SND_PULSE scoid:0x00000005 pid:80");
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, TRACE_CLASS_PR_TH, 5, state, 4), 0);
    truth("THREAD :THRECEIVE pid:79 tid:3 priority:12 policy:1");
}

static const struct check table[] = {
    {"slots", slots},
    {"slots that may not be", refused},
    {"kernel classes", classes},
};

int main(void)
{
    truth_begin("t_inserts");
    return check_run("inserts", table, COUNT(table));
}
