/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function, `fire_` and its name, for each row of events.def, which calls its hook. Who includes
 * this, once, has defined A(type, name), what each argument is given, and
 * STATE_WORDS(fast, wide), what trace_thread_state() is given after the state's number.
 */
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    static void fire_##name(void) \
    { \
        trace_##name(TRACE_ARGS(fast, wide)); \
    }
#define EVENT_STATE(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    static void fire_##name(void) \
    { \
        trace_thread_state(number, STATE_WORDS(fast, wide)); \
    }
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
