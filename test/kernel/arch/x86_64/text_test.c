/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/arch/x86_64/text.c: trace sites are patched while other CPUs execute them. Whatever has
 * been written so far, each site is a breakpoint, the instruction that it was before the batch, or
 * the one that it will be: random batches, with sites that come several times, are looked at before
 * each write. KYMO_SEED=n repeats one.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernel/arch/aspace.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/probe.h"
#include "kernel/arch/x86_64/port.h"

#define TEXT_BYTES 0x4000u
#define SITES 300u /* more than a batch has */
#define ROUNDS 2000
#define BREAKPOINT 0xcc

extern char __kernel_start[]; /* test/kernel/arch/x86_64/unit.mk */

static const uint8_t nop[ARCH_SITE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static struct site {
    uint8_t before[ARCH_SITE_BYTES], after[ARCH_SITE_BYTES];
    uintptr_t next, next_before; /* where execution continues; before the last change of it */
} sites[SITES];
static unsigned looks, calls;
static bool others = true;

static uintptr_t address(unsigned site)
{
    return (uintptr_t)__kernel_start + 7 * site;
}

/* What another CPU may meet now. */
static void look(void)
{
    for (unsigned i = 0; i < SITES; i++) {
        const uint8_t *code = (const uint8_t *)address(i);
        if (code[0] == BREAKPOINT) {
            uintptr_t frame[X86_FRAME_RIP + 1] = {[X86_FRAME_RIP] = address(i) + 1};
            assert_true(x86_breakpoint(frame));
            uintptr_t rip = frame[X86_FRAME_RIP];
            assert_true(rip == sites[i].next || rip == sites[i].next_before);
        } else if (memcmp(code, sites[i].before, ARCH_SITE_BYTES) != 0) {
            assert_memory_equal(code, sites[i].after, ARCH_SITE_BYTES);
        }
    }
    looks++;
}

/* text.c asks it before each write. */
bool kernel_holds_lock(void)
{
    look();
    return true;
}

void x86_serialise_all(void)
{
    look();
    calls++;
}

bool x86_cpus_others(void)
{
    return others;
}

/* Before the site is patched. */
static void want(unsigned i, bool on, uintptr_t target)
{
    int32_t distance = (int32_t)(target - (address(i) + ARCH_SITE_BYTES));

    if (*(const uint8_t *)address(i) != BREAKPOINT) {
        memcpy(sites[i].before, (const void *)address(i), ARCH_SITE_BYTES);
    }
    sites[i].next_before = sites[i].next;
    sites[i].next = address(i) + ARCH_SITE_BYTES;
    memcpy(sites[i].after, nop, sizeof(nop));
    if (on) {
        sites[i].after[0] = 0xe9;
        memcpy(sites[i].after + 1, &distance, sizeof(distance));
        sites[i].next = target;
    }
}

static void patch(unsigned i)
{
    bool on = random() & 1;
    uintptr_t target = (uintptr_t)__kernel_start + (unsigned)random() % TEXT_BYTES;

    want(i, on, target);
    arch_site_patch(address(i), target, on);
}

/* Patches sites by chance, of the first `among` ones, and ends the batch as a caller does. */
static void batch(unsigned patches, unsigned among)
{
    for (unsigned n = 0; n < patches; n++) {
        patch((unsigned)random() % among);
    }
    arch_text_sync(__kernel_start, TEXT_BYTES);
    for (unsigned i = 0; i < SITES; i++) {
        assert_memory_equal((const void *)address(i), sites[i].after, ARCH_SITE_BYTES);
    }
}

static void test_batches(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        batch((unsigned)random() % 12, 1 + (unsigned)random() % 6);
    }
    assert_true(looks > ROUNDS);
}

/* As a STOP does it with a limit on pids: what is ALL becomes LOG, then OFF, others between. */
static void test_thrice(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned i = 0; i < 8; i++) {
            uintptr_t target = (uintptr_t)__kernel_start + 0x100 * turn;
            want(i, turn < 2, target);
            arch_site_patch(address(i), target, turn < 2);
        }
    }
    batch(0, 1);
}

static void test_more_than_a_batch(void **state)
{
    unsigned before = calls;

    (void)state;
    for (unsigned i = 0; i < SITES; i++) { /* each once, so that a batch is full */
        patch(i);
    }
    batch(SITES / 2, SITES / 3); /* also sites of the full one again; they fit */
    assert_int_equal(calls - before, 6);
}

static void test_alone(void **state)
{
    unsigned before = calls;

    (void)state;
    others = false;
    batch(20, SITES);
    others = true;
    assert_int_equal(calls, before);
}

static int text_map(void **state)
{
    int fd = memfd_create("text", 0);
    void *text = __kernel_start;
    void *alias = (void *)((uintptr_t)text + (uintptr_t)KERNEL_TEXT_ALIAS);

    (void)state;
    if (fd < 0 || ftruncate(fd, TEXT_BYTES) != 0 ||
        mmap(text, TEXT_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) != text ||
        mmap(alias, TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) !=
            alias) {
        return -1;
    }
    for (unsigned i = 0; i < SITES; i++) {
        memcpy((char *)alias + 7 * i, nop, sizeof(nop));
        want(i, false, 0);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_thrice),
        cmocka_unit_test(test_more_than_a_batch),
        cmocka_unit_test(test_alone),
    };
    const char *given = getenv("KYMO_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srandom(seed);
    return cmocka_run_group_tests(tests, text_map, NULL);
}
