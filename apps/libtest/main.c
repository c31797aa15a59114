/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtest: checks libkymo and its C library: locks, errno per thread, stdio, files, threads, time.
 * `libtest` runs all; `libtest gone` checks the calls after the console server has ended (it kills
 * it: needs the ability kill). Prints a line `TEST libtest/<part>: ok` or `… FAIL` for each part.
 */
#include <stdio.h>
#include <string.h>

#include "apps/libtest/check.h"

static int libtest_failures;

bool check_that(bool good, const char *what, const char *file, int line)
{
    int error = errno;

    if (!good) {
        __atomic_fetch_add(&libtest_failures, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "libtest: %s:%d: %s (errno %d)\n", file, line, what, error);
    }
    return good;
}

/* Prints a line for each part, as test/board/run.py reads it. */
static void libtest_run_part(const char *name, void (*run)(void))
{
    int before = libtest_failures;

    run();
    if (libtest_failures == before) {
        fprintf(stderr, "TEST libtest/%s: ok\n", name);
    } else {
        fprintf(stderr, "TEST libtest/%s: FAIL %d checks\n", name, libtest_failures - before);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "gone") == 0) {
        libtest_run_part("console gone", test_console_gone);
    } else {
        libtest_run_part("stress", test_stress);
        libtest_run_part("threads", test_threads);
        libtest_run_part("sync", test_sync);
        libtest_run_part("time", test_time);
        libtest_run_part("files", test_files);
        printf("and this without a newline is flushed at the end. ");
    }
    return libtest_failures ? 1 : 0;
}
