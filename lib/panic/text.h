/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a kernel that died says in the capture of its last moments: rows of key and value for its
 * header (docs/format.md §1). Linked by the tracelogger and by the host.
 */
#ifndef LIB_PANIC_TEXT_H
#define LIB_PANIC_TEXT_H

#include <stdbool.h>

#include "abi/sys/panic.h"

#define PANIC_KEY 24
#define PANIC_VALUE 72 /* with the NUL: old readers look through a window of 100 bytes */

/*
 * Row n, from 0, of a record that may hold anything: printable, no `::` in it. False: there are no
 * more. Keys: PANIC (kind), PANIC_REASON, PANIC_WHERE, PANIC_TIME, PANIC_CPU_<n>,
 * PANIC_REGISTERS_<n>, PANIC_STACK_<n>; a reason that is longer goes on in PANIC_REASON_2, ….
 */
bool panic_text(const struct kymo_panic *record, unsigned n, char key[PANIC_KEY],
                char value[PANIC_VALUE]);

#endif
