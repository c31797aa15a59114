/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TRACE_ARGS(fast, wide): the argument list of an entry of events.def in its wider form, for tables
 * made by the preprocessor: the list of WIDE(...), or that of FAST(...) after SAME. Its user
 * defines A(type, name), the expansion of one argument. No code; for any context and for the host.
 */
#ifndef TRACE_EVENT_ARGS_H
#define TRACE_EVENT_ARGS_H

#define TRACE_ARGS(fast, wide) TRACE_ARGS_##wide(TRACE_ARGS_##fast)
#define TRACE_ARGS_FAST(...) __VA_ARGS__
#define TRACE_ARGS_SAME(...) __VA_ARGS__
#define TRACE_ARGS_WIDE(...) __VA_ARGS__ TRACE_ARGS_LEAVE_OUT
#define TRACE_ARGS_LEAVE_OUT(...)

#endif
