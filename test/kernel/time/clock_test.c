/* SPDX-License-Identifier: BSD-2-Clause */
/* Time: conversions against 128-bit arithmetic, the clocks, slow adjustment, CPU time. */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/time/time.h"
#include "test/tool/random.h"

#define MS 1000000ull
#define DAY (86400000ull * MS)
#define MONOTONIC CLOCK_MONOTONIC

static uint64_t hz = FAKE_HZ;
static struct thread *t;

static int setup(void **state)
{
    (void)state;
    t = world_process(ABILITY_CLOCK, 10, DATA);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_end();
    fake_hz = FAKE_HZ;
    clock_init();
    return 0;
}

static uint64_t random_64(void)
{
    return ((uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX)) >>
           random_below(64);
}

/* ---- conversions ------------------------------------------------------------------- */

static void check_floor(uint64_t result, uint64_t x, uint64_t n, uint64_t d)
{
    unsigned __int128 exact = (unsigned __int128)x * n / d;
    if (exact > UINT64_MAX - 2) {
        assert_true(result >= UINT64_MAX - 2 || exact < result + (unsigned __int128)2);
        return;
    }
    /* floor, or one less; what would overflow soon may saturate early */
    assert_true(result == exact || result + 1 == exact ||
                (result == UINT64_MAX && exact >= UINT64_MAX / 2));
}

static void check_conversions(uint64_t x)
{
    check_floor(clock_cycles_to_ns(x), x, 1000000000, hz);
    check_floor(clock_ns_to_cycles(x), x, hz, 1000000000);
    uint64_t at = clock_expiry(x);
    if (at != UINT64_MAX) { /* never early: when the cycle comes, the time has come */
        assert_true(clock_cycles_to_ns(at) >= x);
        assert_true((unsigned __int128)at * 1000000000 <
                    ((unsigned __int128)x + 2) * hz + (unsigned __int128)4 * 1000000000);
    }
    uint64_t now = fake_now;
    at = clock_expiry_after(x);
    if (at != UINT64_MAX) { /* though nearly all of the present cycle has passed */
        unsigned __int128 full = (unsigned __int128)(at - now - 1) * 1000000000;
        assert_true(full >= (unsigned __int128)x * hz);
        assert_true(full <= (unsigned __int128)x * hz + (unsigned __int128)2 * 1000000000);
    }
}

/* The clock is read by a shorter way; for a century to the same result. */
static void check_now(void)
{
    const uint64_t seconds = UINT64_C(3000000000), kept = fake_now;
    uint64_t now = random_64() % (hz > UINT64_MAX / seconds ? UINT64_MAX : hz * seconds);

    fake_now = now;
    assert_int_equal(clock_now_ns(), clock_cycles_to_ns(now));
    fake_now = kept;
}

static void test_conversions(void **state)
{
    (void)state;
    static const uint64_t rates[] = {
        62500000, 1,          3, 32768,   999999937, 100000000,     1000000000,    1000000007,
        24000000, 2400000000, 3, 1193182, 54321987,  4294967295ull, 10000000000ull};
    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        hz = rates[i];
        fake_hz = hz;
        clock_init();
        for (unsigned n = 0; n < 2000; n++) {
            check_conversions(random_64());
            check_conversions(n);
            check_conversions(UINT64_MAX - n);
            check_conversions((uint64_t)1 << n % 64);
            check_conversions(((uint64_t)1 << n % 64) - 1);
            check_now();
        }
    }
    hz = FAKE_HZ;
}

static void test_divide(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t n = random_64(), d = random_64(), rest;
        d = d ? d : 1;
        assert_int_equal(clock_divide(n, d, &rest), n / d);
        assert_int_equal(rest, n % d);
    }
}

/* ---- clocks ------------------------------------------------------------------------ */

static uint64_t get(uintptr_t clock)
{
    assert_int_equal(CALL(t, CLOCK_TIME, clock, 0, AT(1)), 0);
    return *(uint64_t *)world_at(t, AT(1));
}

static long put(struct thread *who, uintptr_t clock, uint64_t ns)
{
    *(uint64_t *)world_at(who, AT(2)) = ns;
    return CALL(who, CLOCK_TIME, clock, AT(2), AT(1));
}

/* The same but for what passes between two looks. */
static void about(uint64_t is, uint64_t should)
{
    assert_true(is + 20000 > should && is < should + 20000);
}

static void test_clocks(void **state)
{
    (void)state;
    uint64_t mono = get(MONOTONIC);
    assert_int_equal(put(t, 0, 20000 * DAY), 0);
    about(get(0), 20000 * DAY);
    about(get(CLOCK_SOFTTIME), 20000 * DAY);
    about(get(MONOTONIC), mono);
    world_advance(DAY);
    about(get(0), 20001 * DAY);
    about(get(MONOTONIC), mono + DAY);
    assert_int_equal(put(t, CLOCK_SOFTTIME, 5), 0);
    about(*(uint64_t *)world_at(t, AT(1)), 20001 * DAY); /* the old one */
    about(get(0), 5);
    world_advance(MS);
    about(get(0), 5 + MS);
    /* both at one place: the new one is read before the old one is written */
    *(uint64_t *)world_at(t, AT(2)) = 7 * DAY;
    assert_int_equal(CALL(t, CLOCK_TIME, 0, AT(2), AT(2)), 0);
    about(*(uint64_t *)world_at(t, AT(2)), 5 + MS);
    about(get(0), 7 * DAY);
}

static void test_wrong(void **state)
{
    (void)state;
    struct thread *plain = world_process(0, 10, DATA);
    assert_int_equal(put(plain, 0, 1), -EPERM);
    assert_int_equal(put(t, MONOTONIC, 1), -EINVAL);
    assert_int_equal(put(t, (uintptr_t)CALL(t, CLOCK_ID, 0, 0), 1), -EINVAL);
    uint64_t before = get(0);
    assert_int_equal(CALL(t, CLOCK_TIME, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(t, CLOCK_TIME, 0, AT(2), RO), -EFAULT);
    about(get(0), before);
    assert_int_equal(CALL(t, CLOCK_TIME, 0, 0, 0), 0);
    static const uintptr_t clocks[] = {3,          0x1fffffff, 0x20000000, 0x40000000,
                                       0x5fffffff, 0x60000000, 0x7fffffff, UINT32_MAX};
    for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        assert_int_equal(CALL(t, CLOCK_TIME, clocks[i], 0, AT(1)), -EINVAL);
        assert_int_equal(CALL(t, CLOCK_ADJUST, clocks[i], 0, AT(1)), -EINVAL);
        assert_int_equal(CALL(t, CLOCK_PERIOD, clocks[i], 0, AT(1)), -EINVAL);
    }
    assert_int_equal(CALL(t, CLOCK_ADJUST, MONOTONIC, 0, AT(1)), -EINVAL);
    assert_int_equal(CALL(plain, CLOCK_ADJUST, 0, AT(1), 0), -EPERM);
    assert_int_equal(CALL(t, CLOCK_ADJUST, 0, NOWHERE, 0), -EFAULT);
    assert_int_equal(CALL(t, CLOCK_ADJUST, 0, 0, RO), -EFAULT);
    assert_int_equal(CALL(t, CLOCK_PERIOD, 0, AT(1), 0), -ENOTSUP);
    assert_int_equal(CALL(plain, CLOCK_PERIOD, 0, AT(1), 0), -EPERM);
    assert_int_equal(CALL(t, CLOCK_PERIOD, 0, 0, RO), -EFAULT);
    assert_int_equal(CALL(t, CLOCK_PERIOD, 0, 0, AT(1)), 0);
    assert_int_equal(((struct _clockperiod *)world_at(t, AT(1)))->nsec, 1000000000 / FAKE_HZ);
    assert_int_equal(CALL(t, CLOCK_ID, 999, 0), -ESRCH);
    assert_int_equal(CALL(t, CLOCK_ID, 0, 3), -ESRCH);
    assert_int_equal(CALL(t, CLOCK_CYCLES, AT(1)), 0);
    assert_true(*(uint64_t *)world_at(t, AT(1)) < fake_now);
    assert_int_equal(CALL(t, CLOCK_CYCLES, RO), -EFAULT);
    assert_int_equal(CALL(t, CLOCK_CYCLES, RO - 4), -EFAULT);
}

/* ---- slow adjustment --------------------------------------------------------------- */

static void adjust(uint32_t ticks, int32_t ns)
{
    *(struct _clockadjust *)world_at(t, AT(3)) = (struct _clockadjust){ticks, ns};
    assert_int_equal(CALL(t, CLOCK_ADJUST, 0, AT(3), AT(4)), 0);
}

static uint32_t ticks_left(void)
{
    assert_int_equal(CALL(t, CLOCK_ADJUST, 0, 0, AT(4)), 0);
    return ((struct _clockadjust *)world_at(t, AT(4)))->tick_count;
}

static void test_adjust(void **state)
{
    (void)state;
    static const int32_t steps[] = {100000, -100000, 1, -1, 500000};
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        put(t, 0, 1000 * DAY);
        adjust(1000, steps[i]);
        assert_int_equal(ticks_left(), 1000);
        world_advance(400 * MS + MS / 2);
        about(get(0), 1000 * DAY + 400 * MS + MS / 2 + (uint64_t)(400 * (int64_t)steps[i]));
        assert_int_equal(ticks_left(), 600);
        world_advance(DAY);
        about(get(0), 1001 * DAY + 400 * MS + MS / 2 + (uint64_t)(1000 * (int64_t)steps[i]));
        assert_int_equal(ticks_left(), 0);
    }
    /* a new one takes the place of the rest of the old one; setting the clock ends it */
    put(t, 0, 1000 * DAY);
    adjust(1000, 100000);
    world_advance(500 * MS + MS / 2);
    adjust(10, -100000);
    assert_int_equal(((struct _clockadjust *)world_at(t, AT(4)))->tick_count, 500);
    world_advance(1000 * MS);
    about(get(0), 1000 * DAY + 1500 * MS + MS / 2 + 500 * 100000 - 10 * 100000);
    adjust(1000, 100000);
    put(t, 0, 5 * DAY);
    world_advance(DAY);
    about(get(0), 6 * DAY);
    assert_int_equal(ticks_left(), 0);
}

/* ---- CPU time ---------------------------------------------------------------------- */

static void test_cpu_time(void **state)
{
    (void)state;
    struct thread *u = world_thread(t, 20);
    uintptr_t one = (uintptr_t)CALL(t, CLOCK_ID, 0, 1), all = (uintptr_t)CALL(t, CLOCK_ID, 0, 0);
    uintptr_t other = (uintptr_t)CALL(t, CLOCK_ID, 0, 2);
    CALL(u, INTERRUPT_WAIT, 0, 0);
    uint64_t before = get(one), second = get(other), sum = get(all);
    world_advance(50 * MS);
    about(get(one), before + 50 * MS);
    about(get(other), second);
    about(get(all), sum + 50 * MS);
    CALL(t, THREAD_CANCEL, 2, 0x100);
    second = get(other);
    world_advance(50 * MS);
    about(get(other), second + 50 * MS);
    about(get(all), sum + 150 * MS);
    CALL(u, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(CALL(t, CLOCK_TIME, other, 0, AT(1)), -EINVAL);
    /* another process's can be read, not after its end */
    struct thread *p = world_process(0, 10, DATA);
    uintptr_t its = (uintptr_t)CALL(t, CLOCK_ID, (uintptr_t)p->proc->pid, 0);
    world_advance(MS);
    assert_true(get(its) >= MS - 20000);
    world_kill(p->proc);
    assert_int_equal(CALL(t, CLOCK_TIME, its, 0, AT(1)), -EINVAL);
}

static int boot(void **state)
{
    (void)state;
    random_start();
    world_boot();
    return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_conversions), CASE(test_divide), CASE(test_clocks),
        CASE(test_wrong),       CASE(test_adjust), CASE(test_cpu_time),
    };
    return cmocka_run_group_tests(tests, boot, NULL);
}
