/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kernel call once, as such, with words that it refuses or that do no harm: whatever a
 * pointer among them names is not the program's memory. PROC_EXIT is not here.
 */
#ifndef TEST_BOARD_PROGRAMS_EVERY_CALL_H
#define TEST_BOARD_PROGRAMS_EVERY_CALL_H

#include <stdint.h>

enum {
#define KERCALL(number, name, handler, flags, args, enter, enterw, exitw, doc) \
    CALL_##name = (number),
#include "abi/kercalls.def"
#undef KERCALL
};

struct every_call {
    unsigned number;
    uintptr_t args[6];
};
extern const struct every_call every_call[];
extern const unsigned every_calls;
/* A first word that stands for the result of the call before. */
#define EVERY_CALL_LAST 0x1a57

#endif
