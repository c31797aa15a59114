/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the compiler calls for volatile accesses under -fsanitize=thread with
 * --param=tsan-distinguish-volatile=1: nothing. A volatile word is read by other CPUs on purpose
 * and carries no order; the race detector is to see only the plain data that an atomic must
 * publish.
 */
#define VOLATILE(bytes) \
    void __tsan_volatile_read##bytes(void *at); \
    void __tsan_volatile_write##bytes(void *at); \
    void __tsan_volatile_read##bytes(void *at) \
    { \
        (void)at; \
    } \
    void __tsan_volatile_write##bytes(void *at) \
    { \
        (void)at; \
    }
VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)
