/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() as a table: every command word of abi/sys/trace.h, with right arguments, for
 * each who and when: without the ability, without buffers, the buffers' owner, somebody else, the
 * owner gone; tracing stopped and running. That the table is whole, docs/reference/traceevent.md's
 * and the meddler's too, is read out of the header. What the kernel itself answers (it copies, or
 * needs no lock) has a row that says so; wrong arguments are control_test.c's, filter_test.c's,
 * threads_test.c's.
 */
#include "test/trace/look.h"

#include <stdio.h>
#include <string.h>

#define OTHER ((void *)0x2000)

/* Who asks, and when. */
enum when {
    NOT_ABLE,
    NO_BUFFERS,
    OWNER_STOPPED,
    OWNER_RUNNING,
    OTHER_STOPPED,
    OTHER_RUNNING,
    OWNER_GONE,
    WHENS
};

#define P -EPERM
#define C -ECANCELED
#define F -EFAULT
#define X -EEXIST
#define V -EINVAL
#define A -EAGAIN
#define S -ENOTSUP
#define D TRACE_DUMP_WANTED

static const struct row {
    const char *name;
    uint32_t cmd;
    uint32_t args[4];
    long answer[WHENS];
    bool pointer; /* its answer goes to one: none is EFAULT */
    bool kernel;  /* kernel/observe/trace_calls.c has it */
} rows[] = {
/* clang-format off */
#define ROW(name, args, ...) {#name, _NTO_TRACE_##name, args, {__VA_ARGS__}, false, false}
#define POINTER(name, args, ...) {#name, _NTO_TRACE_##name, args, {__VA_ARGS__}, true, false}
#define KYMO(name, args, ...) {#name, KYMO_TRACE_##name, args, {__VA_ARGS__}, false, false}
#define KYMO_POINTER(name, args, ...) {#name, KYMO_TRACE_##name, args, {__VA_ARGS__}, true, false}
#define KERNEL(name) {#name, _NTO_TRACE_##name, {0}, {0}, false, true}
#define KYMO_KERNEL(name) {#name, KYMO_TRACE_##name, {0}, {0}, false, true}
#define ARGS(...) {__VA_ARGS__}
    /*                                not able, no buffers, owner: stopped, running, other, gone */
    ROW(ADDALLCLASSES, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    ROW(DELALLCLASSES, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    ROW(ADDCLASS, ARGS(14), P, 0, 0, 0, 0, 0, 0),
    ROW(DELCLASS, ARGS(14), P, 0, 0, 0, 0, 0, 0),
    ROW(ADDEVENT, ARGS(14, 3), P, 0, 0, 0, 0, 0, 0),
    ROW(DELEVENT, ARGS(14, 3), P, 0, 0, 0, 0, 0, 0),
    ROW(ADDEVENTHANDLER, ARGS(14, 3, 5, 6), P, S, S, S, S, S, S),
    ROW(DELEVENTHANDLER, ARGS(14, 3), P, S, S, S, S, S, S),
    KERNEL(INSERTEVENT),
    ROW(START, ARGS(0), P, C, D, 0, D, 0, D),
    ROW(STOP, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    POINTER(ALLOCBUFFER, ARGS(4), P, 0, X, X, X, X, 0),
    ROW(DEALLOCBUFFER, ARGS(0), P, F, 0, 0, P, P, 0),
    ROW(FLUSHBUFFER, ARGS(0), P, F, 0, 0, 0, 0, 0),
    ROW(QUERYEVENTS, ARGS(0), P, F, 0, 3, 0, 3, 0),
    ROW(SETALLCLASSESFAST, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    ROW(SETALLCLASSESWIDE, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    ROW(SETCLASSFAST, ARGS(10), P, 0, 0, 0, 0, 0, 0),
    ROW(SETCLASSWIDE, ARGS(10), P, 0, 0, 0, 0, 0, 0),
    ROW(SETEVENTFAST, ARGS(10, 2), P, 0, 0, 0, 0, 0, 0),
    ROW(SETEVENTWIDE, ARGS(10, 2), P, 0, 0, 0, 0, 0, 0),
    ROW(SETCLASSPID, ARGS(14, 5), P, 0, 0, 0, 0, 0, 0),
    ROW(SETCLASSTID, ARGS(14, 5, 1), P, 0, 0, 0, 0, 0, 0),
    ROW(SETEVENTPID, ARGS(14, 3, 5), P, 0, 0, 0, 0, 0, 0),
    ROW(SETEVENTTID, ARGS(14, 3, 5, 1), P, 0, 0, 0, 0, 0, 0),
    ROW(CLRCLASSPID, ARGS(14), P, 0, 0, 0, 0, 0, 0),
    ROW(CLRCLASSTID, ARGS(14), P, 0, 0, 0, 0, 0, 0),
    ROW(CLREVENTPID, ARGS(14, 3), P, 0, 0, 0, 0, 0, 0),
    ROW(CLREVENTTID, ARGS(14, 3), P, 0, 0, 0, 0, 0, 0),
    KERNEL(INSERTSUSEREVENT),
    KERNEL(INSERTCUSEREVENT),
    KERNEL(INSERTUSRSTREVENT),
    ROW(STARTNOSTATE, ARGS(0), P, C, 0, 0, 0, 0, 0),
    ROW(SETRINGMODE, ARGS(0), P, C, 0, C, P, P, 0),
    ROW(SETLINEARMODE, ARGS(0), P, C, 0, C, P, P, 0),
    ROW(ADDCLASSEVHANDLER, ARGS(14, 5, 6), P, S, S, S, S, S, S),
    ROW(DELCLASSEVHANDLER, ARGS(14), P, S, S, S, S, S, S),
    ROW(SKIPBUFFER, ARGS(0), P, 0, 0, 0, P, P, 0),
    ROW(OVERWRITEBUFFER, ARGS(0), P, 0, 0, 0, P, P, 0),
    ROW(QUERYVERSION, ARGS(0), 640, 640, 640, 640, 640, 640, 640),
    ROW(QUERYSUPPORT, ARGS(0), 1, 1, 1, 1, 1, 1, 1),
    KERNEL(INSERTSCLASSEVENT),
    KERNEL(INSERTCCLASSEVENT),
    ROW(SETBUFFER, ARGS(1, 2), P, S, S, S, S, S, S),
    ROW(LOGGER_ATTACH, ARGS(1, 2), P, S, S, S, S, S, S),
    ROW(WAITBUFFER, ARGS(1), P, S, S, S, S, S, S),
    ROW(LOGGER_DETACH, ARGS(0), P, S, S, S, S, S, S),
    ROW(PMU_CONFIG, ARGS(1), P, S, S, S, S, S, S),
    ROW(PMU_QUERYEVENTS, ARGS(0), P, S, S, S, S, S, S),
    KYMO_POINTER(TAKEBUFFER, ARGS(0), P, F, A, A, P, P, A),
    KYMO(GIVEBUFFER, ARGS(0), P, F, V, V, P, P, V),
    KYMO(SETFILLMODE, ARGS(0), P, C, 0, C, P, P, 0),
    KYMO(SETHIGHWATER, ARGS(100), P, 0, 0, 0, P, P, 0),
    KYMO_POINTER(QUERYLOSS, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    KYMO_POINTER(QUERYOWNER, ARGS(0), P, F, 0, 0, 0, 0, 0),
    KYMO(CLRALLTHREADS, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    KYMO(FLUSHCPUS, ARGS(1), P, F, C, 0, C, 0, C),
    KYMO_POINTER(SETGATE, ARGS(0), P, 0, 0, 0, P, P, 0),
    KYMO_POINTER(QUERYSTOPPED, ARGS(0), P, 0, 0, 0, 0, 0, 0),
    KYMO_POINTER(ALLOCRETAINED, ARGS(2), P, 0, X, X, X, X, 0),
    KYMO_KERNEL(QUERYRETAINED),
    KYMO_KERNEL(READRETAINED),
    KYMO_KERNEL(DROPRETAINED),
    KYMO_KERNEL(ALLOCOBJECT), /* offers memory, then ALLOCBUFFER */
    KYMO_KERNEL(USERWORD),
    KYMO_KERNEL(USERSITES),
    KYMO_KERNEL(INSERTPROBE),
    /* clang-format on */
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- who and when ------------------------------------------------------------------ */

static uint64_t data[512];

static void arrange(enum when when)
{
    fake_boot(1);
    memset(data, 0, sizeof(data));
    if (when == NOT_ABLE || when == NO_BUFFERS) {
        return;
    }
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(trace_user_simple(1, 2, 3), 0);
    if (when == OWNER_GONE) {
        trace_owner_gone(OWNER);
    }
    if (when == OWNER_STOPPED || when == OTHER_STOPPED) {
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
    }
    if (when != OWNER_RUNNING && when != OTHER_RUNNING) {
        assert_int_equal(
            command_as(when == OWNER_GONE ? OTHER : OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, data), 0);
        assert_int_equal(
            command_as(when == OWNER_GONE ? OTHER : OWNER, KYMO_TRACE_GIVEBUFFER, 0, 0, NULL), 0);
        memset(data, 0, sizeof(data));
    }
}

static long ask(enum when when, const struct row *row, void *to)
{
    struct trace_caller who = {.owner = when <= OWNER_RUNNING ? OWNER : OTHER,
                               .pid = 1,
                               .tid = 1,
                               .able = when != NOT_ABLE,
                               .name = "tracelogger"};

    return trace_control(&who, row->cmd, row->args, to);
}

static void every_command_at_every_time(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROWS; i++) {
        for (enum when when = NOT_ABLE; when < WHENS; when++) {
            arrange(when);
            long answer = ask(when, &rows[i], data);

            if (answer != rows[i].answer[when] && !rows[i].kernel) {
                fail_msg("%s, %u: %ld, not %ld", rows[i].name, when, answer, rows[i].answer[when]);
            }
        }
    }
}

static void answers_want_a_place(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROWS; i++) {
        if (rows[i].pointer) {
            arrange(strncmp(rows[i].name, "ALLOC", 5) == 0 ? NO_BUFFERS : OWNER_STOPPED);
            assert_int_equal(ask(OWNER_STOPPED, &rows[i], NULL), -EFAULT);
        }
    }
}

/* ---- the tables are whole ---------------------------------------------------------- */

static bool in_table(const char *name)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* In a line of a file that begins so. */
static bool in_file(const char *path, const char *begin, const char *what)
{
    char line[4096];
    FILE *f = fopen(path, "r");
    bool found = false;

    assert_non_null(f);
    while (!found && fgets(line, sizeof(line), f)) {
        found = strncmp(line, begin, strlen(begin)) == 0 && strstr(line, what);
    }
    fclose(f);
    return found;
}

static bool in_docs(const char *name)
{
    char want[80];

    snprintf(want, sizeof(want), "`%s`", name);
    return in_file("docs/reference/traceevent.md", "| ", want);
}

/* The program that calls all of them at random. */
static bool is_meddled_with(const char *name)
{
    char row[80], own[80];

    snprintf(row, sizeof(row), "ROW(%s, ", name);
    snprintf(own, sizeof(own), "KYMO(%s, ", name);
    return in_file("test/board/programs/meddler_all.c", "    ", row) ||
           in_file("test/board/programs/meddler_all.c", "    ", own);
}

/* The name that a line of the header defines as a command, or false. The word may be on the next
 * line. */
static bool command_of(const char *line, FILE *header, char name[64])
{
    char next[256] = "";

    if (sscanf(line, "#define _NTO_TRACE_%60[A-Z_]", name) != 1 &&
        sscanf(line, "#define KYMO_TRACE_%60[A-Z_]", name) != 1) {
        return false;
    }
    if (strchr(line, '\\') && !fgets(next, sizeof(next), header)) {
        return false;
    }
    return (strstr(line, "_NTO_TRACE_CMD(") || strstr(next, "_NTO_TRACE_CMD(")) &&
           strcmp(name, "CMD") != 0;
}

static void every_command_has_a_row(void **unused)
{
    char line[256], name[64];
    unsigned commands = 0;
    FILE *header = fopen("abi/sys/trace.h", "r");

    (void)unused;
    assert_non_null(header);
    while (fgets(line, sizeof(line), header)) {
        if (command_of(line, header, name)) {
            commands++;
            if (!in_table(name)) {
                fail_msg("%s has no row here", name);
            }
            if (!in_docs(name)) {
                fail_msg("%s has no row in docs/reference/traceevent.md", name);
            }
            if (!is_meddled_with(name)) {
                fail_msg("%s has no row in test/board/programs/meddler_all.c", name);
            }
        }
    }
    fclose(header);
    assert_int_equal(commands, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_at_every_time),
        cmocka_unit_test(answers_want_a_place),
        cmocka_unit_test(every_command_has_a_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
