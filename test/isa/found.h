/* SPDX-License-Identifier: BSD-2-Clause */
/* What pid_places() finds in a function, for the tests of each CPU. Included after cmocka.h. */
#ifndef TEST_ISA_FOUND_H
#define TEST_ISA_FOUND_H

#include "host/pid/places.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct found {
    struct pid_place places[32];
    unsigned n;
};

static void take(void *arg, const struct pid_place *p)
{
    struct found *f = arg;

    assert_true(f->n < COUNT(f->places));
    f->places[f->n++] = *p;
}

static bool starts_at_1000(void *arg, uint64_t address)
{
    (void)arg;
    return address % 0x1000 == 0;
}

#endif
