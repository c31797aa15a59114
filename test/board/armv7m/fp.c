/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FP registers belong to threads: threads of one process and of two hold different values in them
 * while they yield, sleep and are preempted; a thread that has never used FP sees zeros, never
 * another process's values.
 */
#include "test/board/armv7m/kinds.h"
#include "test/board/programs/check.h"

#define LOAD(r) "vmov " #r ", %0\n\t"
#define SAME(r) "vmov %0, " #r "\n\tcmp %0, %1\n\tit ne\n\taddne %2, #1\n\t"

static unsigned hold(uint32_t value, void (*meanwhile)(void))
{
    unsigned wrong = 0;
    uint32_t got;

    __asm__ volatile(LOAD(s0) LOAD(s1) LOAD(s7) LOAD(s15)::"r"(value) : "s0", "s1", "s7", "s15");
    __asm__ volatile(LOAD(s16) LOAD(s23) LOAD(s31)::"r"(value) : "s16", "s23", "s31");
    __asm__ volatile("vmsr fpscr, %0" ::"r"((value & 3) << 22));
    meanwhile();
    /* The compiler keeps nothing of its own in s16-s31 across this: it saves what it uses. */
    __asm__ volatile(SAME(s16) SAME(s23) SAME(s31) : "=&r"(got), "+r"(value), "+r"(wrong)::"cc");
    __asm__ volatile("vmrs %0, fpscr" : "=r"(got));
    wrong += (got >> 22 & 3) != (value & 3);
    __asm__ volatile("vmsr fpscr, %0" ::"r"(0));
    return wrong;
}

/* All registers, across a kernel call that switches, without C in between. */
static unsigned hold_all(uint32_t value)
{
    unsigned wrong = 0;
    uint32_t got;

    __asm__ volatile(
        LOAD(s0) LOAD(s1) LOAD(s7) LOAD(s15) LOAD(s16) LOAD(s31) "mov r12, #90\n\t"
                                                                 "svc 0\n\t" /* SCHED_YIELD */
                                                                 "mov r0, %0\n\t" ::"r"(value)
        : "r0", "r1", "r2", "r3", "r12", "s0", "s1", "s7", "s15", "s16", "s31", "memory");
    __asm__ volatile(SAME(s0) SAME(s1) SAME(s7) SAME(s15) SAME(s16) SAME(s31)
                     : "=&r"(got), "+r"(value), "+r"(wrong)::"cc");
    return wrong;
}

static void nap(void)
{
    sleep_ms(1);
}

static void spin(void)
{
    uint64_t end = now_ns() + MS;
    while (now_ns() < end) {
    }
}

unsigned fp_rounds(unsigned seed, unsigned ms)
{
    uint64_t end = now_ns() + ms * MS;
    unsigned wrong = 0;

    for (uint32_t n = 0; now_ns() < end; n++) {
        uint32_t value = 0x3f800000u + (seed << 16) + n;
        wrong += hold_all(value);
        wrong += hold(value, n % 2 ? nap : spin);
    }
    return wrong;
}

static void *rounds_thread(void *arg)
{
    return (void *)(uintptr_t)fp_rounds((unsigned)(uintptr_t)arg, 100);
}

unsigned fp_not_zero(void)
{
    uint32_t s[16];
    unsigned n = 0;

    __asm__ volatile("vstmia %0, {s16-s31}" ::"r"(s) : "memory");
    for (unsigned i = 0; i < 16; i++) {
        n += s[i] != 0;
    }
    return n;
}

void t_fp(void)
{
    int pid = spawn("t_armv7m", 0, 0, "child", "fp", NULL), status = -1;
    int fresh = spawn("t_armv7m", 0, 0, "child", "fp_fresh", NULL);
    int a = start_thread(rounds_thread, (void *)1, 0);
    int b = start_thread(rounds_thread, (void *)2, 0);
    void *wrong_a = NULL, *wrong_b = NULL;

    EXPECT(pid > 0);
    EXPECT_EQ(fp_rounds(3, 100), 0);
    EXPECT_EQ(ThreadJoin(a, &wrong_a), 0);
    EXPECT_EQ(ThreadJoin(b, &wrong_b), 0);
    EXPECT_EQ((uintptr_t)wrong_a, 0);
    EXPECT_EQ((uintptr_t)wrong_b, 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(ProcWait(fresh, &status, 0), fresh);
    EXPECT_EQ(status, 0);
}
