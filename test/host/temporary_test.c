/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Temporary directories that a killed process leaves: removed by the next process that makes one,
 * and never one whose owner lives, however many make, keep and remove theirs at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/temporary.h"
#include "test/host/support.h"

enum { PROCESSES = 6, ROUNDS = 200 };

static const char *const files[] = {"own", NULL};
static char place[PATH_MAX], before[PATH_MAX];

static int setup(void **state)
{
    (void)state;
    snprintf(before, sizeof(before), "%s", temporary_place());
    return temporary_directory("temporary", place, sizeof(place)) == 0 &&
                   setenv("TMPDIR", place, 1) == 0
               ? 0
               : -1;
}

static int teardown(void **state)
{
    char command[PATH_MAX + 16];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return setenv("TMPDIR", before, 1) == 0 ? system(command) : -1;
}

static bool is_there(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return lstat(path, &st) == 0;
}

static bool file_make(const char *folder, const char *name, const char *text)
{
    char path[2 * PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* In a process that ends without removing it: its directory. */
static void leave(const char *name, const char *text, char *path)
{
    int ends[2], status;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int held = temporary_directory_hold("held", files, path, PATH_MAX);
        bool good =
            held >= 0 && file_make(path, name, text) && write(ends[1], path, PATH_MAX) == PATH_MAX;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(read(ends[0], path, PATH_MAX), PATH_MAX);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void test_dead_ones_go(void **state)
{
    static char dead[PATH_MAX], full[PATH_MAX], foreign[PATH_MAX], mine[PATH_MAX], other[PATH_MAX];
    int held, again;

    (void)state;
    leave("foreign", "", foreign);
    leave("own", "data", full);
    leave("own", "", dead);
    held = temporary_directory_hold("held", files, mine, sizeof(mine));
    assert_true(held >= 0);
    assert_false(is_there(dead, "."));
    assert_true(is_there(foreign, "foreign"));
    assert_true(is_there(full, "own"));
    assert_true(file_make(mine, "own", ""));
    again = temporary_directory_hold("held", files, other, sizeof(other));
    assert_true(again >= 0);
    assert_true(is_there(mine, "own"));
    assert_true(fcntl(held, F_GETFD) & FD_CLOEXEC);
    close(held); /* as if its process had ended */
    assert_true(temporary_directory_hold("else", files, dead, sizeof(dead)) >= 0);
    assert_true(is_there(mine, "own")); /* another WHAT */
    assert_true(temporary_directory_hold("held", files, dead, sizeof(dead)) >= 0);
    assert_false(is_there(mine, "."));
    assert_true(is_there(other, "."));
}

/* Files of a pattern go with what is in them, and nothing else does. */
static void test_scratch(void **state)
{
    static const char *const rows[] = {">*-*.csv", "mark", NULL};
    static char dead[PATH_MAX], full[PATH_MAX], foreign[PATH_MAX], mine[PATH_MAX];

    (void)state;
    leave("events-0.csv", "data", dead);
    assert_true(file_make(dead, "mark", "") && file_make(dead, "losses-1.csv", ""));
    leave("mark", "data", full);
    leave("events.csv", "data", foreign);
    assert_true(temporary_directory_hold("held", rows, mine, sizeof(mine)) >= 0);
    assert_false(is_there(dead, "."));
    assert_true(is_there(full, "mark") && is_there(foreign, "events.csv"));
}

static void test_nowhere(void **state)
{
    char path[8];

    (void)state;
    assert_int_equal(temporary_directory_hold("held", files, path, sizeof(path)), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(temporary_directory_hold("held", files, path, sizeof(path)), -1);
    assert_int_equal(errno, ENOENT);
    setenv("TMPDIR", place, 1);
}

/* A lack of descriptors is reported as such, and leaves nothing. */
static void test_no_descriptors(void **state)
{
    char path[PATH_MAX];
    int status;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        int next = dup(0);
        struct rlimit limit = {.rlim_cur = (rlim_t)next, .rlim_max = (rlim_t)next};

        close(next);
        _exit(setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                      temporary_directory_hold("held", files, path, sizeof(path)) == -1 &&
                      errno == EMFILE
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(rmdir(place), 0); /* nothing is in it */
    assert_int_equal(mkdir(place, 0700), 0);
}

/* A directory is its owner's until that removes it, or ends without doing so. */
static int hold_many(void)
{
    char path[PATH_MAX];

    for (int i = 0; i < ROUNDS; i++) {
        int held = temporary_directory_hold("held", files, path, sizeof(path));

        if (held < 0 || !file_make(path, "own", "")) {
            return 1;
        }
        sched_yield();
        if (!is_there(path, "own")) {
            return 2;
        }
        if (i % 3 == 0) {
            close(held); /* left to the others */
            continue;
        }
        strcat(path, "/own");
        unlink(path);
        *strrchr(path, '/') = '\0';
        if (rmdir(path) != 0) {
            return 3;
        }
        close(held);
    }
    return 0;
}

static void test_many_at_once(void **state)
{
    static char path[PATH_MAX];
    int status;

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
            _exit(hold_many());
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_true(temporary_directory_hold("held", files, path, sizeof(path)) >= 0);
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dead_ones_go, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scratch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_at_once, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
