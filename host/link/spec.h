/* SPDX-License-Identifier: BSD-2-Clause */
/* The address of a target: unix:PATH, tcp:HOST:PORT, /dev/tty…[@BAUD]. */
#ifndef HOST_LINK_SPEC_H
#define HOST_LINK_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#define SPEC_MOST 4096

/* Returns true if the text has one of the forms. */
bool spec_is_good(const char *spec);
/* Returns the same text for every spelling of a spec: paths are absolute. -1: too long. */
int spec_absolute(const char *spec, char *to, size_t room);
/* Opens the line, non-blocking. -1: `why` says why. */
int spec_open(const char *spec, char *why, size_t room);

#endif
