/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the host tests share: a capture in memory as a file, reading all of one, printing to memory.
 */
#ifndef TEST_HOST_SUPPORT_H
#define TEST_HOST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after these: */
#include <cmocka.h>

#include "host/print/line.h"
#include "host/reader/kev.h"
#include "test/host/fabricate/mkcapture.h"

/* Writes bytes to a file of this process; returns its path (static). */
const char *support_file(const void *bytes, size_t len);
void support_remove(void);
struct kev *support_open(const struct mk *mk, const struct kev_options *options);

struct support_read {
    uint64_t events;
    uint64_t slots; /* that the events came in */
    uint64_t hash;  /* of all events */
    bool ordered;   /* by time */
    bool error;
    struct kev_error why;
};

/* Reads all events, decodes and prints each (to nowhere): no byte may crash it. */
struct support_read support_read_all(struct kev *kev);
/* As `kymo print` would print the events of a capture, without the header; to be freed. */
char *support_print(struct kev *kev, bool one_line);
/* With -p; every event is number 0 and the first one at time 0. */
char *support_print_format(struct kev *kev, const struct format *format);
/* With -n --style: a format for traceprinter 7 and 8, else NULL. */
char *support_print_dialect(struct kev *kev, enum line_dialect dialect,
                            const struct format *format);
/* The seed of random tests: KYMO_SEED or the time; printed. */
uint64_t support_seed(void);
/* Of a test that goes through all cases: EVERY=n takes each n-th, from one that the seed says. */
struct support_sample {
    size_t first, every;
};
struct support_sample support_sample(void);

#endif
