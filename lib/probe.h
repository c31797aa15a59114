/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of an event of a static probe, a program's own or the system's. Any context, no lock.
 */
#ifndef LIB_PROBE_H
#define LIB_PROBE_H

#include <stdint.h>

#include "lib/include/kymo_log.h"

enum { PROBE_ARGUMENTS_MOST = 6, PROBE_WORDS_MOST = 2 + 2 * PROBE_ARGUMENTS_MOST };

/* Writes the words that identify the program and the site (abi/sys/log.h), and n arguments. wide: a
 * bit for each argument of 64 bits. Returns the number of words. */
static inline unsigned probe_words_put(uint32_t words[PROBE_WORDS_MOST], const void *site,
                                       const unsigned long *args, unsigned n, unsigned wide)
{
    unsigned at = 2;

    words[0] = (uint32_t)(uintptr_t)site;
    words[1] = kymo_log_note[4];
    for (unsigned i = 0; i < n; i++) {
        words[at++] = (uint32_t)args[i];
        if (wide >> i & 1) {
            words[at++] = (uint32_t)((uint64_t)args[i] >> 32);
        }
    }
    return at;
}

#endif
