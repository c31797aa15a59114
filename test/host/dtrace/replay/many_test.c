/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace -r` on captures with much in them: ten times as many snapshots, records, statuses or
 * processes cost about ten times the work, in whatever order the file has them. Work is counted in
 * basic blocks of host/dtrace (unit.mk), so no clock decides. And captures of several programs, and
 * of rings, which begin anywhere.
 */
#include "host/temporary.h"
#include "test/host/dtrace/replay/logged.h"
#include "trace/dtrace/log_event.h"
#include "trace/dtrace/dtrace.h"
#include "abi/sys/dtrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

static char folder[600], capture[700], out[700], err[700];

static int make_folder(void **state)
{
    (void)state;
    int error = temporary_directory("many", folder, sizeof(folder));
    snprintf(capture, sizeof(capture), "%s/capture.kev", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    snprintf(err, sizeof(err), "%s/err", folder);
    return error;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(capture);
    unlink(out);
    unlink(err);
    return rmdir(folder);
}

static int replay(void)
{
    const char *const argv[] = {"-r", capture};

    return logged_dtrace(2, argv, out, err);
}

/* ---- work -------------------------------------------------------------------------- */

enum { FIRST_PASS = 1000 };

/* Of pass `pass`: what a kernel logs, whose bytes come from the program's own. */
static void log_status(uint32_t pass)
{
    struct dtrace_status status = {.state = DTRACE_STATE_ACTIVE};

    logged_event(0, DTRACE_LOG_STATUS, (uint32_t[]){logged_handle, pass, 0, 0}, 4, &status,
                 sizeof(status));
}

static void log_taken(uint32_t pass, uint32_t records, uint64_t taken)
{
    struct dtrace_snap snap = {.taken = taken};

    logged_event(0, DTRACE_LOG_TAKEN, (uint32_t[]){logged_handle, pass, records, 0}, 4, &snap,
                 sizeof(snap));
}

static void log_record(uint32_t number, uint64_t time)
{
    struct dtrace_record head;

    memcpy(&head, logged_newest_record.bytes, sizeof(head));
    head.time_high = (uint32_t)(time >> 32);
    head.time_low = (uint32_t)time;
    memcpy(logged_newest_record.bytes, &head, sizeof(head));
    logged_event(0, DTRACE_LOG_RECORD, (uint32_t[]){logged_handle, number}, 2,
                 logged_newest_record.bytes, logged_newest_record.n);
}

static void log_entries(uint32_t pass, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        logged_event(0, DTRACE_LOG_ENTRY, (uint32_t[]){logged_handle, pass, 0, i}, 4,
                     logged_newest_entry.bytes, logged_newest_entry.n);
    }
    logged_event(0, DTRACE_LOG_ENTRIES, (uint32_t[]){logged_handle, pass, 0, n, 0, 0}, 6, "", 0);
}

static void snapshots(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_entries(FIRST_PASS + i, 3);
        log_taken(FIRST_PASS + i, 10, 1);
        log_status(FIRST_PASS + i);
    }
}

static void snapshots_backwards(uint32_t n)
{
    for (uint32_t i = n; i > 0; i--) {
        log_status(FIRST_PASS + i);
        log_taken(FIRST_PASS + i, 10, 1);
        log_entries(FIRST_PASS + i, 1);
    }
}

static void snapshots_without_status(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_taken(FIRST_PASS + i * 7919 % n, 10, 1);
    }
}

static void one_snapshot_again(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_taken(FIRST_PASS, 10, 1);
        log_status(FIRST_PASS);
    }
}

static void records(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_record(100 + i, i);
    }
}

/* None of the records is older than the snapshots: all wait till the end. */
static void records_that_wait(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_record(100 + i, UINT64_MAX / 2 - i);
        log_taken(FIRST_PASS + i, 100 + i + 1, 5);
        log_status(FIRST_PASS + i);
    }
}

static void processes(uint32_t n)
{
    struct kymo_d_process process = {.name = "p"};

    for (uint32_t i = 0; i < n; i++) {
        logged_event(0, DTRACE_LOG_PROCESS, (uint32_t[]){logged_handle, 1 + i * 7919, 0, 0}, 4,
                     &process, sizeof(process));
    }
}

static uint64_t work(void (*fill)(uint32_t n), uint32_t n)
{
    logged_capture = NULL;
    assert_int_equal(
        logged_record("-q", "-n", "BEGIN { @[1] = count(); trace(1); } BEGIN { exit(0); }", NULL),
        0);
    fill(n);
    logged_save(capture);
    blocks = 0;
    replay();
    return blocks;
}

static void test_work(void **state)
{
    static const struct {
        const char *name;
        void (*fill)(uint32_t n);
    } rows[] = {
        {"snapshots", snapshots},
        {"snapshots backwards", snapshots_backwards},
        {"snapshots without a status", snapshots_without_status},
        {"one snapshot again and again", one_snapshot_again},
        {"records", records},
        {"records that wait", records_that_wait},
        {"processes", processes},
    };
    enum { SOME = 300 };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t none = work(rows[i].fill, 0);
        uint64_t once = work(rows[i].fill, SOME) - none;
        uint64_t tenfold = work(rows[i].fill, 10 * SOME) - none;
        print_message("%s: %llu blocks, ten times as many: %llu\n", rows[i].name,
                      (unsigned long long)once, (unsigned long long)tenfold);
        assert_true(once > SOME);
        assert_true(tenfold < 15 * once); /* sorting is n log n */
    }
}

/* ---- several programs -------------------------------------------------------------- */

static int replay_two(const char *first, const char *second)
{
    logged_capture = NULL;
    logged_handle = 1;
    logged_record("-q", "-n", first, NULL);
    logged_handle = 2;
    logged_record("-q", "-n", second, NULL);
    logged_handle = LOGGED_HANDLE;
    logged_save(capture);
    return replay();
}

static void test_statuses(void **state)
{
    (void)state;
    assert_int_equal(replay_two("BEGIN { exit(0); }", "BEGIN { exit(0); }"), 0);
    assert_int_equal(replay_two("BEGIN { exit(3); }", "BEGIN { exit(0); }"), 3);
    assert_int_equal(replay_two("BEGIN { exit(0); }", "BEGIN { exit(4); }"), 4);
    assert_int_equal(replay_two("BEGIN { exit(3); }", "BEGIN { exit(4); }"), 3);
    assert_int_equal(replay_two("BEGIN { ftruncate(); exit(0); }", "BEGIN { exit(0); }"), 1);
}

/* ---- a ring's beginning ------------------------------------------------------------ */

enum { WRITER = LOGGED_CPUS }; /* a CPU of the capture that the program doesn't run on */

/* Logs a snapshot of CPU 0 with three entries of which the first two are missing. */
static void log_cut_snapshot(void)
{
    const uint32_t pass = FIRST_PASS;

    logged_event(WRITER, DTRACE_LOG_ENTRY, (uint32_t[]){logged_handle, pass, 0, 2}, 4,
                 logged_newest_entry.bytes, logged_newest_entry.n);
    logged_event(WRITER, DTRACE_LOG_ENTRIES, (uint32_t[]){logged_handle, pass, 0, 3, 0, 0}, 6, "",
                 0);
}

/* Prints a capture whose cut snapshot is the first that its writer has, or isn't; what it says. */
static const char *replay_cut(bool ring, bool first)
{
    static char said[4096];

    logged_capture = mk_new(&(struct mk_options){.ncpu = WRITER + 1, .start = 1000, .ring = ring});
    logged_record("-q", "-n", "BEGIN { @[1] = count(); } BEGIN { exit(0); }", NULL);
    if (!first) {
        struct kymo_d_process process = {.name = "p"};
        logged_event(WRITER, DTRACE_LOG_PROCESS, (uint32_t[]){logged_handle, 1, 0, 0}, 4, &process,
                     sizeof(process));
    }
    log_cut_snapshot();
    logged_save(capture);
    replay();
    FILE *file = fopen(err, "r");
    said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
    fclose(file);
    return said;
}

/* What a ring overwrote is older than the capture; only what is missing after that was lost. */
static void test_ring_begins_amid_a_snapshot(void **state)
{
    static const char behind[] = "dtrace: the capture begins after 2 aggregation entries of CPU 0",
                      lost[] = "2 aggregation drops on CPU 0";

    (void)state;
    assert_non_null(strstr(replay_cut(true, true), behind));
    assert_null(strstr(replay_cut(true, true), lost));
    assert_non_null(strstr(replay_cut(true, false), lost));
    assert_null(strstr(replay_cut(true, false), behind));
    assert_non_null(strstr(replay_cut(false, true), lost));
    assert_null(strstr(replay_cut(false, true), behind));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_ring_begins_amid_a_snapshot),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
