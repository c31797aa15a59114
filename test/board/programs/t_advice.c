/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The -k that tracelogger advises after losses is enough: a storm with a starved logger and two
 * buffers loses events; the same storm with the advised number loses none; of several
 * storms, between which the logger caught up, it is not the sum. With losses a size limit holds.
 * And it starts nothing while another process records.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"
#include "lib/capture/protocol.h"

#define LOGGER_PRIORITY 5
#define STORM_PRIORITY 9
#define LEAST 2 /* buffers a CPU */
#define STORMS 6
#define SIZED_STORMS 30 /* each leaves two whole buffers at most: -S is reached long before */
#define PAUSE_MS 300

static int start(const char *program, int priority, const char *a, const char *b, const char *c)
{
    char *argv[] = {(char *)program, (char *)a, (char *)b, (char *)c, NULL};
    struct kymo_spawn_attr attr = {.priority = priority,
                                   .ability = ABILITY_TRACE | ABILITY_INTERRUPT | ABILITY_HOST,
                                   .heap_size = 64 << 10};

    return kymo_spawn(program, argv, &attr);
}

static void ends_with(int pid, int code)
{
    int status = -1;

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT(KYMO_STATUS_EXITED(status));
    EXPECT_EQ(KYMO_STATUS_CODE(status), code);
}

static void finish(int pid)
{
    ends_with(pid, 0);
}

static void stop(struct tracelogger_summary *summary)
{
    struct tracelogger_msg msg = {TRACELOGGER_STOP, 0};
    struct kymo_name name;

    EXPECT_EQ(NameLookup("tracelogger", &name), 0);
    int coid = ConnectAttach(0, name.pid, name.chid, _NTO_SIDE_CHANNEL, 0);
    EXPECT(coid > 0);
    EXPECT_EQ(MsgSend(coid, &msg, sizeof(msg), summary, sizeof(*summary)), 0);
    ConnectDetach(coid);
}

/* So many storms, each after the logger has had time to catch up, with so many buffers a CPU. */
static struct tracelogger_summary storm(unsigned times, unsigned buffers)
{
    struct tracelogger_summary summary = {0};
    struct kymo_name name;
    char k[16];
    int logger;

    snprintf(k, sizeof(k), "-k%u", buffers);
    logger = start("tracelogger", LOGGER_PRIORITY, "-cF1", k, "-fadvice.kev");
    for (int i = 0; i < 60000 && NameLookup("tracelogger", &name) < 0; i++) {
        sleep_ms(1);
    }
    sleep_ms(50); /* START is over */
    for (unsigned i = 0; i < times; i++) {
        finish(start("evstorm", STORM_PRIORITY, "8", "3000", NULL));
        sleep_ms(PAUSE_MS);
    }
    stop(&summary);
    finish(logger);
    EXPECT(summary.events > times * 24000);
    return summary;
}

static void t_advice(void)
{
    struct tracelogger_summary summary = storm(1, LEAST);

    EXPECT(summary.lost > 0);
    EXPECT(summary.advice > LEAST);
    say("ADVICE -k %u", (unsigned)summary.advice);
    EXPECT_EQ(storm(1, summary.advice).lost, 0);
}

/* What was lost in one storm needs no room any more when the next one comes; but with as few
 * buffers as here the logger hears of it only then, so it may be counted once more. */
static void t_storms(void)
{
    struct tracelogger_summary one = storm(1, LEAST), many = storm(STORMS, LEAST);

    EXPECT(many.lost > 2 * one.lost);
    EXPECT(many.advice > LEAST && many.advice <= 2 * one.advice);
    say("ADVICE -k %u of one storm, -k %u of more", (unsigned)one.advice, (unsigned)many.advice);
    EXPECT_EQ(storm(STORMS, many.advice).lost, 0);
}

/* -S in the midst of losses: the logger ends by itself, and all is counted; test/board looks. */
static void t_sized(void)
{
    struct kymo_name name;
    int logger = start("tracelogger", LOGGER_PRIORITY, "-ck2", "-S150k", "-fsized.kev");

    for (int i = 0; i < 60000 && NameLookup("tracelogger", &name) < 0; i++) {
        sleep_ms(1);
    }
    for (int i = 0; i < SIZED_STORMS && NameLookup("tracelogger", &name) == 0; i++) {
        finish(start("evstorm", STORM_PRIORITY, "8", "3000", NULL));
        sleep_ms(1);
    }
    if (NameLookup("tracelogger", &name) == 0) {
        struct tracelogger_summary summary;

        check_fail(__FILE__, __LINE__, "the limit is not reached");
        stop(&summary);
    }
    finish(logger);
}

/* Somebody else's recording is not touched. */
static void t_other(void)
{
    uint64_t paddr;

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 4, &paddr), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    ends_with(start("tracelogger", LOGGER_PRIORITY, "-c", NULL, NULL), 1);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_SETRINGMODE), ECANCELED); /* it still runs */
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
}

int main(void)
{
    static const struct check table[] = {{"that many buffers are enough", t_advice},
                                         {"and no more of several storms", t_storms},
                                         {"a size limit with losses", t_sized},
                                         {"another process's recording", t_other}};

    return check_run("advice", table, COUNT(table));
}
