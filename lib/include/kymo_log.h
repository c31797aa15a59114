/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text at the cost of an event. In C11 and C++17:
 *
 *   KYMO_LOG(KYMO_LOG_INFO, "temperature %d of %s", t, name);
 *
 * The format stays in the program's ELF file, which the host has: the target records where it is,
 * and the arguments (abi/sys/log.h). `kymo print` and the others show the text. docs/guide/log.md.
 *
 * Any thread, at any time; no lock, no ability, errno may change. One kernel call; at most 9
 * arguments, each evaluated once if the text is recorded, else not at all. Up to some 300 bytes of
 * stack. The level is a constant. A use with a level above KYMO_LOG_MOST, which may be defined
 * before this header is included, adds no code. One with a level above kymo_log_level, or while no
 * user event is wanted (<sys/trace.h>), costs two loads and branches.
 *
 * The compiler refuses arguments that don't fit the format (-Wformat, as an error). Arguments are
 * numbers, `const char *`, and for %p `void *`; no %n, no long double, no wide characters. Strings
 * end with a NUL; all of an event's arguments take at most 248 bytes. A string that does not fit is
 * truncated, and the text shows that.
 */
#ifndef LIB_KYMO_LOG_H
#define LIB_KYMO_LOG_H

#include <stdint.h>
#include <string.h>
#include <sys/trace.h>

#include "abi/sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KYMO_LOG_MOST
#define KYMO_LOG_MOST KYMO_LOG_DEBUG
#endif

/* Messages of higher levels are not recorded; initially all are. Any thread may change it at any
 * time. */
extern volatile uint8_t kymo_log_level;
/* The program's build id, in its note: 16 bytes after this symbol (ldscripts/user.ld). */
extern const uint32_t kymo_log_note[];

struct kymo_log { /* an event that is being made */
    uint32_t words[KYMO_LOG_WORDS];
    unsigned n;    /* words */
    unsigned left; /* arguments that are still to come */
};

/* Inserts it; errno may change. */
void kymo_log_end(const struct kymo_log *log, unsigned code);
void kymo_log_string(struct kymo_log *log, const char *text);

static inline void kymo_log_begin(struct kymo_log *log, const void *site, unsigned arguments)
{
    log->words[0] = (uint32_t)(uintptr_t)site;
    log->words[1] = kymo_log_note[4];
    log->n = 2;
    log->left = arguments;
}
static inline void kymo_log_word(struct kymo_log *log, uint32_t word)
{
    log->words[log->n++] = word;
    log->left--;
}
static inline void kymo_log_long(struct kymo_log *log, uint64_t value)
{
    log->words[log->n++] = (uint32_t)value;
    log->words[log->n++] = (uint32_t)(value >> 32);
    log->left--;
}
static inline void kymo_log_double(struct kymo_log *log, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    kymo_log_long(log, bits);
}
static inline void kymo_log_int(struct kymo_log *log, int value)
{
    kymo_log_word(log, (uint32_t)value);
}
static inline void kymo_log_unsigned(struct kymo_log *log, unsigned value)
{
    kymo_log_word(log, value);
}
static inline void kymo_log_size(struct kymo_log *log, unsigned long value)
{
    if (sizeof(value) == 8) {
        kymo_log_long(log, value);
    } else {
        kymo_log_word(log, (uint32_t)value);
    }
}
static inline void kymo_log_pointer(struct kymo_log *log, const volatile void *value)
{
    kymo_log_size(log, (unsigned long)(uintptr_t)value);
}
/* For the compiler's check only. */
static inline void kymo_log_check(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void kymo_log_check(const char *format, ...)
{
    (void)format;
}

#ifdef __cplusplus
}

extern "C++" {                              /* this header may be included inside of extern "C" */
template <typename T> struct kymo_log_type; /* undefined: no argument of that type */
#define KYMO_LOG_TYPE_IS(type, letter, call, to) \
    template <> struct kymo_log_type<type> { \
        static constexpr char is = letter; \
        static void put(kymo_log *log, type value) \
        { \
            call(log, (to)value); \
        } \
    }
KYMO_LOG_TYPE_IS(int, 'i', kymo_log_int, int);
KYMO_LOG_TYPE_IS(unsigned, 'u', kymo_log_unsigned, unsigned);
KYMO_LOG_TYPE_IS(long, sizeof(long) == 8 ? 'I' : 'i', kymo_log_size, unsigned long);
KYMO_LOG_TYPE_IS(unsigned long, sizeof(long) == 8 ? 'U' : 'u', kymo_log_size, unsigned long);
KYMO_LOG_TYPE_IS(long long, 'I', kymo_log_long, uint64_t);
KYMO_LOG_TYPE_IS(unsigned long long, 'U', kymo_log_long, uint64_t);
KYMO_LOG_TYPE_IS(float, 'f', kymo_log_double, double);
KYMO_LOG_TYPE_IS(double, 'f', kymo_log_double, double);
KYMO_LOG_TYPE_IS(char *, 's', kymo_log_string, const char *);
KYMO_LOG_TYPE_IS(const char *, 's', kymo_log_string, const char *);
KYMO_LOG_TYPE_IS(void *, sizeof(long) == 8 ? 'P' : 'p', kymo_log_pointer, const void *);
KYMO_LOG_TYPE_IS(const void *, sizeof(long) == 8 ? 'P' : 'p', kymo_log_pointer, const void *);
#undef KYMO_LOG_TYPE_IS
}
#define KYMO_LOG_TYPE(x) kymo_log_type<decltype(+(x))>::is
#define KYMO_LOG_PUT(x) kymo_log_type<decltype(+(x))>::put(&kymo_log_, x);
#else
#define KYMO_LOG_WIDE(letter, wide) (sizeof(long) == 8 ? (wide) : (letter))
/* clang-format off */
#define KYMO_LOG_BY_TYPE(x, small, i, u, l, ul, ll, ull, f, s, p) \
    _Generic((x), _Bool: small, char: small, signed char: small, unsigned char: small, \
        short: small, unsigned short: small, int: i, unsigned: u, long: l, unsigned long: ul, \
        long long: ll, unsigned long long: ull, float: f, double: f, char *: s, const char *: s, \
        void *: p, const void *: p)
/* clang-format on */
#define KYMO_LOG_TYPE(x) \
    KYMO_LOG_BY_TYPE(x, 'i', 'i', 'u', KYMO_LOG_WIDE('i', 'I'), KYMO_LOG_WIDE('u', 'U'), 'I', 'U', \
                     'f', 's', KYMO_LOG_WIDE('p', 'P'))
#define KYMO_LOG_PUT(x) \
    KYMO_LOG_BY_TYPE(x, kymo_log_int, kymo_log_int, kymo_log_unsigned, kymo_log_size, \
                     kymo_log_size, kymo_log_long, kymo_log_long, kymo_log_double, \
                     kymo_log_string, kymo_log_pointer) \
    (&kymo_log_, x);
#endif

#define KYMO_LOG_TEXT_(x) #x
#define KYMO_LOG_TEXT(x) KYMO_LOG_TEXT_(x)
#define KYMO_LOG_LIST(...) __VA_ARGS__

/* types: in parentheses. Each use has its own section, because an inline function's section can't
 * be shared. */
#define KYMO_LOG_DO(level_, count, types, puts, format_, ...) \
    do { \
        if ((level_) <= KYMO_LOG_MOST && (level_) <= kymo_log_level && kymo_user_wanted != 0) { \
            static const struct { \
                struct kymo_log_site site; \
                char file[sizeof(__FILE__)], format[sizeof("" format_)]; \
            } kymo_log_site_ \
                __attribute__((section(".kymo_log." KYMO_LOG_TEXT(__COUNTER__)), aligned(4))) = { \
                    {(uint16_t)__LINE__, sizeof(__FILE__), (level_), {KYMO_LOG_LIST types}}, \
                    __FILE__, \
                    "" format_}; \
            struct kymo_log kymo_log_; \
            _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wformat\"") if (0) \
            { \
                kymo_log_check(__VA_ARGS__); \
            } \
            _Pragma("GCC diagnostic pop") kymo_log_begin(&kymo_log_, &kymo_log_site_, (count)); \
            puts kymo_log_end(&kymo_log_, KYMO_LOG_CODE); \
        } \
    } while (0)

#define KYMO_LOG_T KYMO_LOG_TYPE
#define KYMO_LOG_P KYMO_LOG_PUT
#define KYMO_LOG_0(v, t) KYMO_LOG_DO(v, 0, ('\0'), , t, t)
#define KYMO_LOG_1(v, t, a) KYMO_LOG_DO(v, 1, (KYMO_LOG_T(a)), KYMO_LOG_P(a), t, t, a)
#define KYMO_LOG_2(v, t, a, b) \
    KYMO_LOG_DO(v, 2, (KYMO_LOG_T(a), KYMO_LOG_T(b)), KYMO_LOG_P(a) KYMO_LOG_P(b), t, t, a, b)
#define KYMO_LOG_3(v, t, a, b, c) \
    KYMO_LOG_DO(v, 3, (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c), t, t, a, b, c)
#define KYMO_LOG_4(v, t, a, b, c, d) \
    KYMO_LOG_DO(v, 4, (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d), t, t, a, b, c, d)
#define KYMO_LOG_5(v, t, a, b, c, d, e) \
    KYMO_LOG_DO(v, 5, (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d), KYMO_LOG_T(e)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d) KYMO_LOG_P(e), t, t, a, b, \
                c, d, e)
#define KYMO_LOG_6(v, t, a, b, c, d, e, f) \
    KYMO_LOG_DO(v, 6, \
                (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d), KYMO_LOG_T(e), \
                 KYMO_LOG_T(f)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d) KYMO_LOG_P(e) \
                    KYMO_LOG_P(f), \
                t, t, a, b, c, d, e, f)
#define KYMO_LOG_7(v, t, a, b, c, d, e, f, g) \
    KYMO_LOG_DO(v, 7, \
                (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d), KYMO_LOG_T(e), \
                 KYMO_LOG_T(f), KYMO_LOG_T(g)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d) KYMO_LOG_P(e) \
                    KYMO_LOG_P(f) KYMO_LOG_P(g), \
                t, t, a, b, c, d, e, f, g)
#define KYMO_LOG_8(v, t, a, b, c, d, e, f, g, h) \
    KYMO_LOG_DO(v, 8, \
                (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d), KYMO_LOG_T(e), \
                 KYMO_LOG_T(f), KYMO_LOG_T(g), KYMO_LOG_T(h)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d) KYMO_LOG_P(e) \
                    KYMO_LOG_P(f) KYMO_LOG_P(g) KYMO_LOG_P(h), \
                t, t, a, b, c, d, e, f, g, h)
#define KYMO_LOG_9(v, t, a, b, c, d, e, f, g, h, i) \
    KYMO_LOG_DO(v, 9, \
                (KYMO_LOG_T(a), KYMO_LOG_T(b), KYMO_LOG_T(c), KYMO_LOG_T(d), KYMO_LOG_T(e), \
                 KYMO_LOG_T(f), KYMO_LOG_T(g), KYMO_LOG_T(h), KYMO_LOG_T(i)), \
                KYMO_LOG_P(a) KYMO_LOG_P(b) KYMO_LOG_P(c) KYMO_LOG_P(d) KYMO_LOG_P(e) \
                    KYMO_LOG_P(f) KYMO_LOG_P(g) KYMO_LOG_P(h) KYMO_LOG_P(i), \
                t, t, a, b, c, d, e, f, g, h, i)
#define KYMO_LOG_CAT_(a, b) a##b
#define KYMO_LOG_CAT(a, b) KYMO_LOG_CAT_(a, b)
#define KYMO_LOG_COUNT_(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define KYMO_LOG_COUNT(...) KYMO_LOG_COUNT_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )

#define KYMO_LOG(level, ...) \
    KYMO_LOG_CAT(KYMO_LOG_, KYMO_LOG_COUNT(__VA_ARGS__))(level, __VA_ARGS__)

#endif
