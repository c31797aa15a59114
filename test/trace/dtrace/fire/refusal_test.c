/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a consumer is refused for beyond the rules of its image: each reason by a program that has
 * no other fault, and the one next to it that is not refused.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/machine.h"

#include <stdlib.h>
#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";
static const char one[] = "result value 4; setx 1 r1; ret r1";

/* The program as it is; DTRACE_REASON_NONE: it is made. The next program begins. */
static void wants(enum dtrace_reason reason)
{
    const struct dtrace_image *image = image_end(&target.b);
    int error = dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal);

    if ((error ? target.refusal.reason : DTRACE_REASON_NONE) != reason) {
        fail_msg("wanted %u, got %d: %s", reason, error,
                 error ? dtrace_refusal_text(&target.refusal) : "made");
    }
    if (error) {
        assert_int_equal(error, target.refusal.error);
        target.consumer = NULL;
    }
    target_close(NULL);
    target_open(NULL);
}

static void recording(uint64_t bufsize)
{
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, bufsize);
}

/* A target that knows no stopped processes says so, instead of doing nothing. */
static void test_stop(void **state)
{
    (void)state;
    for (unsigned can = 0; can < 2; can++) {
        clause(target.probe[0], NULL);
        action(DTRACE_ACT_STOP, NULL);
        image_option(&target.b, DTRACE_OPT_DESTRUCTIVE, 1);
        fake.cannot_stop = !can;
        wants(can ? DTRACE_REASON_NONE : DTRACE_REASON_STOP);
    }
}

/* A refusal leaves no counter in use. */
static void test_counters(void **state)
{
    static const struct {
        unsigned which;
        int error;
        enum dtrace_reason reason;
    } table[] = {{DTRACE_PORT_CYCLES, -95, DTRACE_REASON_NO_CYCLES},
                 {DTRACE_PORT_INSTRUCTIONS, -95, DTRACE_REASON_NO_INSTRUCTIONS},
                 {DTRACE_PORT_INSTRUCTIONS, -DTRACE_EBUSY, DTRACE_REASON_COUNTERS_USED},
                 {DTRACE_PORT_CYCLES, -DTRACE_ENOMEM, DTRACE_REASON_NO_SPACE}};

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        clause(target.probe[0], NULL);
        action(DTRACE_ACT_DIFEXPR, "ldgs cycles r1; ldgs instructions r2; ret r1");
        fake.no_counter[table[i].which] = table[i].error;
        image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
        const struct dtrace_image *image = image_end(&target.b);
        int error =
            dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal);
        assert_int_equal(error, target.refusal.error);
        assert_int_equal(target.refusal.reason, table[i].reason);
        assert_int_equal(fake.counted[0] + fake.counted[1], 0);
        target.consumer = NULL;
        target_close(NULL);
        target_open(NULL);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    recording(0);
    wants(DTRACE_REASON_NO_BUFFER);
    recording(7);
    wants(DTRACE_REASON_NO_BUFFER);
    recording(8); /* a record more than that is a drop */
    wants(DTRACE_REASON_NONE);
    for (unsigned manual = 0; manual < 2; manual++) {
        recording((uint64_t)1 << 40);
        fake.alloc_limit = 1 << 20;
        image_option(&target.b, DTRACE_OPT_BUFRESIZE,
                     manual ? DTRACE_RESIZE_MANUAL : DTRACE_RESIZE_AUTO);
        wants(manual ? DTRACE_REASON_NO_SPACE : DTRACE_REASON_NONE);
    }
    recording(4096);
    image_option(&target.b, DTRACE_OPT_CPU, FAKE_CPUS);
    wants(DTRACE_REASON_NO_CPU);
    recording(4096);
    image_option(&target.b, DTRACE_OPT_CPU, FAKE_CPUS - 1);
    wants(DTRACE_REASON_NONE);
}

/* fill keeps room for END's records: header, value, and the worst of their alignment. */
static void test_end_reserve(void **state)
{
    (void)state;
    for (uint64_t size = 8; size < 64; size += 8) {
        for (unsigned policy = DTRACE_POLICY_SWITCH; policy <= DTRACE_POLICY_RING; policy++) {
            clause(END_, NULL);
            action(DTRACE_ACT_DIFEXPR, value);
            image_option(&target.b, DTRACE_OPT_BUFSIZE, size);
            image_option(&target.b, DTRACE_OPT_BUFPOLICY, policy);
            bool too_large = policy == DTRACE_POLICY_FILL && size < 24 + 4;
            wants(too_large ? DTRACE_REASON_END_RESERVE : DTRACE_REASON_NONE);
        }
    }
}

static void test_records(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 3; n++) {
        recording(4096);
        for (unsigned i = 0; i < n; i++) {
            action(DTRACE_ACT_TRACEMEM, value)->arg = 3u << 28;
        }
        wants(n == 1 ? DTRACE_REASON_NONE : DTRACE_REASON_RECORD_SIZE);
    }
}

static void test_speculations(void **state)
{
    static const uint16_t kinds[] = {DTRACE_ACT_SPECULATE, DTRACE_ACT_COMMIT};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool first = i % 2;
        clause(target.probe[0], NULL);
        image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
        image_option(&target.b, DTRACE_OPT_SPECSIZE, 4096);
        if (first) {
            action(DTRACE_ACT_DIFEXPR, value);
        }
        action(kinds[i / 2], one);
        if (!first) {
            action(DTRACE_ACT_DIFEXPR, value);
        }
        wants(i / 2   ? DTRACE_REASON_COMMIT_DATA
              : first ? DTRACE_REASON_LATE_SPECULATE
                      : DTRACE_REASON_NONE);
    }
}

static void test_probes(void **state)
{
    (void)state;
    recording(4096);
    target.b.ecbs[0].probe = 60000;
    wants(DTRACE_REASON_NO_PROBE);
}

enum { HEAD = sizeof(struct dtrace_image) };

/* So many actions that one probe's would do, but the clause is on all. */
static void test_actions(void **state)
{
    struct dtrace_probe_names p = {0};
    uint32_t probes = 0;

    (void)state;
    while (dtrace_probe_next(p.id, &p)) {
        probes++;
    }
    for (uint32_t n = DTRACE_ACTIONS_MAX / probes; n <= DTRACE_ACTIONS_MAX / probes + 1; n++) {
        size_t size = sizeof(struct dtrace_image) + sizeof(struct dtrace_image_ecb) +
                      n * sizeof(struct dtrace_image_action) + 8;
        struct dtrace_image *image = calloc(1, size);
        *image = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                                       .version = DTRACE_IMAGE_VERSION,
                                       .pointer_bytes = sizeof(void *),
                                       .dif_version = DIF_VERSION,
                                       .size = (uint32_t)size,
                                       .options = {HEAD, 0},
                                       .ecbs = {HEAD, 1},
                                       .actions = {HEAD + sizeof(struct dtrace_image_ecb), n},
                                       .objects = {HEAD, 0},
                                       .variables = {HEAD, 0},
                                       .text = {HEAD, 0},
                                       .ints = {HEAD, 0},
                                       .strings = {(uint32_t)size - 8, 1}};
        ((struct dtrace_image_ecb *)(image + 1))->nactions = n;
        int error = dtrace_consumer_create(image, size, 0, &target.consumer, &target.refusal);
        assert_int_equal(error != 0, n > DTRACE_ACTIONS_MAX / probes);
        if (error) {
            assert_int_equal(target.refusal.reason, DTRACE_REASON_ENABLING_ACTIONS);
            target.consumer = NULL;
        } else {
            dtrace_consumer_destroy(target.consumer);
            target.consumer = NULL;
        }
        free(image);
    }
}

/* One description is much longer than all names together: it is looked at again for each. */
static void test_matching(void **state)
{
    enum { LETTERS = 7 << 20 };
    size_t size = sizeof(struct dtrace_image) + sizeof(struct dtrace_image_ecb) + LETTERS + 8;
    struct dtrace_image *image = calloc(1, size);

    (void)state;
    *image = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                                   .version = DTRACE_IMAGE_VERSION,
                                   .pointer_bytes = sizeof(void *),
                                   .dif_version = DIF_VERSION,
                                   .size = (uint32_t)size,
                                   .options = {HEAD, 0},
                                   .ecbs = {HEAD, 1},
                                   .actions = {HEAD, 0},
                                   .objects = {HEAD, 0},
                                   .variables = {HEAD, 0},
                                   .text = {HEAD, 0},
                                   .ints = {HEAD, 0},
                                   .strings = {HEAD + sizeof(struct dtrace_image_ecb), LETTERS}};
    char *set = (char *)image + HEAD +
                sizeof(struct dtrace_image_ecb); /* [aaa…]: no name has such a letter */
    ((struct dtrace_image_ecb *)(image + 1))->name = 1;
    memset(set + 1, '~', LETTERS - 2);
    set[1] = '[';
    set[LETTERS - 2] = ']';
    assert_int_equal(dtrace_consumer_create(image, size, 0, &target.consumer, &target.refusal) < 0,
                     1);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_MATCHING);
    target.consumer = NULL;
    free(image);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_sizes),       T(test_counters), T(test_stop),
        T(test_end_reserve), T(test_records),  T(test_speculations),
        T(test_probes),      T(test_actions),  T(test_matching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
