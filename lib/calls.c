/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel calls as C functions, generated from sys/calls.def: each sets errno, its `_r` variant
 * returns -errno. Callable from any thread; the variants also before the C library is set up.
 * Documented in abi/kercalls.def, docs/reference/kercalls.md.
 */
#include <errno.h>
#include <stdarg.h>

#include "abi/compiler.h"
#include "abi/sys/trace.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/kercall.h"

/* A separate function, so that a call that succeeds saves no registers. */
COLD static long call_failed(kymo_pair pair)
{
    errno = KYMO_PAIR_ERROR(pair);
    return -1;
}

static inline long calls_pair_result(kymo_pair pair)
{
    if (unlikely(KYMO_PAIR_ERROR(pair) != 0)) {
        return call_failed(pair);
    }
    return KYMO_PAIR_VALUE(pair);
}

static inline long result_r(kymo_pair pair)
{
    return KYMO_PAIR_ERROR(pair) != 0 ? -(long)KYMO_PAIR_ERROR(pair) : KYMO_PAIR_VALUE(pair);
}

#define W(x) ((uintptr_t)(x))
#define DIRECT(bytes) (-(uintptr_t)(bytes))
#define CALL(type, name, NAME, parameters, ...) \
    type name parameters \
    { \
        return (type)calls_pair_result(kymo_raw_##NAME(__VA_ARGS__)); \
    } \
    type name##_r parameters \
    { \
        return (type)result_r(kymo_raw_##NAME(__VA_ARGS__)); \
    }
#include "lib/include/sys/calls.def"
#undef CALL

/* Never fails: the pointer is valid. */
uint64_t ClockCycles(void)
{
    uint64_t cycles = 0;

    kymo_raw_CLOCK_CYCLES(W(&cycles));
    return cycles;
}

void ProcExit(int status)
{
    for (;;) {
        kymo_raw_PROC_EXIT(W(status));
    }
}

/* cmd is followed by the number of words of its count (sys/trace.h), at most four. */
static kymo_pair trace_event(int cmd, va_list list)
{
    unsigned count = _NTO_TRACE_GET_COUNT((unsigned)cmd);
    uintptr_t words[4] = {0, 0, 0, 0};

    for (unsigned i = 0; i + 1 < count && i < 4; i++) {
        words[i] = va_arg(list, uintptr_t);
    }
    return kymo_raw_TRACE_EVENT(W((unsigned)cmd), words[0], words[1], words[2], words[3]);
}

int TraceEvent(int cmd, ...)
{
    va_list list;

    va_start(list, cmd);
    kymo_pair pair = trace_event(cmd, list);
    va_end(list);
    return (int)calls_pair_result(pair);
}

int TraceEvent_r(int cmd, ...)
{
    va_list list;

    va_start(list, cmd);
    kymo_pair pair = trace_event(cmd, list);
    va_end(list);
    return (int)result_r(pair);
}
