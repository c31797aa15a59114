/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of libkev share: made captures, and reading all of one through kev.h alone. A
 * hash is over all events with their owners, names and values.
 */
#ifndef TEST_HOST_KEV_SEE_H
#define TEST_HOST_KEV_SEE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* after these: */
#include <cmocka.h>

#include "host/kev/kev.h"
#include "test/host/fabricate/mkcapture.h"

#define NAME "made.kev" /* what messages call a capture in memory */
#define HASH_FIRST 14695981039346656037ull

struct seen {
    int outcome;
    int32_t code;
    uint64_t events, losses, scopes, counted, missing;
    uint64_t hash; /* of all events, names and values */
    int64_t last;
    bool ordered;
    char first[256]; /* the first loss */
};

extern uint64_t seed; /* of below(): KYMO_SEED repeats a run */

uint32_t below(uint32_t n);
void item_see(struct seen *seen, struct kev_capture *capture, const struct kev_item *item);
/* Reads what is left, if `outcome` is none that ends it; no byte may crash it. */
struct seen see_rest(struct kev_capture *capture, int outcome);
struct seen see_bytes(const void *bytes, size_t length, int recover);
/* A capture of all classes with its end mark; lossy: it has losses, and counts them. */
struct mk *made(unsigned ncpu, unsigned events, bool lossy);
struct kev_capture *open_made(const struct mk *mk);

#endif
