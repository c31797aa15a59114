/* SPDX-License-Identifier: BSD-2-Clause */
/* The smallest useful program: docs/guide/app.md begins with it. */
#include <stdio.h>
#include <sys/trace.h>

int main(int argc, char **argv)
{
    printf("hello from %s\n", argv[0]);
    for (int i = 1; i < argc; i++) {
        printf("  argument %d: %s\n", i, argv[i]);
    }
    trace_logf(100, "hello, trace");
    return 0;
}
