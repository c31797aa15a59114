/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probes of a program. In C11 and C++11 with GCC's extensions:
 *
 *   KYMO_PROBE(myapp, request__start, id, bytes);
 *
 * Off, a probe is one NOP: its arguments are not evaluated. It is on while the trace records user
 * events, or D listens to them: then each pass is an event, which `kymo print` shows as
 * "myapp:::request-start id=17 bytes=4096". Once one of a program's probes is linked, the program
 * tells the kernel of all of them as it starts. docs/guide/userprobes.md.
 *
 * Any thread, at any time; no lock, no ability; errno stays. On: one kernel call, up to some 200
 * bytes of stack. At most six arguments: integers, enumerations and pointers, none larger than a
 * long, each evaluated once. Provider and name are identifiers and no macros; "__" in them is shown
 * as "-". A program has at most KYMO_TRACE_SITES_MOST probe sites: one with more can't be linked.
 * Where programs run from flash all probes stay off.
 *
 * The ELF file has a note for each by the .note.stapsdt convention, which `readelf -n` and
 * debuggers list: provider, name, arguments, and the address of a second NOP, which is passed only
 * while the probe is on and with the arguments where the note describes them.
 *
 * In C++ a template's probe is one site in each instance.
 */
#ifndef LIB_KYMO_PROBE_H
#define LIB_KYMO_PROBE_H

#include <stdint.h>

#include "abi/static_assert.h"
#include "abi/sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* site: its struct kymo_log_site. wide: a bit for each argument that has 64 bits. */
void kymo_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide);

#ifdef __cplusplus
}
#endif

/* The system's own probes define this differently: lib/system_probe/patched.h. */
#ifndef KYMO_PROBE_FIRE
#define KYMO_PROBE_FIRE kymo_probe_fire
#define KYMO_PROBE_TABLE ".kymo_probes"
#define KYMO_PROBE_LEVEL KYMO_LOG_PROBE
#define KYMO_PROBE_CALL(n, wide, ...) KYMO_PROBE_BY_ARRAY(n, wide, __VA_ARGS__)
#endif

/* The type of an argument as passed: arrays are pointers, small integers are int. */
#ifdef __cplusplus
/* The class of a type as __builtin_classify_type() below returns it, and whether it is signed. */
extern "C++" {
template <class T> struct kymo_probe_kind {
    enum { kind = 0, has_sign = 0 };
};
template <class T> struct kymo_probe_kind<T *> {
    enum { kind = 5, has_sign = 0 };
};
#define KYMO_PROBE_INTEGER(type, sign) \
    template <> struct kymo_probe_kind<type> { \
        enum { kind = 1, has_sign = sign }; \
    };
KYMO_PROBE_INTEGER(int, 1)
KYMO_PROBE_INTEGER(long, 1)
KYMO_PROBE_INTEGER(long long, 1)
KYMO_PROBE_INTEGER(unsigned, 0)
KYMO_PROBE_INTEGER(unsigned long, 0)
KYMO_PROBE_INTEGER(unsigned long long, 0)
#undef KYMO_PROBE_INTEGER
/* An enum class has no implicit conversion: it is passed as its underlying integer. */
template <class T, bool = __is_enum(T)> struct kymo_probe_enum {
};
template <class T> struct kymo_probe_enum<T, true> {
    typedef __underlying_type(T) type;
};
/* These are never defined and serve for their types only. The first, if it can be called, is the
 * better match for 0. */
template <class T> auto kymo_probe_passed(T x, int) -> decltype(+x);
template <class T>
auto kymo_probe_passed(T, long) -> decltype(+typename kymo_probe_enum<T>::type());
}
#define KYMO_PROBE_TYPE(x) decltype(kymo_probe_passed((x), 0))
#define KYMO_PROBE_CONVERTED(x) static_cast<KYMO_PROBE_TYPE(x)>(x)
#define KYMO_PROBE_SIGNED(x) (kymo_probe_kind<KYMO_PROBE_TYPE(x)>::has_sign != 0)
#define KYMO_PROBE_CLASS(x) (kymo_probe_kind<KYMO_PROBE_TYPE(x)>::kind + 0)
#else
#define KYMO_PROBE_TYPE(x) __typeof__(1 ? (x) : (x))
#define KYMO_PROBE_CONVERTED(x) (x)
/* clang-format off */
#define KYMO_PROBE_SIGNED(x) _Generic(1 ? (x) : (x), int: 1, long: 1, long long: 1, default: 0)
/* clang-format on */
#define KYMO_PROBE_CLASS(x) __builtin_classify_type(x)
#endif
/* Its size in the note. %n negates it: the convention's negative sizes are of signed values. */
#define KYMO_PROBE_SIZE(x) ((int)sizeof(KYMO_PROBE_TYPE(x)) * (KYMO_PROBE_SIGNED(x) ? 1 : -1))
/* __builtin_classify_type(): 1 is an integer, 5 is a pointer. */
#define KYMO_PROBE_POINTER(x) (KYMO_PROBE_CLASS(x) == 5)
#define KYMO_PROBE_CHECK(x) \
    KYMO_STATIC_ASSERT((KYMO_PROBE_CLASS(x) == 1 || KYMO_PROBE_POINTER(x)) && \
                           sizeof(KYMO_PROBE_TYPE(x)) <= sizeof(long), \
                       "a probe's argument is an integer or a pointer, not larger than a long");
#define KYMO_PROBE_WIDE(x) (sizeof(KYMO_PROBE_TYPE(x)) > 4)
/* The argument's type letter for struct kymo_log_site. */
#define KYMO_PROBE_LETTER(x) \
    (KYMO_PROBE_POINTER(x)  ? (KYMO_PROBE_WIDE(x) ? 'P' : 'p') \
     : KYMO_PROBE_SIGNED(x) ? (KYMO_PROBE_WIDE(x) ? 'I' : 'i') \
                            : (KYMO_PROBE_WIDE(x) ? 'U' : 'u'))

/* The NOP; and where GCC may put a rarely executed part of a function into another section, a
 * relocation without effect, by which the site's section refers to that part. If only the table
 * referred to it, the linker would keep the part, but drop the table's entries of sites that only
 * that part reaches. */
#if defined(__aarch64__)
#define KYMO_PROBE_NOP "nop"
#define KYMO_PROBE_NEEDS(label) ".reloc .Lkymo_site%=, R_AARCH64_NONE, %l[" #label "]"
#elif defined(__arm__)
#define KYMO_PROBE_NOP "nop.w"
#define KYMO_PROBE_NEEDS(label) ""
#elif defined(__x86_64__)
#define KYMO_PROBE_NOP ".byte 0x0f, 0x1f, 0x44, 0, 0"
#define KYMO_PROBE_NEEDS(label) ".reloc .Lkymo_site%=, R_X86_64_NONE, %l[" #label "]"
#endif
#if __SIZEOF_POINTER__ == 8
#define KYMO_PROBE_WORD ".8byte"
#define KYMO_PROBE_ALIGN "8"
#else
#define KYMO_PROBE_WORD ".4byte"
#define KYMO_PROBE_ALIGN "4"
#endif

/* A site, and its struct kymo_probe_site (abi/sys/trace.h), which lives as long as the site's
 * section ("o"): --gc-sections drops both together. The linker discards .kymo_needs, and links the
 * code that registers the program's sites. */
#define KYMO_PROBE_GO(label) \
    __asm__ goto( \
        ".Lkymo_site%=: " KYMO_PROBE_NOP "\n\t" \
        ".pushsection " KYMO_PROBE_TABLE ",\"ao\",%%progbits,.Lkymo_site%=\n\t" \
        ".balign " KYMO_PROBE_ALIGN "\n\t" KYMO_PROBE_WORD " .Lkymo_site%=, %l[" #label "]\n\t" \
        ".popsection\n\t" \
        ".pushsection .kymo_needs,\"\",%%progbits\n\t" KYMO_PROBE_WORD \
        " " KYMO_PROBE_STRING(KYMO_PROBE_FIRE) "\n\t.popsection\n\t" KYMO_PROBE_NEEDS(label) \
        : \
        : \
        : \
        : label)

/*
 * The note, also linked to its site's section. Its words: the address; the base for prelinked files
 * and the semaphore, which no site has here. An argument is a constant or a register, never memory:
 * GCC writes some memory operands as labels, which no reader of the note could resolve.
 */
#define KYMO_PROBE_NOTE(provider, name, texts, ...) \
    __asm__ volatile(".Lkymo_note%=: nop\n\t" \
                     ".pushsection .note.stapsdt,\"o\",\"note\",.Lkymo_note%=\n\t" \
                     ".balign 4\n\t" \
                     ".4byte 992f-991f, 994f-993f, 3\n" \
                     "991: .asciz \"stapsdt\"\n" \
                     "992: .balign 4\n" \
                     "993: " KYMO_PROBE_WORD " .Lkymo_note%=, 0, 0\n\t" \
                     ".asciz \"" #provider "\"\n\t" \
                     ".asciz \"" #name "\"\n\t" \
                     ".asciz \"" texts "\"\n" \
                     "994: .balign 4\n\t" \
                     ".popsection" ::__VA_ARGS__)

/* Pieces for the n-th argument. */
#define KYMO_PROBE_VALUE(n, x) KYMO_PROBE_TYPE(x) kymo_arg##n##_ = KYMO_PROBE_CONVERTED(x);
#define KYMO_PROBE_ARG(n, x) (unsigned long)kymo_arg##n##_,
#define KYMO_PROBE_LETTER_OF(n, x) KYMO_PROBE_LETTER(x),
#define KYMO_PROBE_BIT(n, x) | KYMO_PROBE_WIDE(x) << n
#define KYMO_PROBE_CHECK_OF(n, x) KYMO_PROBE_CHECK(x)
#define KYMO_PROBE_INPUT(n, x) [s##n] "n"(KYMO_PROBE_SIZE(x)), [a##n] "nr"(kymo_arg##n##_)
#define KYMO_PROBE_TEXT(n) "%n[s" #n "]@%[a" #n "]"

#define KYMO_PROBE_EACH0(of, ...)
#define KYMO_PROBE_EACH1(of, a) of(0, a)
#define KYMO_PROBE_EACH2(of, a, b) of(0, a) of(1, b)
#define KYMO_PROBE_EACH3(of, a, b, c) of(0, a) of(1, b) of(2, c)
#define KYMO_PROBE_EACH4(of, a, b, c, d) of(0, a) of(1, b) of(2, c) of(3, d)
#define KYMO_PROBE_EACH5(of, a, b, c, d, e) of(0, a) of(1, b) of(2, c) of(3, d) of(4, e)
#define KYMO_PROBE_EACH6(of, a, b, c, d, e, f) of(0, a) of(1, b) of(2, c) of(3, d) of(4, e) of(5, f)

#define KYMO_PROBE_INPUTS0(...)
#define KYMO_PROBE_INPUTS1(a) KYMO_PROBE_INPUT(0, a)
#define KYMO_PROBE_INPUTS2(a, b) KYMO_PROBE_INPUTS1(a), KYMO_PROBE_INPUT(1, b)
#define KYMO_PROBE_INPUTS3(a, b, c) KYMO_PROBE_INPUTS2(a, b), KYMO_PROBE_INPUT(2, c)
#define KYMO_PROBE_INPUTS4(a, b, c, d) KYMO_PROBE_INPUTS3(a, b, c), KYMO_PROBE_INPUT(3, d)
#define KYMO_PROBE_INPUTS5(a, b, c, d, e) KYMO_PROBE_INPUTS4(a, b, c, d), KYMO_PROBE_INPUT(4, e)
#define KYMO_PROBE_INPUTS6(a, b, c, d, e, f) \
    KYMO_PROBE_INPUTS5(a, b, c, d, e), KYMO_PROBE_INPUT(5, f)

#define KYMO_PROBE_TEXT0 ""
#define KYMO_PROBE_TEXT1 KYMO_PROBE_TEXT(0)
#define KYMO_PROBE_TEXT2 KYMO_PROBE_TEXT1 " " KYMO_PROBE_TEXT(1)
#define KYMO_PROBE_TEXT3 KYMO_PROBE_TEXT2 " " KYMO_PROBE_TEXT(2)
#define KYMO_PROBE_TEXT4 KYMO_PROBE_TEXT3 " " KYMO_PROBE_TEXT(3)
#define KYMO_PROBE_TEXT5 KYMO_PROBE_TEXT4 " " KYMO_PROBE_TEXT(4)
#define KYMO_PROBE_TEXT6 KYMO_PROBE_TEXT5 " " KYMO_PROBE_TEXT(5)

#define KYMO_PROBE_STRING_(x) #x
#define KYMO_PROBE_STRING(x) KYMO_PROBE_STRING_(x)

#define KYMO_PROBE_BY_ARRAY(n, wide, ...) \
    do { \
        const unsigned long kymo_args_[] = {KYMO_PROBE_EACH##n(KYMO_PROBE_ARG, __VA_ARGS__) 0}; \
        KYMO_PROBE_FIRE(&kymo_site_, kymo_args_, n, wide); \
    } while (0)

/* Evaluates the arguments, in order, and passes them to the library. */
#define KYMO_PROBE_ON(n, text, provider, name, ...) \
    do { \
        static const struct { \
            struct kymo_log_site site; \
            char file[sizeof(__FILE__)], format[sizeof(text)]; \
        } kymo_site_ \
            __attribute__((section(".kymo_log." KYMO_PROBE_STRING(__COUNTER__)), aligned(4))) = { \
                {(uint16_t)__LINE__, \
                 sizeof(__FILE__), \
                 KYMO_PROBE_LEVEL, \
                 {KYMO_PROBE_EACH##n(KYMO_PROBE_LETTER_OF, __VA_ARGS__) '\0'}}, \
                __FILE__, \
                text}; \
        KYMO_PROBE_EACH##n(KYMO_PROBE_VALUE, __VA_ARGS__) KYMO_PROBE_NOTE( \
            provider, name, KYMO_PROBE_TEXT##n, KYMO_PROBE_INPUTS##n(__VA_ARGS__)); \
        KYMO_PROBE_CALL(n, (0u KYMO_PROBE_EACH##n(KYMO_PROBE_BIT, __VA_ARGS__)), __VA_ARGS__); \
    } while (0)

#define KYMO_PROBE_N_(n, text, provider, name, ...) \
    __extension__({ \
        __label__ kymo_on_; \
        KYMO_PROBE_EACH##n(KYMO_PROBE_CHECK_OF, __VA_ARGS__) KYMO_PROBE_GO(kymo_on_); \
        if (0) { \
        kymo_on_: \
            __attribute__((cold)); \
            KYMO_PROBE_ON(n, text, provider, name, __VA_ARGS__); \
        } \
    })
#define KYMO_PROBE_N(n, text, ...) KYMO_PROBE_N_(n, text, __VA_ARGS__)
#define KYMO_PROBE_COUNT_(provider, name, a, b, c, d, e, f, n, ...) n
#define KYMO_PROBE_COUNT(...) KYMO_PROBE_COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, )
#define KYMO_PROBE(...) KYMO_PROBE_N(KYMO_PROBE_COUNT(__VA_ARGS__), #__VA_ARGS__, __VA_ARGS__)

/* Returns whether this site is on: for arguments that take more than an expression. It has its own
 * site, one NOP, without a note. */
#define KYMO_PROBE_ENABLED() \
    __extension__({ \
        __label__ kymo_on_; \
        int kymo_is_ = 0; \
        KYMO_PROBE_GO(kymo_on_); \
        if (0) { \
        kymo_on_: \
            __attribute__((cold)); \
            kymo_is_ = 1; \
        } \
        kymo_is_ != 0; \
    })

#endif
