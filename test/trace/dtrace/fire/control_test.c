/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's control call: what each command says, whose consumers are whose, what is refused; and calls
 * at random, whose answers must keep to their room and whose consumers must all be gone at the end.
 * SEED=n repeats a run.
 */
#include "test/trace/dtrace/fire/target.h"
#include "test/tool/random.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/control.h"

#include <string.h>

enum { EPERM_ = 1, ENOENT_ = 2, ESRCH_ = 3, EBADF_ = 9, EAGAIN_ = 11, EINVAL_ = 22 };
enum { ESHUTDOWN_ = 110, EMSGSIZE_ = 122, ROOM = 1 << 16, GUARD = 64 };

static const char *const alice = "alice", *const bob = "bob";
static struct kymo_d_call call;
static _Alignas(8) uint8_t out[ROOM + GUARD];

/* What a recount finds is what was charged. */
static void check_accounts(void)
{
    const char *const owners[] = {alice, bob};

    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = 0;

        assert_int_equal(dtrace_control_paid_by(owners[i], &bytes),
                         target_account(owners[i])->consumers);
        assert_int_equal(bytes, target_account(owners[i])->bytes);
    }
}

/* Calls, with so much room; nothing after what is answered may have changed. */
static int control(const void *owner, const void *in, uint32_t in_bytes, uint32_t room)
{
    memset(out, 0xa5, sizeof(out));
    call.in_bytes = in_bytes;
    call.out_bytes = room;
    int result = dtrace_control(owner, DTRACE_MAY_ALL, &call, in, out);
    check_accounts();
    assert_int_equal(result, call.result);
    assert_true(result <= 0);
    assert_true(call.out_bytes <= room);
    for (uint32_t i = room; i < room + GUARD; i++) {
        assert_int_equal(out[i], 0xa5);
    }
    return result;
}

static int simple(const void *owner, uint32_t command, uint32_t handle, uint32_t cpu, uint32_t id)
{
    call = (struct kymo_d_call){.command = command, .handle = handle, .cpu = cpu, .id = id};
    return control(owner, NULL, 0, ROOM);
}

/* p0 { trace(arg0); @ = count(); } */
static const struct dtrace_image *program(void)
{
    image_begin(&target.b);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    action(DTRACE_AGG_COUNT, NULL);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 4096);
    return image_end(&target.b);
}

static uint32_t create(const void *owner)
{
    const struct dtrace_image *image = program();

    call = (struct kymo_d_call){.command = KYMO_D_CREATE};
    assert_int_equal(control(owner, image, image->size, ROOM), 0);
    assert_int_equal(call.out_bytes, sizeof(struct kymo_d_created));
    assert_int_not_equal(call.handle, 0);
    return call.handle;
}

static unsigned consumers(void) /* of all owners */
{
    unsigned n = 0;

    for (const struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        n++;
    }
    return n;
}

static int control_open(void **state)
{
    int error = target_open(state);

    assert_int_equal(consumers(), 0);
    return error;
}

static int control_close(void **state)
{
    (void)state;
    dtrace_control_end(alice);
    dtrace_control_end(bob);
    assert_int_equal(consumers(), 0);
    return 0;
}

static void test_life(void **state)
{
    struct kymo_d_created made;
    struct dtrace_status s;
    struct dtrace_snap snap;
    struct dtrace_epid_desc epid;
    struct dtrace_agg_desc agg;

    (void)state;
    uint32_t h = create(alice);
    memcpy(&made, out, sizeof(made));
    assert_int_equal(made.bufsize, 4096);
    assert_int_equal(made.matched, 1);
    assert_int_equal(simple(alice, KYMO_D_STATUS, h, 0, 0), 0);
    memcpy(&s, out, sizeof(s));
    assert_int_equal(s.state, DTRACE_STATE_INACTIVE);
    assert_int_equal(simple(alice, KYMO_D_GO, h, 0, 0), 0);
    assert_int_equal(simple(alice, KYMO_D_GO, h, 0, 0), -EINVAL_); /* once */
    fire(0, 42);
    assert_int_equal(simple(alice, KYMO_D_OVER, h, 0, 0), 0);
    assert_int_equal(call.id, 0);
    assert_int_equal(simple(alice, KYMO_D_BUFFER, h, 0, 0), 0);
    memcpy(&snap, out, sizeof(snap));
    assert_int_equal(call.out_bytes, sizeof(snap) + snap.size);
    assert_int_equal(snap.size, 24);
    assert_int_equal(out[sizeof(snap) + 16], 42);
    assert_int_equal(simple(alice, KYMO_D_AGGREGATION, h, 0, 0), 0);
    memcpy(&snap, out, sizeof(snap));
    assert_int_equal(snap.size, 24);
    assert_int_equal(simple(alice, KYMO_D_EPID, h, 0, 1), 0);
    memcpy(&epid, out, sizeof(epid));
    assert_int_equal(epid.probe, target.probe[0]);
    assert_int_equal(call.out_bytes, 24 + 32 * epid.nrecs);
    assert_int_equal(simple(alice, KYMO_D_AGG, h, 0, 1), 0);
    memcpy(&agg, out, sizeof(agg));
    assert_int_equal(agg.nrecs, 1);
    assert_int_equal(simple(alice, KYMO_D_STOP, h, 0, 0), 0);
    assert_int_equal(simple(alice, KYMO_D_GO, h, 0, 0), -EINVAL_);
    assert_int_equal(simple(alice, KYMO_D_DESTROY, h, 0, 0), 0);
    assert_int_equal(simple(alice, KYMO_D_DESTROY, h, 0, 0), -EBADF_);
    assert_int_not_equal(create(alice), h);
}

static void test_refusals(void **state)
{
    uint32_t h = create(alice);
    struct dtrace_refusal why;

    (void)state;
    assert_int_equal(simple(alice, 0, 0, 0, 0), -EINVAL_);
    assert_int_equal(simple(alice, KYMO_D_LIMIT + 1, 0, 0, 0), -EINVAL_);
    assert_int_equal(simple(alice, UINT32_MAX, 0, 0, 0), -EINVAL_);
    assert_int_equal(simple(bob, KYMO_D_STATUS, h, 0, 0), -EBADF_);
    assert_int_equal(simple(alice, KYMO_D_STATUS, h + 1, 0, 0), -EBADF_);
    assert_int_equal(simple(alice, KYMO_D_STATUS, 0, 0, 0), -EBADF_);
    assert_int_equal(simple(alice, KYMO_D_STATUS, h, 1, 0), -EINVAL_);
    assert_int_equal(simple(alice, KYMO_D_BUFFER, h, FAKE_CPUS, 0), -EINVAL_);
    assert_int_equal(simple(alice, KYMO_D_EPID, h, 0, 0), -ENOENT_);
    assert_int_equal(simple(alice, KYMO_D_EPID, h, 0, 3), -ENOENT_);
    assert_int_equal(simple(alice, KYMO_D_AGG, h, 0, 2), -ENOENT_);
    assert_int_equal(simple(alice, KYMO_D_RESUME, 0, 0, 5), -ESRCH_);
    assert_int_equal(simple(alice, KYMO_D_RESUME, 0, 0, 77), 0);
    assert_int_equal(simple(alice, KYMO_D_INFO, 0, 0, 0), 0);
    assert_int_equal(call.id, 'a'); /* who asks: target.c's pids */
    assert_int_equal(simple(bob, KYMO_D_INFO, 0, 0, 0), 0);
    assert_int_equal(call.id, 'b');
    assert_int_equal(simple(alice, KYMO_D_PROCESS, 0, 0, 5), -ESRCH_);
    assert_int_equal(simple(alice, KYMO_D_PROCESS, 0, 0, 77), 0);
    assert_int_equal(call.out_bytes, sizeof(struct kymo_d_process));
    assert_int_equal(simple(alice, KYMO_D_CLAIM, 0, 0, 0), -ENOENT_);
    call = (struct kymo_d_call){.command = KYMO_D_STATUS, .handle = h};
    assert_int_equal(control(alice, out, 8, ROOM), -EMSGSIZE_);
    call = (struct kymo_d_call){.command = KYMO_D_STATUS, .handle = h};
    assert_int_equal(control(alice, NULL, 0, sizeof(struct dtrace_status) - 1), -EMSGSIZE_);
    call = (struct kymo_d_call){.command = KYMO_D_BUFFER, .handle = h};
    assert_int_equal(control(alice, NULL, 0, 4096), -EINVAL_); /* the head has no room beside it */
    call = (struct kymo_d_call){.command = KYMO_D_EPID, .handle = h, .id = 1};
    assert_int_equal(control(alice, NULL, 0, 24), -EMSGSIZE_);
    call = (struct kymo_d_call){.command = KYMO_D_CREATE, .flags = 4};
    assert_int_equal(control(alice, target.b.bytes, (uint32_t)target.b.size, ROOM), -EINVAL_);
    call = (struct kymo_d_call){.command = KYMO_D_CREATE};
    assert_int_equal(control(alice, target.b.bytes, 8, ROOM), -EINVAL_);
    assert_int_equal(call.out_bytes, sizeof(why));
    memcpy(&why, out, sizeof(why));
    assert_int_equal(why.error, -EINVAL_);
    assert_true(why.reason != DTRACE_REASON_NONE);
    assert_int_equal(consumers(), 1);
}

static void test_too_many(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        create(i % 2 ? alice : bob);
    }
    const struct dtrace_image *image = program();
    call = (struct kymo_d_call){.command = KYMO_D_CREATE};
    assert_int_equal(control(alice, image, image->size, ROOM), -EAGAIN_);
    assert_int_equal(call.out_bytes, sizeof(struct dtrace_refusal));
    assert_int_equal(((const struct dtrace_refusal *)(const void *)out)->reason,
                     DTRACE_REASON_CONSUMERS);
    dtrace_control_end(bob);
    assert_int_equal(consumers(), DTRACE_CONTROL_CONSUMERS / 2);
    create(alice);
}

/* Batches of any room, one after the other, are all probes once. */
static void test_probes(void **state)
{
    struct dtrace_probe_names names;

    (void)state;
    for (uint32_t room = sizeof(struct kymo_d_probe); room < 400; room += 5) {
        uint32_t id = 0, seen = 0;
        for (;;) {
            call = (struct kymo_d_call){.command = KYMO_D_PROBES, .id = id};
            int error = control(alice, NULL, 0, room);
            if (error == -EMSGSIZE_ && room < 100) {
                break;
            }
            if (error) {
                assert_int_equal(error, -ENOENT_);
                assert_int_equal(seen, target.probe[PROBES - 1]);
                break;
            }
            for (uint32_t at = 0; at < call.out_bytes;) {
                struct kymo_d_probe p;
                memcpy(&p, out + at, sizeof(p));
                assert_true(p.size % 8 == 0 && at + p.size <= call.out_bytes);
                assert_true(dtrace_probe_next(id, &names) && names.id == p.id);
                assert_string_equal((char *)out + at + sizeof(p), names.provider->name);
                id = p.id;
                seen++;
                at += p.size;
            }
            assert_int_equal(id, call.id);
        }
    }
}

/* With a description only what matches it. */
static void test_probes_matching(void **state)
{
    _Alignas(8) static const char in[] = "test\0m\0\0p[13]";

    (void)state;
    call = (struct kymo_d_call){.command = KYMO_D_PROBES};
    assert_int_equal(control(alice, in, sizeof(in), ROOM), 0);
    uint32_t at = 0;
    for (unsigned i = 1; i <= 3; i += 2) {
        struct kymo_d_probe p;
        memcpy(&p, out + at, sizeof(p));
        assert_int_equal(p.id, target.probe[i]);
        at += p.size;
    }
    assert_int_equal(call.out_bytes, at);
    assert_int_equal(call.id, target.probe[PROBES - 1]);
    call = (struct kymo_d_call){.command = KYMO_D_PROBES, .id = target.probe[3]};
    assert_int_equal(control(alice, in, sizeof(in), ROOM), -ENOENT_);
    call = (struct kymo_d_call){.command = KYMO_D_PROBES};
    assert_int_equal(control(alice, in, 8, ROOM), -EINVAL_);
}

static void test_provide(void **state)
{
    static const struct {
        uint32_t bytes;
        int result;
        char text[24];
    } rows[] = {
        {12, 0, "test\0m\0f\0p9"},        {4, 0, "\0\0\0"},
        {3, -EINVAL_, "\0\0\0"},          {5, -EINVAL_, "\0\0\0\0"},
        {11, -EINVAL_, "test\0m\0f\0p9"}, {0, -EMSGSIZE_, ""},
    };
    static char big[DTRACE_CONTROL_NAMES_MAX + 8];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _Alignas(8) char in[24];
        memcpy(in, rows[i].text, sizeof(in));
        call = (struct kymo_d_call){.command = KYMO_D_PROVIDE};
        assert_int_equal(control(alice, in, rows[i].bytes, 0), rows[i].result);
    }
    call = (struct kymo_d_call){.command = KYMO_D_PROVIDE};
    assert_int_equal(control(alice, big, sizeof(big), 0), -EINVAL_);
}

/* Silent for too long: everything but the answer is gone, and the handle stays until DESTROY. */
static void test_killed(void **state)
{
    uint32_t h = create(alice);

    (void)state;
    assert_int_equal(simple(alice, KYMO_D_GO, h, 0, 0), 0);
    fake.now += 11000000000;
    dtrace_machine_clean();
    for (uint32_t command = KYMO_D_GO; command <= KYMO_D_AGG; command++) {
        int wanted = command == KYMO_D_OVER ? 0 : -ESHUTDOWN_;
        assert_int_equal(simple(alice, command, h, 0, command >= KYMO_D_EPID), wanted);
    }
    assert_int_equal(simple(alice, KYMO_D_OVER, h, 0, 0), 0);
    assert_int_equal(call.id, 1);
    assert_int_equal(simple(alice, KYMO_D_DESTROY, h, 0, 0), 0);
}

/* The boot's consumer: nobody's until it is claimed, once; silence doesn't end it before. */
static void test_claim(void **state)
{
    struct dtrace_refusal why;
    static _Alignas(8) uint8_t image[IMAGE_ROOM];

    (void)state;
    program();
    memcpy(image, target.b.bytes, target.b.size);
    target.b.size += 8; /* what is behind the image is nobody's business */
    assert_int_equal(dtrace_control_boot(image, target.b.size, &why), 0);
    fire(0, 9);
    fake.now += 11000000000;
    dtrace_machine_clean();
    call = (struct kymo_d_call){.command = KYMO_D_LOOK};
    assert_int_equal(control(alice, NULL, 0, (uint32_t)target.b.size - 1), -EMSGSIZE_);
    for (unsigned i = 0; i < 3; i++) { /* who looks takes nothing */
        assert_int_equal(simple(i % 2 ? bob : alice, KYMO_D_LOOK, 0, 0, 0), 0);
        assert_int_equal(call.out_bytes, target.b.size);
        assert_memory_equal(out, image, target.b.size);
        assert_int_equal(call.handle, 0);
    }
    assert_int_equal(simple(alice, KYMO_D_CLAIM, 0, 0, 0), 0);
    assert_int_equal(call.id, 1);
    assert_int_equal(call.out_bytes, 0);
    uint32_t h = call.handle;
    assert_int_equal(simple(alice, KYMO_D_SIZES, h, 0, 0), 0);
    struct kymo_d_created sizes;
    memcpy(&sizes, out, sizeof(sizes));
    assert_int_equal(sizes.bufsize, 4096);
    assert_int_equal(sizes.matched, 1);
    assert_int_equal(simple(bob, KYMO_D_LOOK, 0, 0, 0), -ENOENT_);
    assert_int_equal(simple(bob, KYMO_D_CLAIM, 0, 0, 0), -ENOENT_);
    assert_int_equal(simple(alice, KYMO_D_BUFFER, h, 0, 0), 0);
    assert_int_equal(call.out_bytes, sizeof(struct dtrace_snap) + 24);
    fake.now += 11000000000;
    dtrace_machine_clean();
    assert_int_equal(simple(alice, KYMO_D_STATUS, h, 0, 0), -ESHUTDOWN_);
}

/* Mostly well-formed calls of two owners, with a field or a size spoilt now and then. */
static void one_at_random(uint32_t *handles)
{
    static const uint8_t uses[] = {0, 0, 2, 0, 0, 1, 1, 1, 1, 5, 5, 3, 3, 2, 1, 0, 1, 2};
    uint32_t command = random_below(40) ? 1 + random_below(17) : random_below(UINT32_MAX);
    uint32_t known = command < sizeof(uses) ? uses[command] : 7, n = random_below(8);
    const void *owner = n % 2 ? alice : bob, *in = NULL;
    uint32_t in_bytes = 0, room = random_below(4) ? ROOM : random_below(ROOM);

    call = (struct kymo_d_call){
        .command = command,
        .handle = known & 1 ? handles[n] : 0,
        .id = known & 2 ? random_below(6) : 0,
        .cpu = known & 4 ? random_below(3) : 0,
    };
    if (command == KYMO_D_CREATE || command == KYMO_D_PROVIDE) {
        in = program();
        in_bytes = ((const struct dtrace_image *)in)->size;
        if (random_below(3) == 0) {
            ((uint8_t *)target.b.bytes)[random_below(in_bytes)] ^= 1u << random_below(8);
        }
    }
    if (random_below(20) == 0) {
        ((uint32_t *)&call)[random_below(5)] = random_below(UINT32_MAX);
    }
    int result = control(owner, in, in_bytes, room);
    if (command == KYMO_D_CREATE && result == 0) {
        handles[n] = call.handle;
    }
    assert_true(call.out_bytes == 0 || result == 0 || command == KYMO_D_CREATE);
}

static void test_random(void **state)
{
    uint32_t handles[8] = {0};

    (void)state;
    random_start();
    size_t before = fake.allocated;
    fake.alloc_limit = before + (16 << 20);
    for (unsigned i = 0; i < 20000; i++) {
        one_at_random(handles);
        fire(random_below(PROBES), i);
        if (random_below(500) == 0) {
            fake.now += 6000000000;
            dtrace_machine_clean();
        }
        if (random_below(300) == 0) {
            dtrace_control_end(random_below(2) ? alice : bob);
        }
        assert_true(consumers() <= DTRACE_CONTROL_CONSUMERS);
        check_accounts();
    }
    dtrace_control_end(alice);
    dtrace_control_end(bob);
    assert_int_equal(fake.allocated, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_life, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_refusals, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_too_many, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_probes, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_probes_matching, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_provide, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_killed, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_claim, control_open, control_close),
        cmocka_unit_test_setup_teardown(test_random, control_open, control_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
