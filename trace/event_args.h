/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Argument lists of events.def and kercalls.def, for the preprocessor: applies a macro to each
 * item.
 *
 * TRACE_EACH(M, S, ctx, items...) is M##item ctx for each item (at most 18), with S() between
 * them. An item is A(type, name) or a word like a0; ctx is a parenthesised list that becomes the
 * arguments of M##item, or nothing. TRACE_ARGS(fast, wide) is the wider of a row's two lists.
 * No code, any context; must be usable on the host too.
 */
#ifndef TRACE_EVENT_ARGS_H
#define TRACE_EVENT_ARGS_H

#define TRACE_CAT_(a, b) a##b
#define TRACE_CAT(a, b) TRACE_CAT_(a, b)
#define TRACE_UNWRAP(...) __VA_ARGS__

#define TRACE_PICK(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, what, ...) what
#define TRACE_COUNT(...) \
    TRACE_PICK(x __VA_OPT__(, ) __VA_ARGS__, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
               3, 2, 1, 0)

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
#define TRACE_EACH_11(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_10(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_12(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_11(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_13(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_12(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_14(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_13(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_15(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_14(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_16(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_15(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_17(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_16(M, S, ctx, __VA_ARGS__)
#define TRACE_EACH_18(M, S, ctx, a, ...) M##a ctx S() TRACE_EACH_17(M, S, ctx, __VA_ARGS__)

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

/*
 * TRACE_SHORT(CLASS, fast, wide) is 1 if all that a row's events have is one or two words (D, H)
 * and its site alone decides whether it is on (not so in class INT), else 0.
 */
#define TRACE_SHORT(CLASS, fast, wide) \
    TRACE_CAT(TRACE_SHORT_, TRACE_CAT(TRACE_HAS_##wide, TRACE_GATED_##CLASS))(TRACE_LIST_##fast)
#define TRACE_SHORT_00(...) TRACE_CAT(TRACE_SHORT_OF_, TRACE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define TRACE_SHORT_01(...) 0
#define TRACE_SHORT_10(...) 0
#define TRACE_SHORT_11(...) 0
#define TRACE_SHORT_OF_1(a) TRACE_WORD_##a
#define TRACE_SHORT_OF_2(a, b) TRACE_CAT(TRACE_WORDS_, TRACE_CAT(TRACE_WORD_##a, TRACE_WORD_##b))
#define TRACE_SHORT_OF_3(...) 0
#define TRACE_SHORT_OF_4(...) 0
#define TRACE_SHORT_OF_5(...) 0
#define TRACE_SHORT_OF_6(...) 0
#define TRACE_SHORT_OF_7(...) 0
#define TRACE_SHORT_OF_8(...) 0
#define TRACE_SHORT_OF_9(...) 0
#define TRACE_SHORT_OF_10(...) 0
#define TRACE_WORDS_00 0
#define TRACE_WORDS_01 0
#define TRACE_WORDS_10 0
#define TRACE_WORDS_11 1
#define TRACE_WORD_A(type, name) TRACE_WORD_##type
#define TRACE_WORD_D 1
#define TRACE_WORD_H 1
#define TRACE_WORD_E 0
#define TRACE_WORD_X 0
#define TRACE_WORD_P 0
#define TRACE_WORD_I 0
#define TRACE_WORD_N 0
#define TRACE_GATED_INT 1
#define TRACE_GATED_PR_TH 0
#define TRACE_GATED_SYSTEM 0
#define TRACE_GATED_COMM 0

#endif
