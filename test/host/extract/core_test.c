/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo extract --core: an image that becomes shorter while it is read, by any amount, ends the
 * command with a message and status 1.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/extract/core.h"
#include "host/temporary.h"
#include "test/host/support.h"

#define BYTES (64 * 4096)

/* What the command would do of an image that has `left` bytes once it is open; its status. */
static int status_of(off_t left)
{
    char path[256];
    int fd = temporary_file("core", path, sizeof(path)), status;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    pid_t pid = fork();
    if (pid == 0) {
        static struct core_window window;
        struct core_search search = {0};
        struct core core;

        if (core_open(&core, path, NULL) != 0 || ftruncate(fd, left) != 0) {
            _exit(3);
        }
        bool found = core_find(&core, &search, &window);
        _exit(found ? 4 : core_is_shorter(&core));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(fd);
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_shorter(void **state)
{
    (void)state;
    assert_int_equal(status_of(BYTES), 0);
    assert_int_equal(status_of(BYTES + 1), 0);
    for (off_t left = 0; left < BYTES; left += 4096 + 512) {
        assert_int_equal(status_of(left), 1);
    }
    assert_int_equal(status_of(BYTES - 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
