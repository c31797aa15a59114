/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a function in a child process and watches each of its system calls (ptrace): a call that
 * starts a program, makes or changes a file, opens a file that nobody allowed, or reaches for the
 * network ends the child. One thread.
 */
#ifndef TEST_HOST_DTRACE_REPLAY_GUARD_H
#define TEST_HOST_DTRACE_REPLAY_GUARD_H

#include <stdbool.h>

struct guard_result {
    bool broken;    /* a call that is forbidden was tried */
    char what[400]; /* which, for people */
    int status;     /* else the function's result */
    int signal;     /* or what ended it */
    unsigned calls; /* system calls seen */
};

/* readable: paths that may be opened for reading, NULL at the end. The child's result is fn(arg),
 * 0 to 255; it ends with _exit(). Its CPU time is bounded. */
struct guard_result guard_run(int (*fn)(void *arg), void *arg, const char *const *readable);

#endif
