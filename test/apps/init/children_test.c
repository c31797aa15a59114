/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/init/children.c: children that end in every order, fail and may fail, against a naive model;
 * the kernel is told of the first failure only. Built with ASan and UBSan.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/init/children.h"

#define ROUNDS 20000
#define SIGNALLED 11
#define EXITED (3 << 8)

/* The kernel's side: children that run, and those that have ended in the order of their end. */
static struct {
    int pid, status;
    bool ended;
} kernel[CHILDREN_MOST + 1];
static int running, told;

int SystemCtl(int what, int value)
{
    assert_int_equal(what, KYMO_SYSTEM_STATUS);
    assert_int_equal(value, 1);
    told++;
    return 0;
}

/* Without one that has ended a real ProcWait() would wait: here the first that runs ends then. */
int ProcWait(int pid, int *status, int options)
{
    assert_int_equal(pid, 0);
    for (int wait = 0; wait < 2; wait++) {
        for (int i = 0; i < running; i++) {
            if (kernel[i].ended || wait) {
                int found = kernel[i].pid;

                *status = kernel[i].status;
                kernel[i] = kernel[--running];
                return found;
            }
        }
        if (options & KYMO_WAIT_NOHANG) {
            return running ? 0 : -1;
        }
    }
    errno = ECHILD;
    return -1;
}

static enum line_server server; /* of those that start() starts */

static int start(const char *name, int status, bool background, bool may_fail)
{
    static int next = 3;
    struct line line = {
        .words = {name}, .background = background, .may_fail = may_fail, .server = server};

    if (children_add(next, &line) != 0) {
        return -1;
    }
    kernel[running].pid = next;
    kernel[running].status = status;
    kernel[running++].ended = false;
    return next++;
}

/* One after the other: the first failure stays for all that follows. */
static void test_first_failure(void **state)
{
    (void)state;
    assert_int_equal(children_wait_any(), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(children_wait(start("good", 0, false, false)), 0);
    assert_int_equal(children_wait(start("may", SIGNALLED, false, true)), 0);
    start("may", EXITED, true, true);
    assert_int_equal(children_wait_background(), 0);
    assert_null(children_failed());
    assert_int_equal(told, 0);
    int behind = start("behind", SIGNALLED, true, false);
    kernel[0].ended = true;
    children_reap();
    assert_string_equal(children_failed(), "behind");
    assert_int_equal(children_wait(behind), 0); /* it is no child any more: no wait */
    children_wait(start("later", EXITED, false, false));
    assert_string_equal(children_failed(), "behind");
    assert_int_equal(told, 1);
}

static void test_as_many_as_there_may_be(void **state)
{
    (void)state;
    for (int i = 0; i < CHILDREN_MOST; i++) {
        assert_true(start("many", 0, true, false) > 0);
    }
    assert_int_equal(start("one more", 0, true, false), -1);
    assert_int_equal(children_wait_any(), 0);
    assert_true(start("one more", 0, true, false) > 0);
    assert_int_equal(children_wait_background(), 0);
    assert_int_equal(running, 0);
    assert_true(start("after", 0, false, false) > 0);
    assert_int_equal(children_wait_any(), 0);
}

static bool runs(int pid)
{
    for (int i = 0; i < running; i++) {
        if (kernel[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* Servers are not waited for, whatever they are started as, however many there are, and where they
 * are among the others. A name that somebody else has makes nobody a server. */
static void test_servers(void **state)
{
    (void)state;
    for (int named = 0; named < 8; named++) {
        int pids[9];

        for (int i = 0; i < 9; i++) {
            server = (enum line_server)(i % 3);
            pids[i] = start("server", 0, true, false);
        }
        server = SERVER_IF_NAMED;
        children_named(4711);
        children_named(0);
        for (int i = 0; i < 9; i++) {
            if (named >> i / 3 & 1) {
                children_named(pids[i]);
            }
        }
        assert_int_equal(children_wait_background(), 0); /* a server may end meanwhile, too */
        for (int i = 0; i < 9; i++) {
            enum line_server said = (enum line_server)(i % 3);
            bool serves = said == SERVER_YES || (said == SERVER_IF_NAMED && named >> i / 3 & 1);

            assert_true(serves || !runs(pids[i]));
        }
        server = SERVER_YES;
        int last = start("last", 0, true, false), before = running;
        server = SERVER_IF_NAMED;
        assert_int_equal(children_wait_background(), 0);
        assert_int_equal(running, before);
        assert_int_equal(children_wait(last), 0); /* a line without & is waited for in any case */
        while (running > 0) {
            assert_int_equal(children_wait_any(), 0);
        }
    }
}

/* A wait for one ends when that one has ended, and not before; those in the background are waited
 * for, however many others have been seen to end. SEED=n repeats. */
static void test_random(void **state)
{
    const char *seed = getenv("SEED");

    (void)state;
    srand(seed ? (unsigned)atoi(seed) : 1);
    for (int round = 0; round < ROUNDS; round++) {
        bool background = rand() % 2;
        int pid = start("random", rand() % 3 ? 0 : EXITED, background, rand() % 2);

        for (int i = 0; i < running; i++) {
            kernel[i].ended |= rand() % 4 == 0;
        }
        if (pid < 0 || rand() % 8 == 0) {
            assert_int_equal(children_wait_background(), 0);
        } else if (!background) {
            assert_int_equal(children_wait(pid), 0);
            for (int i = 0; i < running; i++) {
                assert_int_not_equal(kernel[i].pid, pid);
            }
        } else if (rand() % 4 == 0) {
            children_reap();
            for (int i = 0; i < running; i++) {
                assert_false(kernel[i].ended);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_as_many_as_there_may_be),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
