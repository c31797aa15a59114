/* SPDX-License-Identifier: BSD-2-Clause */
/* libtest's checks: each failure is a line on the console and makes the status 1. */
#ifndef APPS_LIBTEST_CHECK_H
#define APPS_LIBTEST_CHECK_H

#include <errno.h>
#include <stdbool.h>

/* Prints the source line if `good` is false. Any thread. Returns good. */
bool check_that(bool good, const char *what, const char *file, int line);
#define CHECK(x) check_that((x), #x, __FILE__, __LINE__)
/* Checks that it fails like a C function: -1 and this errno. */
#define CHECK_ERRNO(x, e) \
    check_that((x) == -1 && errno == (e), #x " is not " #e, __FILE__, __LINE__)

void test_stress(void);
void test_threads(void);
void test_sync(void);
void test_time(void);
void test_files(void);
void test_console_gone(void);

#endif
