/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture is the same, byte for byte, wherever it goes: the tracelogger's own header, carrying
 * and accounting, fed with the same buffers and losses, write it to a file, over the link, into
 * memory, and to a disk (of either sector size, sound or failing now and then, in records of
 * several buffers) from which `kymo extract`'s reader takes it. With and without -S. SEED=s
 * replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/extract/captures.h"
#include "test/tracelogger/board.h"
#include "tracelogger/capture.h"
#include "tracelogger/header.h"
#include "tracelogger/refused.h"
#include "tracelogger/sink.h"
#include "trace/slot.h"

#define ROUNDS 60
#define ROOM (4u << 20)
#define SIZED 12 /* seeds, each with eleven sizes */
/* What -S keeps for each CPU's losses and end mark. */
#define RESERVE ((KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES + 3u) * TRACE_SLOT_BYTES)

enum sink_kind { TO_FILE, TO_LINK, TO_MEMORY, TO_DISK, TO_FAILING_DISK, SINKS };
#define TO_REFUSING_DISK SINKS /* its capture is not the same: buffers are lost */

/* In memory that a recording's process shares. */
struct result {
    uint64_t seed;
    size_t bytes;
    unsigned buffers, at_once;
    uint64_t lost, tries;
    bool whole;
    uint32_t page_bytes;
    unsigned cpus;
    uint64_t made[64][32];
    uint8_t data[ROOM];
};
static struct result *results;

static bool run(enum sink_kind kind, const struct options *options)
{
    static const char *const names[] = {"same.kev",       "link:same.kev",  "memory:same.kev",
                                        "block:same.kev", "block:same.kev", "block:same.kev"};
    struct capture capture = {.options = options};

    sink_settings = (struct sink_settings){
        .format = true, .force = true, .size = options->size ? options->size : ROOM};
    bool good = capture_buffers_map(&capture.buffers) == 0 && refused_open() == 0 &&
                sink_wait(names[kind]) == 0 && sink_open(names[kind]) == 0 &&
                header_write(options) == 0;

    board.faults = kind == TO_FAILING_DISK;
    board.refuses = kind == TO_REFUSING_DISK;
    while (good && board.left > 0 && !capture.cut) {
        board.ready = 1 + (unsigned)(board.left * 7919 + board.taken) % board.left;
        do {
            good = capture_drain(&capture, false) == 0;
        } while (good && capture.more);
    }
    board.ready = board.left;
    good = good && capture_rest(&capture) == 0 && capture_pending(&capture) == 0;
    return sink_close() == 0 && good;
}

static int add(void *context, const void *data, size_t bytes)
{
    struct result *result = context;

    memcpy(result->data + result->bytes, data, bytes);
    result->bytes += bytes;
    return 0;
}

/* As `kymo extract` does. */
static bool extract(struct result *result)
{
    static struct blocklog log;
    struct extract_list list;

    board.faults = board.refuses = false;
    board.disk.fail_times = 0;
    bool good = blocklog_open(&log, &board.disk.disk) == 0 && extract_list(&log, &list) == 0 &&
                list.count == 1 && extract_read(&log, &list.capture[0], add, result) == 0;

    result->whole = good && list.capture[0].whole && list.capture[0].damaged == 0 &&
                    list.capture[0].bytes + list.capture[0].trailers == result->bytes &&
                    list.capture[0].lost == board.refused;
    result->lost = board.refused;
    return good;
}

static int record(enum sink_kind kind, const struct options *options, struct result *result)
{
    board_begin(result->seed, result->data, ROOM);
    bool good = run(kind, options);

    result->bytes = board.bytes;
    result->whole = board.ended;
    if (good && kind >= TO_DISK) {
        result->bytes = 0;
        good = extract(result);
    }
    result->buffers = board.taken;
    result->at_once = board.at_once;
    result->page_bytes = board.page_bytes;
    result->cpus = board.cpus;
    memcpy(result->made, board.made, sizeof(result->made));
    return good ? 0 : 1;
}

static void record_sink(enum sink_kind kind, uint64_t seed, const struct options *options)
{
    struct result *result = &results[kind];
    int status;

    result->seed = seed;
    result->bytes = 0;
    result->whole = false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int bad = record(kind, options, result);

        fflush(stdout);
        _exit(bad);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void record_all(uint64_t seed, const struct options *options)
{
    for (int i = 0; i < SINKS; i++) {
        record_sink((enum sink_kind)i, seed, options);
    }
}

static uint64_t first_seed(void)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)getpid() * 1000;

    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* ---- nothing is lost without a trace, whatever -S is ------------------------------- */

/* What is behind a text. */
static const uint8_t *find(const uint8_t *in, size_t bytes, const char *text)
{
    size_t length = strlen(text), at = 0;

    while (at + length < bytes && memcmp(in + at, text, length) != 0) {
        at++;
    }
    assert_true(at + length < bytes);
    return in + at + length;
}

/* Of each CPU and class: made = in the file + DROPPED. And the last three slots are an end mark. */
static void account_check(const struct result *result, uint64_t seed)
{
    const uint8_t *end = result->data + result->bytes;
    const uint8_t *at =
        find(result->data, result->bytes, "TRACE_HEADER_END::") + result->page_bytes;
    uint64_t told[64][32] = {0};
    uint32_t last[3] = {0};

    assert_int_equal((end - at) % TRACE_SLOT_BYTES, 0);
    for (; at < end; at += TRACE_SLOT_BYTES) {
        struct trace_slot slot;

        memcpy(&slot, at, sizeof(slot));
        uint32_t cpu = TRACE_GET_CPU(slot.header), class = TRACE_GET_CLASS(slot.header);
        uint32_t event = TRACE_GET_EVENT(slot.header);
        if (class != TRACE_CLASS_CONTROL) {
            told[cpu][class]++;
        } else if (event == TRACE_CONTROL_DROPPED) {
            told[cpu][slot.d1 & 0x1f] += slot.d2;
        }
        last[0] = last[1], last[1] = last[2], last[2] = class << 10 | event;
    }
    for (uint32_t i = 0; i < 64 * 32; i++) {
        if (told[i / 32][i % 32] != result->made[i / 32][i % 32]) {
            fail_msg("CPU %u class %u: made %llu, told %llu: SEED=%llu", i / 32, i % 32,
                     (unsigned long long)result->made[i / 32][i % 32],
                     (unsigned long long)told[i / 32][i % 32], (unsigned long long)seed);
        }
    }
    assert_int_equal(last[0], TRACE_CLASS_CONTROL << 10 | TRACE_CONTROL_END);
    assert_int_equal(last[1], TRACE_CLASS_CONTROL << 10 | TRACE_CONTROL_CHECK);
    assert_int_equal(last[2], TRACE_CLASS_CONTROL << 10 | TRACE_CONTROL_BUFFER_END);
}

/* One recording with this -S, 0: without; its bytes. */
static size_t sized(uint64_t seed, uint64_t size)
{
    struct options options = {.file = "same.kev", .args = "tracelogger -x", .size = size};

    record_sink(TO_FILE, seed, &options);
    account_check(&results[TO_FILE], seed);
    if (size != 0 && results[TO_FILE].bytes > size) {
        fail_msg("%zu bytes with -S %llu: SEED=%llu", results[TO_FILE].bytes,
                 (unsigned long long)size, (unsigned long long)seed);
    }
    return results[TO_FILE].bytes;
}

/* At random, and around where the last buffer, or all of them, would just fit. */
static void test_every_size(void **state)
{
    uint64_t seed = first_seed();
    unsigned cut = 0;

    (void)state;
    for (uint64_t end = seed + SIZED; seed < end; seed++) {
        size_t all = sized(seed, 0), least = results[TO_FILE].page_bytes + 40000;

        for (int i = -2; i <= 2; i++) {
            uint64_t size = all + RESERVE * results[TO_FILE].cpus + (uint64_t)(8 * i);

            cut += sized(seed, size) < all;
            cut += sized(seed, least + seed * 7919 * (uint64_t)(i + 3) % (all + 1)) < all;
        }
    }
    printf("%u cut by -S\n", cut);
    assert_true(cut > SIZED);
}

/* Some buffers are never taken by the disk, and tracelogger goes on: the capture and the log's own
 * account tell of each, and nothing else is lost. */
static void test_refused_buffers(void **state)
{
    uint64_t seed = first_seed();
    unsigned refused = 0;

    (void)state;
    for (uint64_t end = seed + SIZED; seed < end; seed++) {
        struct options options = {.file = "same.kev", .args = "tracelogger -x"};

        record_sink(TO_REFUSING_DISK, seed, &options);
        if (!results[TO_REFUSING_DISK].whole) {
            fail_msg("SEED=%llu", (unsigned long long)seed);
        }
        account_check(&results[TO_REFUSING_DISK], seed);
        refused += results[TO_REFUSING_DISK].lost > 0;
    }
    assert_true(getenv("SEED") || refused > 2);
}

static void test_same(void **state)
{
    uint64_t seed = first_seed();
    unsigned together = 0, cut = 0;

    (void)state;
    for (uint64_t end = seed + ROUNDS; seed < end; seed++) {
        struct options options = {.file = "same.kev", .args = "tracelogger -x"};

        options.size = seed % 3 ? 0 : 80000 + seed * 7919 % 600000;
        record_all(seed, &options);
        for (int i = 0; i < SINKS; i++) {
            if (!results[i].whole || results[i].bytes != results[0].bytes ||
                memcmp(results[i].data, results[0].data, results[0].bytes) != 0) {
                fail_msg("sink %d: SEED=%llu", i, (unsigned long long)seed);
            }
            assert_int_equal(results[i].buffers, results[0].buffers);
        }
        assert_true(options.size == 0 || results[0].bytes <= options.size);
        account_check(&results[0], seed);
        together += results[TO_DISK].at_once > 1;
        cut += options.size != 0 && results[0].bytes + 40000 > options.size;
    }
    printf("%u with records of several buffers, %u cut by -S\n", together, cut);
    assert_true(getenv("SEED") || (together > 0 && cut > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),
                                       cmocka_unit_test(test_every_size),
                                       cmocka_unit_test(test_refused_buffers)};

    results = mmap(NULL, (SINKS + 1) * sizeof(*results), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return results == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
