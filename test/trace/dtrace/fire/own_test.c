/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consumers with less than all rights: what is refused for want of which right, where the clauses
 * of one fire that may observe only its own processes, and what these learn. The fake's current
 * process is 42, a child of 41.
 */
#define _GNU_SOURCE /* memmem() */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/control.h"

#include <stdio.h>
#include <string.h>

enum { CURRENT = 42, PARENT = 41, OTHER = 40, EPERM_ = 1, SECRET = 0x5ec7e7 };

static const struct dtrace_provider_ops owned_ops = {.own = DTRACE_OWN_CURRENT};
static const struct dtrace_provider_ops ticking_ops = {.own = DTRACE_OWN_CURRENT | DTRACE_OWN_TICK};
static const struct dtrace_provider owned = {"owned", &owned_ops};
static const struct dtrace_provider ticking = {"ticking", &ticking_ops};
static uint32_t call, tick, sample;
static const char value[] = "ldgs arg0 r1; ret r1";
static uint64_t kernel_word, user_word;

static int open_own(void **state)
{
    static bool made;

    target_close(state); /* of an earlier program of this test */
    target_open(state);
    if (!made) {
        dtrace_provider_register(&owned);
        dtrace_provider_register(&ticking);
    }
    made = true;
    call = dtrace_probe_create(&owned, "", "", "call", NULL);
    tick = dtrace_probe_create(&ticking, "", "", "tick-1s", NULL);
    sample = dtrace_probe_create(&ticking, "", "", "profile-97", NULL);
    kernel_word = user_word = SECRET;
    fake_map(&kernel_word, sizeof(kernel_word), true, false);
    fake_map(&user_word, sizeof(user_word), false, true);
    return 0;
}

static int close_own(void **state)
{
    target_close(state);
    target.consumer = NULL;
    return 0;
}

static int create(uint32_t rights, int32_t pid, unsigned flags)
{
    const struct dtrace_asker asker = {rights, pid};

    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_DESTRUCTIVE, 1);
    const struct dtrace_image *image = image_end(&target.b);
    int error = dtrace_consumer_create_for(&asker, image, target.b.size, flags, &target.consumer,
                                           &target.refusal);
    target.consumer = error ? NULL : target.consumer;
    return error;
}

/* The only clause is on this provider's probes: its name is a string constant of the program. */
static int create_on(const char *provider)
{
    static const struct dtrace_asker asker = {DTRACE_MAY_OWN, CURRENT};
    char text[64];

    snprintf(text, sizeof(text), "result string; sets \"%s\" r1; ret r1", provider);
    open_own(NULL);
    clause(0, NULL);
    action(DTRACE_ACT_DIFEXPR, text);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    struct dtrace_image *image = image_end(&target.b);
    const char *strings = (const char *)image + image->strings.offset;
    const char *at = memmem(strings, image->strings.count, provider, strlen(provider) + 1);
    assert_non_null(at);
    ((struct dtrace_image_ecb *)((char *)image + image->ecbs.offset))->provider =
        (uint32_t)(at - strings);
    int error = dtrace_consumer_create_for(&asker, image, target.b.size, 0, &target.consumer,
                                           &target.refusal);
    target.consumer = error ? NULL : target.consumer;
    return error;
}

static void go(int32_t pid)
{
    unsigned cpu;

    if (create(DTRACE_MAY_OWN | DTRACE_MAY_DESTROY, pid, 0) != 0) {
        fail_msg("refused: %s", dtrace_refusal_text(&target.refusal));
    }
    assert_int_equal(dtrace_consumer_go(target.consumer, &cpu), 0);
}

/* ---- what is refused --------------------------------------------------------------- */

/* One action more than nothing, and the rights without which it is refused. */
static const struct needy {
    uint16_t kind;
    const char *object;
    uint32_t needs;
    enum dtrace_reason reason;
} needy[] = {
    {DTRACE_ACT_STOP, NULL, DTRACE_MAY_DESTROY, DTRACE_REASON_NEEDS_DESTRUCTIVE},
    {DTRACE_ACT_RAISE, value, DTRACE_MAY_DESTROY, DTRACE_REASON_NEEDS_DESTRUCTIVE},
    {DTRACE_ACT_DIFEXPR,
     "setx 1 r1; pushtv r1; pushtv r1; pushtv r1; call copyout r1; flushts; ret r1",
     DTRACE_MAY_DESTROY, DTRACE_REASON_NEEDS_DESTRUCTIVE},
    {DTRACE_ACT_DIFEXPR,
     "setx 1 r1; pushtv r1; pushtv r1; pushtv r1; call copyoutstr r1; flushts; ret r1",
     DTRACE_MAY_DESTROY, DTRACE_REASON_NEEDS_DESTRUCTIVE},
    {DTRACE_ACT_BREAKPOINT, NULL, DTRACE_MAY_DESTROY | DTRACE_MAY_KERNEL, DTRACE_REASON_NEEDS_BOTH},
    {DTRACE_ACT_PANIC, NULL, DTRACE_MAY_DESTROY | DTRACE_MAY_KERNEL, DTRACE_REASON_NEEDS_BOTH},
    {DTRACE_ACT_CHILL, value, DTRACE_MAY_DESTROY | DTRACE_MAY_KERNEL, DTRACE_REASON_NEEDS_BOTH},
    {DTRACE_ACT_LOGSTOP, NULL, DTRACE_MAY_LOG, DTRACE_REASON_NEEDS_TRACE},
    {DTRACE_ACT_DIFEXPR, value, 0, DTRACE_REASON_NONE},
    {DTRACE_ACT_STACK, NULL, 0, DTRACE_REASON_NONE},
    {DTRACE_ACT_FREOPEN, value, 0, DTRACE_REASON_NONE}, /* the consumer does it, on its machine */
};

static void check_needy(const struct needy *n, uint32_t rights)
{
    bool may = (rights & n->needs) == n->needs;

    open_own(NULL);
    clause(call, NULL);
    action(n->kind, n->object)->arg = n->kind == DTRACE_ACT_STACK;
    int error = create(rights, CURRENT, 0);
    if ((error == 0) != may) {
        fail_msg("kind %#x, rights %u: %d, %s", n->kind, (unsigned)rights, error,
                 error ? dtrace_refusal_text(&target.refusal) : "made");
    }
    if (error) {
        assert_int_equal(error, -EPERM_);
        assert_int_equal(target.refusal.reason, n->reason);
    }
}

static void test_each_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(needy) / sizeof(*needy); i++) {
        for (uint32_t others = 0; others <= DTRACE_MAY_ALL; others++) {
            if (others & (DTRACE_MAY_OWN | DTRACE_MAY_KERNEL)) {
                check_needy(&needy[i], others);
            }
        }
    }
}

static void test_log(void **state)
{
    (void)state;
    clause(call, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    assert_int_equal(create(DTRACE_MAY_KERNEL, CURRENT, DTRACE_CREATE_LOG), -EPERM_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_NEEDS_TRACE);
    open_own(NULL);
    clause(call, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    assert_int_equal(create(DTRACE_MAY_OWN | DTRACE_MAY_LOG, CURRENT, DTRACE_CREATE_LOG), 0);
}

static void test_retain(void **state)
{
    (void)state;
    clause(call, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_RETAIN, 1);
    assert_int_equal(create(DTRACE_MAY_KERNEL, CURRENT, 0), -EPERM_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_NEEDS_TRACE);
}

/* By number, by a description of its own, and by one that matches others, too. */
static void test_probes_of_the_kernel(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    assert_int_equal(create(DTRACE_MAY_OWN, CURRENT, 0), -EPERM_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_NEEDS_KERNEL);
    assert_int_equal(create_on("test"), -EPERM_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_NEEDS_KERNEL);
    assert_int_equal(create_on("*e*"), 0);
    for (uint32_t i = 0; i < target.consumer->necbs; i++) {
        assert_true(target.consumer->ecbs[i].probe->provider->ops->own);
    }
    assert_int_not_equal(target.consumer->necbs, 0);
}

/* ---- where it fires ---------------------------------------------------------------- */

static unsigned fired(uint32_t probe, int32_t owner)
{
    open_own(NULL);
    clause(probe, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    go(owner);
    dtrace_fire(probe, 7, 0, 0, 0, 0);
    take(0);
    assert_int_equal(status().errors, 0);
    unsigned n = target.nrecords;
    return n;
}

static void test_whose(void **state)
{
    (void)state;
    assert_int_equal(fired(call, CURRENT), 1);
    assert_int_equal(fired(call, PARENT), 1);
    assert_int_equal(fired(call, OTHER), 0);
    assert_int_equal(fired(sample, PARENT), 1);
    assert_int_equal(fired(sample, OTHER), 0);
    assert_int_equal(fired(tick, CURRENT), 1);
    assert_int_equal(fired(tick, OTHER), 1);
}

static void test_begin_and_end(void **state)
{
    unsigned cpu;

    (void)state;
    clause(BEGIN_, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(END_, NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    go(OTHER);
    dtrace_consumer_stop(target.consumer, &cpu);
    take(0);
    assert_int_equal(target.nrecords, 2);
}

/* While the process is another one's a nested probe is no drop. */
static void test_nested(void **state)
{
    (void)state;
    for (int32_t owner = OTHER; owner <= CURRENT; owner++) {
        open_own(NULL);
        clause(call, NULL);
        action(DTRACE_ACT_DIFEXPR, value);
        go(owner);
        dtrace_probe_nested(dtrace_probe_at(call));
        take(0);
        assert_int_equal(target.snap.drops, owner != OTHER);
    }
    open_own(NULL);
}

/* ---- what it learns ---------------------------------------------------------------- */

/* The fault of this expression on the probe, DIF_FAULT_NONE: it is `want`. */
static void learns(uint32_t probe, int32_t owner, const char *object, int32_t fault, uint64_t want)
{
    open_own(NULL);
    error_clause();
    clause(probe, NULL);
    action(DTRACE_ACT_DIFEXPR, object);
    go(owner);
    dtrace_fire(probe, 7, 0, 0, 0, 0);
    take(0);
    assert_int_equal(target.nrecords, 1);
    if (fault == DIF_FAULT_NONE) {
        assert_int_equal(target.records[0].epid, 2);
        assert_int_equal(datum(0, 0), want);
    } else {
        assert_int_equal(target.records[0].epid, 1);
        assert_int_equal(datum(0, 3), fault);
    }
}

static void test_kernel_memory(void **state)
{
    char text[128];

    (void)state;
    for (const char *const *op =
             (const char *const[]){"ldsb", "ldsh", "ldsw", "ldub", "lduh", "lduw", "ldx", NULL};
         *op; op++) {
        snprintf(text, sizeof(text), "setx %#lx r1; %s r1 r1; ret r1", (unsigned long)&kernel_word,
                 *op);
        learns(call, CURRENT, text, DIF_FAULT_KPRIV, 0);
    }
    snprintf(text, sizeof(text), "setx %#lx r1; pushtv r1; call strlen r1; ret r1",
             (unsigned long)&kernel_word);
    learns(call, CURRENT, text, DIF_FAULT_KPRIV, 0);
    snprintf(text, sizeof(text), "result string; setx %#lx r1; ret r1",
             (unsigned long)&kernel_word);
    learns(call, CURRENT, text, DIF_FAULT_KPRIV, 0);
    /* the same word is read by who may */
    open_own(NULL);
    snprintf(text, sizeof(text), "setx %#lx r1; ldx r1 r1; ret r1", (unsigned long)&kernel_word);
    clause(call, NULL);
    action(DTRACE_ACT_DIFEXPR, text);
    unsigned cpu;
    assert_int_equal(create(DTRACE_MAY_KERNEL, OTHER, 0), 0);
    assert_int_equal(dtrace_consumer_go(target.consumer, &cpu), 0);
    dtrace_fire(call, 0, 0, 0, 0, 0);
    take(0);
    assert_int_equal(datum(0, 0), SECRET);
}

static void test_own_memory(void **state)
{
    char loads[128], copies[160];

    (void)state;
    snprintf(loads, sizeof(loads), "setx %#lx r1; uldx r1 r1; ret r1", (unsigned long)&user_word);
    snprintf(copies, sizeof(copies),
             "setx %#lx r1; setx 8 r2; pushtv r1; pushtv r2; call copyin r1; ldx r1 r1; ret r1",
             (unsigned long)&user_word);
    learns(call, CURRENT, loads, DIF_FAULT_NONE, SECRET);
    learns(call, PARENT, copies, DIF_FAULT_NONE, SECRET);
    learns(tick, PARENT, copies, DIF_FAULT_NONE, SECRET);
    learns(tick, OTHER, loads, DIF_FAULT_UPRIV, 0);
    learns(tick, OTHER, copies, DIF_FAULT_UPRIV, 0);
}

static void test_built_in_variables(void **state)
{
    static const char *const hidden[] = {
        "curthread", "vtimestamp", "stackdepth", "caller",      "pid",    "tid",         "ppid",
        "uid",       "errno",      "ucaller",    "ustackdepth", "cycles", "instructions"};
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
        snprintf(text, sizeof(text), "ldgs %s r1; ret r1", hidden[i]);
        learns(tick, OTHER, text, DIF_FAULT_UPRIV, 0);
    }
    learns(tick, OTHER, "result string; ldgs execname r1; ret r1", DIF_FAULT_UPRIV, 0);
    learns(tick, OTHER, "setx 1 r1; ldga uregs r1 r1; ret r1", DIF_FAULT_UPRIV, 0);
    learns(tick, OTHER, "setx 1 r1; pushtv r1; call progenyof r1; ret r1", DIF_FAULT_UPRIV, 0);
    learns(tick, OTHER, value, DIF_FAULT_NONE, 0); /* not 7: where the other was interrupted */
    learns(tick, OTHER, "ldgs epid r1; ret r1", DIF_FAULT_NONE, 2);
    learns(tick, CURRENT, value, DIF_FAULT_NONE, 7);
    learns(tick, CURRENT, "ldgs pid r1; ret r1", DIF_FAULT_NONE, 42);
    learns(call, PARENT, "ldgs ppid r1; ret r1", DIF_FAULT_NONE, 41);
    learns(call, CURRENT, "setx 1 r1; ldga uregs r1 r1; ret r1", DIF_FAULT_NONE, 0x201);
}

static void test_actions_elsewhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        static const uint16_t kinds[] = {DTRACE_ACT_STACK, DTRACE_ACT_USTACK, DTRACE_ACT_RAISE,
                                         DTRACE_ACT_JSTACK};
        open_own(NULL);
        clause(tick, NULL);
        struct dtrace_image_action *a =
            action(kinds[i], i == 2   ? "setx 9 r1; ret r1"
                             : i == 3 ? "result string; sets \"helped\" r1; ret r1"
                                      : NULL);
        a->arg = i == 2 ? 0 : i == 3 ? 2 | 20ull << 32 : 2;
        a->weight = i == 3 ? a->object : 0;
        go(OTHER);
        dtrace_fire(tick, 0, 0, 0, 0, 0);
        take(0);
        assert_int_equal(target.nrecords, 0);
        assert_int_equal(status().errors, 1);
        assert_int_equal(fake.raised, 0);
    }
    open_own(NULL);
}

/* ---- the control call -------------------------------------------------------------- */

static void test_commands(void **state)
{
    static _Alignas(8) uint8_t out[4096];

    (void)state;
    for (uint32_t command = 1; command <= KYMO_D_LIMIT; command++) {
        bool kernels = command == KYMO_D_CLAIM || command == KYMO_D_LOOK || command == KYMO_D_LIMIT;
        for (uint32_t rights = 0; rights <= DTRACE_MAY_ALL; rights++) {
            struct kymo_d_call c = {.command = command, .out_bytes = sizeof(out)};
            bool some = rights & (DTRACE_MAY_OWN | DTRACE_MAY_KERNEL);
            bool may = some && (!kernels || rights & DTRACE_MAY_KERNEL) &&
                       (command != KYMO_D_RESUME || (rights & 6) == 6);
            int error = dtrace_control("*", rights, &c, NULL, out);
            assert_int_equal(error == -EPERM_, !may);
        }
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_own, close_own)
    const struct CMUnitTest tests[] = {
        T(test_each_right),
        T(test_log),
        T(test_retain),
        T(test_probes_of_the_kernel),
        T(test_whose),
        T(test_begin_and_end),
        T(test_nested),
        T(test_kernel_memory),
        T(test_own_memory),
        T(test_built_in_variables),
        T(test_actions_elsewhere),
        T(test_commands),
    };
    return cmocka_run_group_tests_name("d_fire_own", tests, NULL, NULL);
}
