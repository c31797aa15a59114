/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A panic's attributes in the capture of the kernel's last moments: keys and values for its header
 * (docs/reference/format.md §1). Linked by the tracelogger and by the host.
 */
#ifndef LIB_PANIC_TEXT_H
#define LIB_PANIC_TEXT_H

#include <stdbool.h>

#include "abi/sys/panic.h"

#define PANIC_KEY 24
#define PANIC_VALUE 72 /* with the NUL: old readers use a window of 100 bytes */

/* PANIC's value without a record to print: there was no panic, or its record is not right. */
#define PANIC_NONE "none"
#define PANIC_DAMAGED "damaged"
#define PANIC_DAMAGED_REASON "a panic with a damaged record"

/*
 * Returns entry n, from 0, of a record with arbitrary contents: the text is printable and has no
 * `::`. Returns false if there are no more. Keys: PANIC (kind), PANIC_REASON, PANIC_WHERE,
 * PANIC_TIME, PANIC_CPU_<n>, PANIC_REGISTERS_<n>, PANIC_STACK_<n>, PANIC_STACK_USED_<n>; a longer
 * reason continues in PANIC_REASON_2, ….
 */
bool panic_text(const struct kymo_panic *record, unsigned n, char key[PANIC_KEY],
                char value[PANIC_VALUE]);

#endif
