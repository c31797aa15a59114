/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces kernel/dtrace/retained.c without D, and on a board with so little retained memory that
 * it holds a ring only (board.mk: RETAIN := ring), where consumers that ask for more get ENODEV.
 * Contexts as there.
 */
#include "kernel/dtrace/dtrace.h"

uint32_t dtrace_retained_ceiling(void)
{
    return CONFIG_RETAIN_BYTES;
}

bool dtrace_retained_found(const struct kymo_retain_d *directory, uint32_t boots)
{
    (void)directory;
    (void)boots;
    return false;
}

void dtrace_retained_begin(struct kymo_retain_d *directory)
{
    (void)directory;
}

bool dtrace_retained_free(void *block)
{
    (void)block;
    return false;
}
