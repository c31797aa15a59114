/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64's part of lib/. Included by lib/machine.h only. */
#ifndef LIB_ARCH_X86_64_MACHINE_H
#define LIB_ARCH_X86_64_MACHINE_H

#include <stdint.h>

/* A kernel call's two results come back in rax and rdx: the shape of a two-word struct. */
typedef struct kymo_pair {
    long value;
    long error;
} kymo_pair;
#define KYMO_PAIR_VALUE(p) ((p).value)
#define KYMO_PAIR_ERROR(p) ((int)(p).error)

/*
 * Makes a kernel call in line: number in rax, words in rdi, rsi, rdx, r10, r8, and the sixth in
 * rbx, so that the kernel has a free register, r9, from its first instruction on. It returns rax
 * (value) and rdx (errno) and preserves the registers that a function preserves, no more.
 */
static inline kymo_pair kymo_call_5(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c,
                                    uintptr_t d, uintptr_t e)
{
    register uintptr_t r10 __asm__("r10") = d;
    register uintptr_t r8 __asm__("r8") = e;

    __asm__ volatile("syscall"
                     : "+a"(number), "+D"(a), "+S"(b), "+d"(c), "+r"(r10), "+r"(r8)
                     :
                     : "rcx", "r9", "r11", "cc", "memory");
    return (kymo_pair){(long)number, (long)c};
}

static inline kymo_pair kymo_call_6(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c,
                                    uintptr_t d, uintptr_t e, uintptr_t f)
{
    register uintptr_t r10 __asm__("r10") = d;
    register uintptr_t r8 __asm__("r8") = e;

    __asm__ volatile("syscall"
                     : "+a"(number), "+D"(a), "+S"(b), "+d"(c), "+r"(r10), "+r"(r8)
                     : "b"(f)
                     : "rcx", "r9", "r11", "cc", "memory");
    return (kymo_pair){(long)number, (long)c};
}

/* Returns a word that the call doesn't have: the register's present value. */
static inline uintptr_t kymo_no_word(void)
{
    uintptr_t any;

    __asm__("" : "=r"(any));
    return any;
}

static inline kymo_pair kymo_call_1(uintptr_t number, uintptr_t a)
{
    uintptr_t b = kymo_no_word(), c = kymo_no_word();

    return kymo_call_5(number, a, b, c, kymo_no_word(), kymo_no_word());
}

static inline kymo_pair kymo_call_2(uintptr_t number, uintptr_t a, uintptr_t b)
{
    uintptr_t c = kymo_no_word(), d = kymo_no_word();

    return kymo_call_5(number, a, b, c, d, kymo_no_word());
}

static inline kymo_pair kymo_call_3(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c)
{
    return kymo_call_5(number, a, b, c, kymo_no_word(), kymo_no_word());
}

static inline kymo_pair kymo_call_4(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c,
                                    uintptr_t d)
{
    return kymo_call_5(number, a, b, c, d, kymo_no_word());
}

/* Makes a call of four words: returns the pair's error and drops the value. */
static inline int kymo_error_4(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    return KYMO_PAIR_ERROR(kymo_call_4(number, a, b, c, d));
}

/* lib/kercall.h: each raw call in line. */
#define KYMO_RAW(NAME, number, n) KYMO_RAW_##n(NAME, number)
#define KYMO_RAW_1(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a) \
    { \
        return kymo_call_1(number, a); \
    }
#define KYMO_RAW_2(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a, uintptr_t b) \
    { \
        return kymo_call_2(number, a, b); \
    }
#define KYMO_RAW_3(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a, uintptr_t b, uintptr_t c) \
    { \
        return kymo_call_3(number, a, b, c); \
    }
#define KYMO_RAW_4(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) \
    { \
        return kymo_call_4(number, a, b, c, d); \
    }
#define KYMO_RAW_5(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
                                            uintptr_t e) \
    { \
        return kymo_call_5(number, a, b, c, d, e); \
    }
#define KYMO_RAW_6(NAME, number) \
    static inline kymo_pair kymo_raw_##NAME(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
                                            uintptr_t e, uintptr_t f) \
    { \
        return kymo_call_6(number, a, b, c, d, e, f); \
    }

#define KYMO_THREAD_STACK 65536 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 4096
#define KYMO_STACK_MAPPED 1    /* own mapping with an unmapped guard below */
#define KYMO_IO_PORTS 0x10000u /* I/O ports; no mapping is below that address */

#endif
