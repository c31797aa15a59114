/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watchdog: arms the board's watchdog and rearms it in time, for as long as this process gets to
 * run: if threads of at least its priority keep the CPUs, the machine is reset. Needs the ability
 * reset.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/include/kymo.h"

#define TIMES 4 /* it is rearmed this many times before it would expire */

static int watchdog_usage(int status)
{
    printf("usage: watchdog -t MS | watchdog -o\n"
           "Arms the board's watchdog and sets it back for as long as this process runs.\n"
           "  -t MS  milliseconds until it bites, at least %d\n"
           "  -o     it is off from now on\n",
           TIMES);
    return status;
}

static int watchdog_set_timeout(unsigned long ms)
{
    if (SystemCtl(KYMO_SYSTEM_WATCHDOG, (int)ms) == 0) {
        return 0;
    }
    if (errno == ENOSYS) {
        printf("watchdog: this board has none\n");
    } else if (errno == EPERM) {
        printf("watchdog: it needs the ability reset\n");
    } else {
        printf("watchdog: %lu ms: %s\n", ms, strerror(errno));
    }
    return 1;
}

static int watchdog_serve_text(const char *text)
{
    char *end;
    unsigned long ms = strtoul(text, &end, 10);

    if (*end || ms < TIMES || ms > INT32_MAX) {
        return watchdog_usage(2);
    }
    while (watchdog_set_timeout(ms) == 0) {
        usleep((useconds_t)(ms * 1000 / TIMES));
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        return watchdog_usage(0);
    }
    if (argc == 2 && strcmp(argv[1], "-o") == 0) {
        return watchdog_set_timeout(0);
    }
    return argc == 3 && strcmp(argv[1], "-t") == 0 ? watchdog_serve_text(argv[2])
                                                   : watchdog_usage(2);
}
