/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/observe/retain.c: what a reset finds in RAM at each point of a claim, on a machine whose
 * caches hold all that was not cleaned. An earlier boot's panic never goes with this one's header.
 * And what the next boot says of a record, header or count of boots of which a bit has changed:
 * never that it was not there. EVERY=n takes each n-th bit, from $SEED on; 1: all.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/retain.h"
#include "abi/sys/ability.h"
#include "abi/sys/panic.h"
#include "abi/sys/trace.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/entry.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/mem/mem.h"
#include "kernel/observe/retain.h"
#include "kernel/observe/retain_layout.h"
#include "test/kernel/fake/fake.h"
#include "trace/crc32c.h"
#include "trace/port.h"

static uint8_t *const window = (uint8_t *)CONFIG_RETAIN_BASE; /* as the CPU sees it */
static uint8_t *ram; /* shared with the child that was the earlier boot */
static unsigned resets, new_headers;
static uint32_t earlier; /* boots of the header that the earlier boot left; 0: that one runs */
const uint32_t boot_image_retains = 1;

/* The machine is reset here. */
static void look_at_ram(void)
{
    const struct kymo_retain_header *header = (const void *)ram;
    const struct kymo_retain_panic *panic = (const void *)(ram + RETAIN_PANIC);
    size_t from = offsetof(struct kymo_retain_header, boots);

    resets++;
    if (!earlier || header->magic != KYMO_RETAIN_MAGIC || header->boots == earlier ||
        header->crc != trace_crc(&header->boots, sizeof(*header) - from)) {
        return;
    }
    new_headers++;
    assert_false(panic->magic == KYMO_RETAIN_MAGIC &&
                 panic->crc == trace_crc(panic->record, sizeof(panic->record)));
}

void arch_cache_clean(const void *start, size_t len)
{
    size_t at = (size_t)((const uint8_t *)start - window);

    assert_in_range(at, 0, CONFIG_RETAIN_BYTES - len);
    memcpy(ram + at, window + at, len);
    look_at_ram();
}

/* ---- the rest of the kernel -------------------------------------------------------- */

bool dtrace_retained_found(const struct kymo_retain_d *directory, uint32_t boots)
{
    (void)directory;
    (void)boots;
    return false;
}

void dtrace_retained_begin(struct kymo_retain_d *directory)
{
    (void)directory;
}

uint32_t dtrace_retained_ceiling(void)
{
    return CONFIG_RETAIN_BYTES;
}

bool dtrace_log_notes_of(unsigned n, uint32_t *id, const void **bytes, uint32_t *nbytes)
{
    (void)n;
    (void)id;
    (void)bytes;
    (void)nbytes;
    return false;
}

void dtrace_boot_again(void)
{
}

size_t syspage_copy(void *to, size_t most)
{
    memset(to, 's', 100);
    return most > 100 ? 100 : 0;
}

uint32_t syspage_sum(uint32_t *crc)
{
    *crc = 0;
    return 0;
}

void retain_names_begin(struct kymo_retain_name *table, uint32_t boots)
{
    (void)table;
    (void)boots;
}

bool phys_alloc_at(paddr_t at, size_t len)
{
    (void)at;
    (void)len;
    return true;
}

size_t phys_granule(void)
{
    return FAKE_GRANULE;
}

int copy_out(struct process *proc, uintptr_t to, const void *from, size_t bytes)
{
    (void)proc;
    (void)to;
    (void)from;
    (void)bytes;
    return 0;
}

static char *said; /* shared with the child that is the next boot; NULL: nobody listens */
#define SAID 1024

int kprintf(const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    if (said) {
        size_t at = strlen(said);

        vsnprintf(said + at, SAID - at, fmt, list);
    }
    va_end(list);
    return 0;
}

/* ---- the test ---------------------------------------------------------------------- */

static void power_on(void)
{
    memcpy(window, ram, CONFIG_RETAIN_BYTES); /* the caches are empty */
    retain_boot();
    retain_start();
}

static void *map(void *at, int flags)
{
    return mmap(at, CONFIG_RETAIN_BYTES, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
}

/* A boot in a process of its own, which ends with a panic. */
static void earlier_boot(void)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        power_on();
        memset(retain_panic(), 'p', 100);
        retain_seal();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* until it has ended */
    earlier = ((const struct kymo_retain_header *)(const void *)ram)->boots;
    assert_int_equal(earlier, 1);
}

static void test_claim(void **state)
{
    struct process self = {.ability = ABILITY_TRACE};
    struct thread thread = {.proc = &self};
    const uintptr_t args[5] = {KYMO_TRACE_DROPRETAINED};

    (void)state;
    ram = map(NULL, MAP_SHARED);
    assert_ptr_equal(map(window, MAP_PRIVATE | MAP_FIXED_NOREPLACE), window);
    earlier_boot();
    power_on();
    assert_null(retain_panic());
    resets = new_headers = 0;
    assert_int_equal(retain_command(&thread, KYMO_TRACE_DROPRETAINED, args), 0);
    assert_non_null(retain_panic());
    assert_true(resets > 3 && new_headers > 1);
}

/* What the next boot says, in a process of its own. */
static const char *next_boot(void)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    strcpy(said, "it has crashed");
    if (fork() == 0) {
        memset(said, 0, SAID);
        ram = memcpy(map(NULL, MAP_PRIVATE), ram, CONFIG_RETAIN_BYTES);
        power_on();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* until it has ended */
    close(ends[0]);
    return said;
}

static void expect_said(uint64_t bit, const char *text)
{
    if (!strstr(next_boot(), text)) {
        fail_msg("bit %u of byte 0x%x: no \"%s\" in \"%s\"", (unsigned)(bit % 8),
                 (unsigned)(bit / 8), text, said);
    }
}

/* `none`: what is said of the first bytes, whose change has no effect. */
static void toggle(size_t at, size_t bytes, size_t none, const char *sound, const char *text)
{
    unsigned every = getenv("EVERY") ? (unsigned)atoi(getenv("EVERY")) : 61;
    unsigned from = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : 0;

    for (uint64_t bit = 8 * at + from % every; bit < 8 * (at + bytes); bit += every) {
        ram[bit / 8] ^= (uint8_t)(1u << bit % 8);
        expect_said(bit, bit / 8 < at + none ? sound : text);
        ram[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_damaged(void **state)
{
    static const char damaged[] = "boot 2: boot 1 ended with: a panic with a damaged record",
                      header[] = "boot 2: retained header damaged, or another kernel's";
    char sound[120];

    (void)state;
    ram = map(NULL, MAP_SHARED);
    said = map(NULL, MAP_SHARED);
    assert_ptr_equal(map(window, MAP_PRIVATE | MAP_FIXED_NOREPLACE), window);
    earlier = 0;
    earlier_boot();
    snprintf(sound, sizeof(sound), "boot 2: boot 1 ended with: ");
    expect_said(0, sound);
    assert_null(strstr(said, "damaged"));
    toggle(RETAIN_PANIC, sizeof(struct kymo_retain_panic), sizeof(uint32_t), sound, damaged);
    toggle(KYMO_RETAIN_HEADER, sizeof(struct kymo_retain_header), 0, "", header);
    toggle(RETAIN_BOOTS, 12, 0, sound, sound); /* the count goes on from the header */
    memset(ram + RETAIN_PANIC, 0, sizeof(struct kymo_retain_panic)); /* nothing to tell */
    assert_string_equal(next_boot(), "");
    toggle(RETAIN_PANIC, sizeof(struct kymo_retain_panic), 0, "", damaged);
    memset(ram, 0, CONFIG_RETAIN_BYTES); /* the power was off */
    assert_string_equal(next_boot(), "");
    munmap(window, CONFIG_RETAIN_BYTES);
    munmap(ram, CONFIG_RETAIN_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_claim)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
