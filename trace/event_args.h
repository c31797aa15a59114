/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Argument lists of events.def and kercalls.def, for the preprocessor: applies a macro to each
 * item.
 *
 * TRACE_EACH(M, S, ctx, items...) is M##item ctx for each item (at most ten), with S() between
 * them. An item is A(type, name) or a word like a0; ctx is a parenthesised list that becomes the
 * arguments of M##item, or nothing. TRACE_ARGS(fast, wide) is the wider of a row's two lists.
 * No code, any context; must be usable on the host too.
 */
#ifndef TRACE_EVENT_ARGS_H
#define TRACE_EVENT_ARGS_H

#define TRACE_CAT_(a, b) a##b
#define TRACE_CAT(a, b) TRACE_CAT_(a, b)
#define TRACE_UNWRAP(...) __VA_ARGS__

#define TRACE_PICK(a, b, c, d, e, f, g, h, i, j, k, n, ...) n
#define TRACE_COUNT(...) TRACE_PICK(x __VA_OPT__(, ) __VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define TRACE_EACH(M, S, ctx, ...) \
    TRACE_CAT(TRACE_EACH_, TRACE_COUNT(__VA_ARGS__))(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_0(M, S, ctx, ...)
#define TRACE_EACH_1(M, S, ctx, a) M##a ctx
#define TRACE_EACH_2(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_1(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_3(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_2(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_4(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_3(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_5(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_4(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_6(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_5(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_7(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_6(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_8(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_7(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_9(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_8(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_10(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_9(M, S, ctx, __VA_ARGS__)

#define TRACE_SEP_COMMA() ,
#define TRACE_SEP_NONE()
#define TRACE_SEP_TEXT() ","
#define TRACE_SEP_PLUS() +
#define TRACE_SEP_OR() |

/* A row's lists without their wrapper; SAME is 0 in TRACE_HAS_, empty in TRACE_LIST_. */
#define TRACE_HAS_WIDE(...) 1
#define TRACE_HAS_SAME 0
#define TRACE_LIST_FAST(...) __VA_ARGS__
#define TRACE_LIST_WIDE(...) __VA_ARGS__
#define TRACE_LIST_SAME
#define TRACE_CHOOSE_1(w, f) TRACE_UNWRAP w
#define TRACE_CHOOSE_0(w, f) TRACE_UNWRAP f
#define TRACE_ARGS(fast, wide) \
    TRACE_CAT(TRACE_CHOOSE_, TRACE_HAS_##wide)((TRACE_LIST_##wide), (TRACE_LIST_##fast))

#endif
