/* SPDX-License-Identifier: BSD-2-Clause */
/* No static probes of the system: programs run from flash, where they would stay off. See
 * patched.h. */
#ifndef LIB_SYSTEM_PROBE_LOADED_H
#define LIB_SYSTEM_PROBE_LOADED_H

/* Avoids warnings about variables that only a probe reads. */
static inline void system_probe_none(int unused, ...)
{
    (void)unused;
}

#define SYSTEM_PROBE(provider, name, ...) \
    do { \
        if (0) { \
            system_probe_none(0, __VA_ARGS__); \
        } \
    } while (0)

#endif
