/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash: does one forbidden thing, chosen by its first argument, to show that only this process
 * ends. `crash list` lists them. If the system doesn't prevent it, crash reports that, with status
 * 3.
 */
#include <stdio.h>
#include <string.h>

#include "apps/crash/crash.h"

static const struct {
    const char *name, *text;
    void (*run)(void);
} kinds[] = {
#define KIND(name, text) {#name, text, kind_##name},
    KIND_LIST(KIND)
#undef KIND
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int crash_usage(int status)
{
    printf("usage: crash KIND | crash list\n"
           "Does one thing that a process must not do, and so ends.\n"
           "  list   what there is to do\n");
    return status;
}

static int crash_list_kinds(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        printf("%-16s%s\n", kinds[i].name, kinds[i].text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "list") == 0) {
        return crash_list_kinds();
    }
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        return crash_usage(0);
    }
    crash_argument(argc > 2 ? argv[2] : NULL);
    for (size_t i = 0; argc > 1 && i < KINDS; i++) {
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            printf("crash: %s\n", kinds[i].text);
            fflush(stdout);
            kinds[i].run();
            printf("crash: %s went through\n", argv[1]);
            return 3;
        }
    }
    return crash_usage(2);
}
