/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a server, and the results of calls after the server has ended. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/libtest/check.h"
#include "lib/include/kymo.h"
#include "lib/include/signal.h"

#define BIG 1500

static void libtest_test_descriptors(void)
{
    struct stat st;

    CHECK_ERRNO(write(15, "x", 1), EBADF);
    CHECK_ERRNO(write(-1, "x", 1), EBADF);
    CHECK_ERRNO(write(1000, "x", 1), EBADF);
    CHECK_ERRNO(read(15, &st, 1), EBADF);
    CHECK_ERRNO(close(15), EBADF);
    CHECK_ERRNO(open("/dev/nothing", O_RDWR), ENOENT);
    int fd = open("/dev/console", O_RDWR);
    CHECK(fd >= 3);
    CHECK(write(fd, "by descriptor\n", 14) == 14);
    CHECK(isatty(fd) && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
    CHECK_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
    CHECK_ERRNO(write(fd, (const void *)16, 10), EFAULT);
    CHECK(close(fd) == 0);
    CHECK_ERRNO(write(fd, "x", 1), EBADF);
}

/* A connection that the program made itself is not a file. */
static void libtest_test_connections(void)
{
    int chid = ChannelCreate(0);
    int coid = ConnectAttach(0, 0, chid, 3, 0);

    CHECK(coid >= 3);
    CHECK_ERRNO(write(coid, "x", 1), EBADF);
    CHECK(ConnectDetach(coid) == 0 && ChannelDestroy(chid) == 0);
}

static void libtest_test_streams(void)
{
    char *big = malloc(BIG);
    FILE *file = fopen("/dev/console", "w");

    if (CHECK(file != NULL)) {
        CHECK(fprintf(file, "by fopen: %g %s\n", 3.25, "ok") > 0);
        CHECK(fclose(file) == 0);
    }
    if (CHECK(big != NULL)) {
        memset(big, '.', BIG);
        big[BIG - 1] = '\n';
        CHECK(fwrite(big, 1, BIG, stdout) == BIG);
        free(big);
    }
    CHECK(malloc(100000000) == NULL && errno == ENOMEM);
}

void test_files(void)
{
    libtest_test_descriptors();
    libtest_test_connections();
    libtest_test_streams();
    CHECK(getpid() > 1);
    CHECK_ERRNO(kymo_spawn("no such program", NULL, NULL), ENOENT);
}

void test_console_gone(void)
{
    struct kymo_name console;

    if (!CHECK(NameLookup("console", &console) == 0)) {
        return;
    }
    CHECK(write(1, "the console is there\n", 21) == 21);
    CHECK(kill(console.pid, SIGKILL) == 0);
    CHECK_ERRNO(write(1, "x", 1), EBADF);
    CHECK_ERRNO(read(0, &console, 1), EBADF);
    CHECK(write(2, "errors still show\n", 18) == 18);
    CHECK_ERRNO(open("/dev/console", O_RDWR), ENOENT);
}
