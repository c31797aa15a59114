/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link's broker (host/link/broker.h) when more sessions come than it has descriptors for: they
 * wait at the door and the broker sleeps; when a descriptor becomes free the next one is let in.
 * accept4() is counted: the broker looks ten times a second, one that spins many thousand times.
 */
#include "host/link/broker.h"
#include "host/temporary.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SESSIONS = 8, HALF_A_SECOND = 500000 };

struct counts { /* shared with the broker's process */
    volatile unsigned calls, let_in;
};
static struct counts *counts;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
    int got = __real_accept4(fd, address, bytes, flags);

    counts->calls++;
    counts->let_in += got >= 0;
    return got;
}

static int listen_at(struct sockaddr_un *address, const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address->sun_family = AF_UNIX;
    assert_true(snprintf(address->sun_path, sizeof(address->sun_path), "%s", name) <
                (int)sizeof(address->sun_path));
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, 64), 0);
    return fd;
}

/* The broker's process: all descriptors but a few are taken. */
static pid_t start_broker(const struct place *place, const char *spec, int listener)
{
    pid_t broker = fork();

    if (broker == 0) {
        int top = dup(listener); /* the next free one: the line's */
        close(top);
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)top + 3, (rlim_t)top + 3});
        broker_run(place, spec, listener);
    }
    assert_true(broker > 0);
    return broker;
}

static void wait_until_let_in(unsigned n)
{
    for (unsigned i = 0; counts->let_in < n; i++) {
        assert_true(i < 600000); /* a hang detector */
        usleep(1000);
    }
}

/* However long this process had to wait for a CPU: in that time the broker may look more often. */
static unsigned hundredths_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)((now.tv_sec - began->tv_sec) * 100 +
                      (now.tv_nsec - began->tv_nsec) / 10000000);
}

static void test_without_descriptors(void **state)
{
    struct timespec began;
    char folder[600], spec[100];
    struct sockaddr_un target = {0};
    struct place place = {0};
    int session[SESSIONS], line, at_target, listener, status;

    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &began);
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(temporary_directory("broker", folder, sizeof(folder)), 0);
    assert_int_equal(chdir(folder), 0); /* sockets have short paths */
    at_target = listen_at(&target, "target");
    listener = listen_at(&place.address, "door");
    snprintf(place.lock, sizeof(place.lock), "lock");
    snprintf(spec, sizeof(spec), "unix:target");

    pid_t broker = start_broker(&place, spec, listener);
    line = __real_accept4(at_target, NULL, NULL, SOCK_CLOEXEC);
    assert_true(line >= 0);
    for (unsigned i = 0; i < SESSIONS; i++) {
        session[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(
            connect(session[i], (struct sockaddr *)&place.address, sizeof(place.address)), 0);
    }
    wait_until_let_in(2);
    usleep(HALF_A_SECOND);
    assert_int_equal(counts->let_in, 2);
    assert_true(counts->calls < 100 + hundredths_since(&began));
    close(session[0]); /* makes place for one more */
    wait_until_let_in(3);
    usleep(HALF_A_SECOND);
    assert_int_equal(counts->let_in, 3);
    assert_true(counts->calls < 200 + hundredths_since(&began));

    close(line); /* the broker ends */
    for (unsigned i = 1; i < SESSIONS; i++) {
        close(session[i]);
    }
    close(listener);
    assert_int_equal(waitpid(broker, &status, 0), broker);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    unlink("target");
    unlink("door");
    unlink("lock");
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
    munmap(counts, sizeof(*counts));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
