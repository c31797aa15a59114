/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instead of host/print/symbols.c: what is fuzzed prints without --symbols, for which the D
 * compiler's reader of ELFs would have to be built with the fuzzer, too.
 */
#include <stdlib.h>

#include "host/print/symbols.h"

bool print_symbols_apply(const struct kev_event *event)
{
    (void)event;
    return false;
}

void print_symbols_put(const struct print_symbols *own, struct out *out, uint64_t address)
{
    (void)own;
    (void)out;
    (void)address;
    abort();
}
