/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of tracelogger: options.def, docs/man/tracelogger.1. */
#ifndef TRACELOGGER_OPTIONS_H
#define TRACELOGGER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum mode { MODE_LINEAR, MODE_RING };

#define ATTRIBUTES_MOST 16

struct options {
    enum mode mode;                          /* -r */
    bool daemon;                             /* -d1: applications start and stop */
    bool everything;                         /* -E: all events are on, even with -d1 */
    bool limited;                            /* -n or -c was given */
    uint32_t buffers;                        /* -n: stop after that many; 0: no limit */
    uint32_t seconds;                        /* -s: stop after; 0: no limit */
    uint32_t kernel_buffers;                 /* -k and -b: per CPU */
    uint32_t more_buffers;                   /* -b: of all CPUs */
    uint32_t flush_seconds;                  /* -D; 0: never */
    uint32_t idle_ms;                        /* --idle; 0: never */
    bool idle_given;                         /* it was */
    uint64_t size;                           /* -S: most bytes to write; 0: no limit */
    bool wide;                               /* -w */
    bool probes;                             /* --probes: the system's */
    unsigned verbose;                        /* -v, repeatable */
    uint32_t without;                        /* -F: bit per number: class left out */
    const char *file;                        /* -f */
    uint32_t after_seconds;                  /* --after: a D trigger; 0: at once */
    const char *gate;                        /* -x: a D program of the boot image; NULL: none */
    bool memory;                             /* -M */
    bool keep, reuse;                        /* -P, -R: of the kernel's buffers */
    const char *save, *remove;               /* --save, --remove: of memory objects */
    bool retain, recover, discard;           /* --retain, --recover, --discard */
    bool format, force, reclaim;             /* --format, --force, --reclaim: of a disk */
    const char *attributes[ATTRIBUTES_MOST]; /* -A: KEY=VALUE */
    unsigned attribute_count;
    char args[128]; /* the command line, truncated, for the capture's header */
};

#define FILTERS 9                /* -F takes 0..8 */
#define KERNEL_BUFFERS_MOST 1024 /* per CPU: the kernel's limit */

/* Returns 0 to continue; else the exit status plus 1 (1: --help was requested). */
int options_parse(int argc, char **argv, struct options *options);

#endif
