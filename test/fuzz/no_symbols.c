/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instead of host/print/symbols.c: what is fuzzed prints without --symbols, for which the D
 * compiler's reader of ELFs would have to be built with the fuzzer, too.
 */
#include <stdlib.h>

#include "host/print/symbols.h"

bool symbols_apply(const struct kev_event *event)
{
    (void)event;
    return false;
}

void symbols_put(const struct symbols *symbols, struct out *out, uint64_t address)
{
    (void)symbols;
    (void)out;
    (void)address;
    abort();
}
