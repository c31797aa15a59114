/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A journal's lines are whole or not there (host/journal.c), and so are those of kymo collect: the
 * disk is full at each byte of a line, a flush fails, a crash has torn the last line at each byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/fleet/fleet.h"
#include "host/journal.h"
#include "host/temporary.h"
#include "test/host/support.h"

/* ---- the system, as it is or as a test wants it ------------------------------------ */

static int flush_error, truncate_error; /* 0: it works */

int __real_fdatasync(int fd);
int __real_ftruncate64(int fd, off_t bytes);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate64(int fd, off_t bytes);

int __wrap_fdatasync(int fd)
{
    errno = flush_error;
    return flush_error ? -1 : __real_fdatasync(fd);
}

int __wrap_ftruncate64(int fd, off_t bytes)
{
    errno = truncate_error;
    return truncate_error ? -1 : __real_ftruncate64(fd, bytes);
}

/* A disk with room for a file of so many bytes; 0: for any. */
static void disk_room(size_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* ---- a folder to work in ----------------------------------------------------------- */

static char place[256], path[300], said[4096];

static int setup(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    flush_error = truncate_error = 0;
    return temporary_directory("journal", place, sizeof(place));
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return system(command);
}

static void make(const char *name, const char *bytes, size_t count)
{
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", place, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static char *bytes_of(const char *file, size_t *count)
{
    static char room[16384];
    FILE *stream = fopen(file, "rb");

    assert_non_null(stream);
    *count = fread(room, 1, sizeof(room) - 1, stream);
    room[*count] = '\0';
    fclose(stream);
    return room;
}

static void holds(const char *wanted)
{
    size_t count;

    assert_string_equal(bytes_of(path, &count), wanted);
    assert_int_equal(count, strlen(wanted));
}

static struct journal begin(const char *bytes)
{
    struct journal journal;
    char torn[16];
    size_t cut;

    make("journal", bytes, strlen(bytes));
    assert_int_equal(
        journal_open(&journal, open(path, O_RDWR | O_APPEND), torn, sizeof(torn), &cut), 0);
    assert_int_equal(cut, 0);
    return journal;
}

/* ---- a journal --------------------------------------------------------------------- */

static const char before[] = "first line\nsecond line\n";
static const char line[] = "the line that is appended\n";

static void test_full_disk(void **state)
{
    char both[100];

    (void)state;
    snprintf(both, sizeof(both), "%s%s", before, line);
    for (size_t k = 0; k < strlen(line); k++) {
        struct journal journal = begin(before);

        disk_room(strlen(before) + k);
        errno = ENOENT; /* of another call, before */
        int result = journal_append(&journal, line, strlen(line));
        disk_room(0);
        assert_int_equal(result, -EFBIG);
        holds(before);
        assert_int_equal(journal_append(&journal, line, strlen(line)), 0);
        holds(both);
        close(journal.fd);
    }
}

/* What could not be cut off at once is cut off before the next line. */
static void test_failing_flush(void **state)
{
    struct journal journal = begin(before);

    (void)state;
    flush_error = EIO;
    assert_int_equal(journal_append(&journal, line, strlen(line)), -EIO);
    holds(before);
    truncate_error = EROFS;
    assert_int_equal(journal_append(&journal, line, strlen(line)), -EIO);
    assert_int_equal(journal_append(&journal, line, strlen(line)), -EROFS);
    flush_error = truncate_error = 0;
    assert_int_equal(journal_append(&journal, "x\n", 2), 0);
    holds("first line\nsecond line\nx\n");
    close(journal.fd);
}

static void test_torn(void **state)
{
    char bytes[100], torn[8], both[100];
    struct journal journal;
    size_t cut;

    (void)state;
    snprintf(both, sizeof(both), "%s%s", before, line);
    for (size_t old = 0; old <= strlen(before); old += strlen(before)) {
        for (size_t k = 0; k < strlen(line); k++) {
            snprintf(bytes, sizeof(bytes), "%.*s%.*s", (int)old, before, (int)k, line);
            make("journal", bytes, strlen(bytes));
            int fd = open(path, O_RDWR | O_APPEND);

            assert_int_equal(journal_open(&journal, fd, torn, sizeof(torn), &cut), 0);
            assert_int_equal(cut, k);
            assert_true(k == 0 || strncmp(torn, line, strlen(torn)) == 0);
            assert_int_equal(journal_append(&journal, line, strlen(line)), 0);
            holds(old == 0 ? line : both);
            close(fd);
        }
    }
}

/* A file without lines is nobody's journal. */
static void test_no_journal(void **state)
{
    char bytes[JOURNAL_LINE], torn[8];
    struct journal journal;
    size_t cut;

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    make("journal", bytes, sizeof(bytes));
    int fd = open(path, O_RDWR | O_APPEND);
    assert_int_equal(journal_open(&journal, fd, torn, sizeof(torn), &cut), -EINVAL);
    bytes_of(path, &cut);
    assert_int_equal(cut, sizeof(bytes));
    close(fd);
}

/* ---- that of kymo collect ---------------------------------------------------------- */

static struct device device = {.name = "a", .target = "unix:/x", .reports = -1, .words = -1};

/* Standard error goes to a pipe, which has no limit of a file, until hear_end() reads it. */
static int heard[2];

static int hear_begin(void)
{
    int err = dup(STDERR_FILENO);

    fflush(stderr);
    assert_int_equal(pipe2(heard, O_NONBLOCK | O_CLOEXEC), 0);
    assert_true(dup2(heard[1], STDERR_FILENO) >= 0);
    close(heard[1]);
    return err;
}

static void hear_end(int err)
{
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    ssize_t n = read(heard[0], said, sizeof(said) - 1);

    said[n > 0 ? n : 0] = '\0';
    close(heard[0]);
}

static bool collection_open(struct collect *collect)
{
    int err = hear_begin();

    *collect = (struct collect){.path = place, .devices = &device, .ndevices = 1};
    bool good = index_open(collect);

    hear_end(err);
    snprintf(path, sizeof(path), "%s/" COLLECT_INDEX, place);
    return good;
}

static void collection_close(struct collect *collect)
{
    close(collect->journal.fd);
    close(collect->folder);
}

static void test_collection(void **state)
{
    struct collect collect;
    char one[300], two[700];
    size_t length, all;

    (void)state;
    assert_true(collection_open(&collect));
    index_put(&collect, &device, "stored", "x.kev", 1);
    snprintf(one, sizeof(one), "%s", bytes_of(path, &length));
    index_put(&collect, &device, "stored", "y.kev", 2);
    snprintf(two, sizeof(two), "%s", bytes_of(path, &all));
    assert_true(length > 0 && all == 2 * length && !collect.is_failed);
    collection_close(&collect);
    for (size_t k = 0; k < length; k++) {
        make(COLLECT_INDEX, two, length + k); /* torn */
        assert_true(collection_open(&collect));
        assert_int_equal(strstr(said, "was torn") != NULL, k > 0);
        holds(one);
        disk_room(length + k); /* full */
        int err = hear_begin();
        index_put(&collect, &device, "stored", "y.kev", 2);
        hear_end(err);
        disk_room(0);
        assert_non_null(strstr(said, "File too large"));
        assert_non_null(strstr(said, "a/y.kev"));
        assert_true(collect.is_failed);
        holds(one);
        index_put(&collect, &device, "stored", "y.kev", 2);
        assert_int_equal(strlen(bytes_of(path, &all)), 2 * length);
        collection_close(&collect);
    }
}

/* A file of that name that no collection has written is left as it is. */
static void test_foreign_index(void **state)
{
    char bytes[JOURNAL_LINE];
    struct collect collect;
    size_t count;

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    make(COLLECT_INDEX, bytes, sizeof(bytes));
    assert_false(collection_open(&collect));
    assert_non_null(strstr(said, COLLECT_INDEX));
    bytes_of(path, &count);
    assert_int_equal(count, sizeof(bytes));
}

/* An index in which an earlier version has appended to a torn line, at each byte: the whole line's
 * capture is found, and the torn one is reported. */
static void test_merged_lines(void **state)
{
    static const char whole[] = "{\"time\":\"2026-01-02T03:04:05Z\",\"device\":\"a\",\"what\":"
                                "\"stored\",\"file\":\"a/x.kev\",\"bytes\":1}\n";
    char text[400], *argv[] = {place, NULL};

    (void)state;
    snprintf(text, sizeof(text), "%s/a", place);
    assert_int_equal(mkdir(text, 0777), 0);
    make("a/x.kev", "x", 1);
    for (int k = 0; k < (int)strlen(whole) - 1; k++) {
        struct fleet_options options = {.device = NULL};
        struct fleet_sources sources = {.options = &options};

        snprintf(text, sizeof(text), "%.*s%s", k, whole, whole);
        make(COLLECT_INDEX, text, strlen(text));
        int err = hear_begin();
        int status = fleet_sources_find(&sources, 1, argv);

        hear_end(err);
        assert_int_equal(status, 0);
        assert_int_equal(sources.count, 1);
        assert_string_equal(sources.list[0].device, "a");
        assert_int_equal(strstr(said, "torn") != NULL, k > 0);
        fleet_sources_free(&sources);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_full_disk),    TEST(test_failing_flush), TEST(test_torn),
        TEST(test_no_journal),   TEST(test_collection),    TEST(test_foreign_index),
        TEST(test_merged_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
