/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of tracelogger: docs/man/tracelogger.1. */
#ifndef TRACELOGGER_OPTIONS_H
#define TRACELOGGER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum mode { MODE_LINEAR, MODE_RING };

struct options {
    enum mode mode;
    uint32_t buffers;        /* -n: stop after that many; 0: no limit */
    uint32_t seconds;        /* -s: stop after; 0: no limit */
    uint32_t kernel_buffers; /* -k: per CPU */
    bool wide;               /* -w */
    unsigned verbose;        /* -v, repeatable */
    uint32_t without;        /* -F: bit per number: class left out */
    const char *file;        /* -f */
    bool format, reclaim;    /* --format, --reclaim: of a disk */
    char args[128];          /* the command line, cut, for the capture's header */
};

#define FILTERS 8                /* -F takes 0..7 */
#define KERNEL_BUFFERS_MOST 1024 /* per CPU: the kernel's limit */

/* 0 to go on; else the exit status plus 1 (1: --help was asked for). */
int options_parse(int argc, char **argv, struct options *options);

#endif
