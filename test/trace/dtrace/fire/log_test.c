/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer whose records go to the event log: whole, numbered, in order; what finds no room is a
 * number that is missing; passes say what a live reader would have taken.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/log.h"

#include <string.h>

static const char *const owner = "owner";
static struct kymo_d_call call;
static _Alignas(8) uint8_t out[1 << 16];

static int control(uint32_t command, uint32_t handle, uint32_t id, uint32_t flags, const void *in,
                   uint32_t in_bytes)
{
    call = (struct kymo_d_call){.command = command,
                                .handle = handle,
                                .id = id,
                                .flags = flags,
                                .in_bytes = in_bytes,
                                .out_bytes = sizeof(out)};
    return dtrace_control(owner, DTRACE_MAY_ALL, &call, in, out);
}

/* p0 { trace(arg0); @ = count(); }, p1 { } */
static uint32_t create(void)
{
    image_begin(&target.b);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    action(DTRACE_AGG_COUNT, NULL);
    clause(target.probe[1], NULL);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 4096);
    const struct dtrace_image *image = image_end(&target.b);

    assert_int_equal(control(KYMO_D_CREATE, 0, 0, DTRACE_CREATE_LOG, image, image->size), 0);
    return call.handle;
}

/* The event, which must be of this kind. */
static const struct fake_log *logged(unsigned i, unsigned number)
{
    assert_in_range(i, 0, fake.nlog - 1);
    assert_int_equal(fake.log[i].number, number);
    return &fake.log[i];
}

static void test_records(void **state)
{
    uint32_t h = create();

    (void)state;
    fake.logging = true;
    assert_int_equal(control(KYMO_D_GO, h, 0, 0, NULL, 0), 0);
    fire(0, 5);
    fake.cpu = 1;
    fire(1, 0);
    fake.cpu = 0;
    fake.logging = false; /* no room: this one is lost */
    fire(0, 6);
    fake.logging = true;
    fire(0, 7);
    assert_int_equal(fake.nlog, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct fake_log *e = logged(i, DTRACE_LOG_RECORD);
        assert_int_equal(e->words[0], h);
        assert_int_equal(e->words[1], i == 2 ? 2 : 0);
        assert_int_equal(e->cpu, i == 1);
        assert_int_equal(e->size, i == 1 ? 12 : 24);
        assert_int_equal(e->bytes[0], i == 1 ? 2 : 1); /* EPID */
        assert_int_equal(i == 1 ? 0 : e->bytes[16], i == 1 ? 0 : i == 0 ? 5 : 7);
    }
    assert_int_equal(control(KYMO_D_BUFFER, h, 0, 0, NULL, 0), 0);
    assert_int_equal(((struct dtrace_snap *)(void *)out)->size,
                     0); /* nothing is left for the link */
    control(KYMO_D_DESTROY, h, 0, 0, NULL, 0);
}

static void test_pass(void **state)
{
    uint32_t h = create();
    struct dtrace_snap snap;

    (void)state;
    assert_int_equal(control(KYMO_D_PASS, h, 1, 0, NULL, 0), -140); /* no log runs */
    fake.logging = true;
    assert_int_equal(control(KYMO_D_GO, h, 0, 0, NULL, 0), 0);
    fire(0, 5);
    fire(0, 6);
    fake.log_kept = FAKE_LOG - 1;
    assert_int_equal(control(KYMO_D_PASS, h, 8, 0, NULL, 0), -11); /* no room: nothing is taken */
    assert_int_equal(fake.nlog, 2);
    fake.log_kept = 0;
    assert_int_equal(control(KYMO_D_PASS, h, 9, DTRACE_LOG_LAST, NULL, 0), 0);
    assert_int_equal(call.out_bytes, sizeof(struct dtrace_status));
    assert_int_equal(fake.nlog, 8);
    assert_int_equal(logged(2, DTRACE_LOG_STATUS)->words[1], 9);
    assert_int_equal(fake.log[2].words[2], DTRACE_LOG_LAST);
    assert_int_equal(fake.log[2].size, sizeof(struct dtrace_status));
    assert_int_equal(logged(3, DTRACE_LOG_ENTRY)->words[2], 0); /* CPU 0, its first entry */
    assert_int_equal(fake.log[3].words[3], 0);
    assert_int_equal(fake.log[3].bytes[16], 2); /* the count */
    assert_int_equal(logged(4, DTRACE_LOG_ENTRIES)->words[3], 1);
    assert_int_equal(logged(5, DTRACE_LOG_ENTRIES)->words[3], 0);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        const struct fake_log *e = logged(6 + cpu, DTRACE_LOG_TAKEN);
        assert_int_equal(e->cpu, cpu);
        assert_int_equal(e->words[1], 9);
        assert_int_equal(e->words[2], cpu ? 0 : 2);
        memcpy(&snap, e->bytes, sizeof(snap));
        assert_int_equal(snap.drops, 0);
        assert_in_range(snap.taken, 1, fake.now);
    }
    control(KYMO_D_DESTROY, h, 0, 0, NULL, 0);
}

/* Notes: logged as far as there is room, and gone on with; dumped in pieces for a log that ends. */
static void test_notes(void **state)
{
    static _Alignas(8) uint8_t notes[5000];
    uint32_t h = create(), parts = (sizeof(notes) - 1) / DTRACE_LOG_NOTES_PART + 1;

    (void)state;
    for (unsigned i = 0; i < sizeof(notes); i++) {
        notes[i] = (uint8_t)(i * 7);
    }
    assert_int_equal(control(KYMO_D_NOTES, h, 0, 0, notes, sizeof(notes)), -140);
    fake.logging = true;
    fake.nlog = FAKE_LOG - 3;
    assert_int_equal(control(KYMO_D_NOTES, h, 0, 0, notes, sizeof(notes)), 0);
    assert_int_equal(call.id, 3 * DTRACE_LOG_NOTES_PART);
    fake.nlog = 0;
    assert_int_equal(control(KYMO_D_NOTES, h, call.id, 0, NULL, 0), 0);
    assert_int_equal(call.id, sizeof(notes));
    assert_int_equal(fake.nlog, parts - 3);
    fake.nlog = 0;
    unsigned part = 0;
    while (dtrace_log_dump(part)) {
        part++;
    }
    assert_int_equal(part, (parts + 3) / 4);
    assert_int_equal(fake.nlog, parts);
    for (unsigned i = 0; i < parts; i++) {
        const struct fake_log *e = logged(i, DTRACE_LOG_NOTES);
        assert_int_equal(e->words[1], sizeof(notes));
        assert_int_equal(e->words[2], i * DTRACE_LOG_NOTES_PART);
        assert_memory_equal(e->bytes, notes + e->words[2], e->size);
    }
    control(KYMO_D_DESTROY, h, 0, 0, NULL, 0);
    assert_false(dtrace_log_dump(0));
}

static void test_refusals(void **state)
{
    uint32_t h;

    (void)state;
    h = create();
    fake.logging = true;
    static _Alignas(8) uint8_t notes[DTRACE_LOG_NOTES_MAX + 8];
    assert_int_equal(control(KYMO_D_NOTES, h, 0, 0, notes, sizeof(notes)), -122);
    assert_int_equal(control(KYMO_D_PASS, h, 0, 8, NULL, 0), -22);
    assert_int_equal(control(KYMO_D_NOTES, h, UINT32_MAX, 0, NULL, 0), 0);
    assert_int_equal(call.id, UINT32_MAX);
    assert_int_equal(fake.nlog, 0);
    control(KYMO_D_DESTROY, h, 0, 0, NULL, 0);
}

/* p0 { tracemem(…, bytes); } or p0 { @[a string of so many bytes] = quantize(1); } */
static int create_of(uint32_t bytes, bool aggregates, uint32_t flags)
{
    image_begin(&target.b);
    clause(target.probe[0], NULL);
    if (aggregates) {
        action(DTRACE_ACT_DIFEXPR, "result string; ldgs execname r1; ret r1");
        action(DTRACE_AGG_QUANTIZE, "setx 1 r1; ret r1")->nkeys = 1;
    } else {
        action(DTRACE_ACT_TRACEMEM, "ldgs arg0 r1; ret r1")->arg = bytes;
    }
    image_option(&target.b, DTRACE_OPT_STRSIZE, aggregates ? bytes : 256);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 32768);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 32768);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 4096);
    const struct dtrace_image *image = image_end(&target.b);
    int error = control(KYMO_D_CREATE, 0, 0, flags, image, image->size);
    const struct dtrace_refusal *refusal = (const struct dtrace_refusal *)out;
    assert_int_equal(error ? refusal->reason : DTRACE_REASON_LOG_EVENT, DTRACE_REASON_LOG_EVENT);
    if (!error) {
        control(KYMO_D_DESTROY, call.handle, 0, 0, NULL, 0);
    }
    return error;
}

/* The port logs an event of at most TRACE_EVENT_SLOTS_MOST slots of 8 bytes. */
static void test_too_large(void **state)
{
    const uint32_t most = 8 * TRACE_EVENT_SLOTS_MOST;
    const uint32_t record = 2 * 4 + sizeof(struct dtrace_record);
    const uint32_t entry = 4 * 4 + sizeof(struct dtrace_agg_entry) + 127 * 8;

    (void)state;
    for (uint32_t more = 0; more < 128; more += 8) {
        uint32_t bytes = most - record - 64 + more;
        assert_int_equal(create_of(bytes, false, DTRACE_CREATE_LOG), more <= 64 ? 0 : -7);
        assert_int_equal(create_of(bytes, false, 0), 0);
        bytes = most - entry - 64 + more;
        assert_int_equal(create_of(bytes, true, DTRACE_CREATE_LOG), more <= 64 ? 0 : -7);
        assert_int_equal(create_of(bytes, true, 0), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records, target_open, target_close),
        cmocka_unit_test_setup_teardown(test_pass, target_open, target_close),
        cmocka_unit_test_setup_teardown(test_notes, target_open, target_close),
        cmocka_unit_test_setup_teardown(test_refusals, target_open, target_close),
        cmocka_unit_test_setup_teardown(test_too_large, target_open, target_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
