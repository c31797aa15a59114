/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Round trips of 8 bytes on a machine of several CPUs: ROUNDS times between two marks, from the
 * stack, to the server (bench_msg) of that name. The start script says on which CPU each of the two
 * runs (smp.start), and test/bench/smp_figures.py in which order it calls.
 *
 *   bench_smp NAME
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/neutrino.h"
#include "test/bench/mark.h"

enum { INTERVAL_MSG = 1, ROUNDS = 40 };

int main(int argc, char **argv)
{
    uint32_t out[2] = {sizeof(out)}, in[2];
    int coid = argc == 2 ? name_open(argv[1], 0) : -1;

    for (int i = 0; i < ROUNDS && coid >= 0; i++) {
        OPEN(INTERVAL_MSG);
        long status = MsgSend(coid, out, sizeof(out), in, sizeof(in));
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            coid = -1;
        }
    }
    if (coid < 0) {
        printf("bench_smp: %s\n", strerror(errno));
    }
    return coid < 0;
}
