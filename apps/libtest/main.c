/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtest: checks libkymo and the C library on it: locks, errno per thread, stdio, files, threads,
 * time. `libtest` runs all; `libtest gone` what happens when the console server dies (it kills it:
 * needs the ability kill). Its last line is `libtest: ok` or the number of failures.
 */
#include <stdio.h>
#include <string.h>

#include "apps/libtest/check.h"

static int failures;

bool check_that(bool good, const char *what, const char *file, int line)
{
    int error = errno;

    if (!good) {
        __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "libtest: %s:%d: %s (errno %d)\n", file, line, what, error);
    }
    return good;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "gone") == 0) {
        test_console_gone();
    } else {
        test_stress();
        test_threads();
        test_sync();
        test_time();
        test_files();
    }
    if (failures) {
        fprintf(stderr, "libtest: %d failures\n", failures);
        return 1;
    }
    fprintf(stderr, "libtest: ok\n");
    printf("and this without a newline is flushed at the end. ");
    return 0;
}
