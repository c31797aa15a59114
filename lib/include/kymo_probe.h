/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probe sites of a program. In C11, for GCC:
 *
 *   KYMO_PROBE(myapp, request__start, id, bytes);
 *
 * A site is one NOP, and a note in the program's ELF file by the .note.stapsdt convention:
 * provider, name, address of the NOP, and where each argument lies. `readelf -n` lists the notes.
 * They take no memory on the target. docs/userprobes.md.
 *
 * Up to six arguments: integers, enumerations and pointers, none larger than a long. Each is
 * evaluated once, whenever the site is passed: give values that the function has anyway, which cost
 * nothing but staying live. Provider and name are identifiers, neither of them a macro.
 */
#ifndef LIB_KYMO_PROBE_H
#define LIB_KYMO_PROBE_H

#include "abi/static_assert.h"

#ifdef __cplusplus
#error "KYMO_PROBE() is for C"
#endif

/* The type of an argument as passed: arrays are pointers, small integers are int. */
#define KYMO_PROBE_TYPE(x) __typeof__(1 ? (x) : (x))
/* Its size in the note. %n negates it: the convention's negative sizes are of signed values. */
/* clang-format off */
#define KYMO_PROBE_SIZE(x) \
    ((int)sizeof(KYMO_PROBE_TYPE(x)) * \
     _Generic(1 ? (x) : (x), int: 1, long: 1, long long: 1, default: -1))
/* clang-format on */
/* __builtin_classify_type(): 1 is an integer, 5 is a pointer. */
#define KYMO_PROBE_CHECK(x) \
    KYMO_STATIC_ASSERT((__builtin_classify_type(x) == 1 || __builtin_classify_type(x) == 5) && \
                           sizeof(KYMO_PROBE_TYPE(x)) <= sizeof(long), \
                       "a probe's argument is an integer or a pointer, not larger than a long")
/*
 * A constant or a register, never memory: GCC writes some of that by labels, of literal pools (Arm)
 * or of variables (":lo12:"), which no reader of the note could resolve.
 */
#define KYMO_PROBE_INPUT(n, x) [s##n] "n"(KYMO_PROBE_SIZE(x)), [a##n] "nr"((KYMO_PROBE_TYPE(x))(x))

#if __SIZEOF_POINTER__ == 8
#define KYMO_PROBE_WORD ".8byte"
#else
#define KYMO_PROBE_WORD ".4byte"
#endif

/*
 * The note is linked to the section of its site ("o"), so that --gc-sections drops both together.
 * Its words: the site; the base for prelinked files and the semaphore, which no site here has.
 */
#define KYMO_PROBE_SITE(provider, name, arguments, ...) \
    __asm__ volatile(".Lkymo_probe%=: nop\n\t" \
                     ".pushsection .note.stapsdt,\"o\",\"note\",.Lkymo_probe%=\n\t" \
                     ".balign 4\n\t" \
                     ".4byte 992f-991f, 994f-993f, 3\n" \
                     "991: .asciz \"stapsdt\"\n" \
                     "992: .balign 4\n" \
                     "993: " KYMO_PROBE_WORD " .Lkymo_probe%=, 0, 0\n\t" \
                     ".asciz \"" #provider "\"\n\t" \
                     ".asciz \"" #name "\"\n\t" \
                     ".asciz \"" arguments "\"\n" \
                     "994: .balign 4\n\t" \
                     ".popsection" ::__VA_ARGS__)

#define KYMO_PROBE_TEXT(n) "%n[s" #n "]@%[a" #n "]"
#define KYMO_PROBE_TEXT0 ""
#define KYMO_PROBE_TEXT1 KYMO_PROBE_TEXT(0)
#define KYMO_PROBE_TEXT2 KYMO_PROBE_TEXT1 " " KYMO_PROBE_TEXT(1)
#define KYMO_PROBE_TEXT3 KYMO_PROBE_TEXT2 " " KYMO_PROBE_TEXT(2)
#define KYMO_PROBE_TEXT4 KYMO_PROBE_TEXT3 " " KYMO_PROBE_TEXT(3)
#define KYMO_PROBE_TEXT5 KYMO_PROBE_TEXT4 " " KYMO_PROBE_TEXT(4)
#define KYMO_PROBE_TEXT6 KYMO_PROBE_TEXT5 " " KYMO_PROBE_TEXT(5)

#define KYMO_PROBE_INPUT0()
#define KYMO_PROBE_INPUT1(a) KYMO_PROBE_INPUT(0, a)
#define KYMO_PROBE_INPUT2(a, b) KYMO_PROBE_INPUT1(a), KYMO_PROBE_INPUT(1, b)
#define KYMO_PROBE_INPUT3(a, b, c) KYMO_PROBE_INPUT2(a, b), KYMO_PROBE_INPUT(2, c)
#define KYMO_PROBE_INPUT4(a, b, c, d) KYMO_PROBE_INPUT3(a, b, c), KYMO_PROBE_INPUT(3, d)
#define KYMO_PROBE_INPUT5(a, b, c, d, e) KYMO_PROBE_INPUT4(a, b, c, d), KYMO_PROBE_INPUT(4, e)
#define KYMO_PROBE_INPUT6(a, b, c, d, e, f) KYMO_PROBE_INPUT5(a, b, c, d, e), KYMO_PROBE_INPUT(5, f)

#define KYMO_PROBE_CHECK0()
#define KYMO_PROBE_CHECK1(a) KYMO_PROBE_CHECK(a)
#define KYMO_PROBE_CHECK2(a, ...) \
    KYMO_PROBE_CHECK(a); \
    KYMO_PROBE_CHECK1(__VA_ARGS__)
#define KYMO_PROBE_CHECK3(a, ...) \
    KYMO_PROBE_CHECK(a); \
    KYMO_PROBE_CHECK2(__VA_ARGS__)
#define KYMO_PROBE_CHECK4(a, ...) \
    KYMO_PROBE_CHECK(a); \
    KYMO_PROBE_CHECK3(__VA_ARGS__)
#define KYMO_PROBE_CHECK5(a, ...) \
    KYMO_PROBE_CHECK(a); \
    KYMO_PROBE_CHECK4(__VA_ARGS__)
#define KYMO_PROBE_CHECK6(a, ...) \
    KYMO_PROBE_CHECK(a); \
    KYMO_PROBE_CHECK5(__VA_ARGS__)

#define KYMO_PROBE_COUNT_(provider, name, a, b, c, d, e, f, n, ...) n
#define KYMO_PROBE_COUNT(...) KYMO_PROBE_COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, )
#define KYMO_PROBE_N_(n, provider, name, ...) \
    do { \
        KYMO_PROBE_CHECK##n(__VA_ARGS__); \
        KYMO_PROBE_SITE(provider, name, KYMO_PROBE_TEXT##n, KYMO_PROBE_INPUT##n(__VA_ARGS__)); \
    } while (0)
#define KYMO_PROBE_N(n, ...) KYMO_PROBE_N_(n, __VA_ARGS__)
#define KYMO_PROBE(...) KYMO_PROBE_N(KYMO_PROBE_COUNT(__VA_ARGS__), __VA_ARGS__)

#endif
