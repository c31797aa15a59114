/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose an event is, and what processes are called: at the beginning, after gaps, of rings that
 * tell their names at their end, of threads that others end.
 */
#include <stdlib.h>
#include <string.h>

#include "host/owner.h"
#include "abi/sys/states.h"
#include "abi/sys/trace.h"
#include "test/host/support.h"

#define PR_TH TRACE_CLASS_PR_TH
#define CALL TRACE_CLASS_KER_CALL
#define OWN TRACE_CLASS_KYMO_CALL
#define USER TRACE_CLASS_USER
#define UNKNOWN (-2)

static void event(struct mk *mk, unsigned cpu, unsigned class, unsigned number, uint32_t a,
                  uint32_t b)
{
    uint32_t words[2] = {a, b};

    mk_event(mk, cpu, 1, class, number, words, 2);
}

static void name(struct mk *mk, unsigned cpu, unsigned number, uint32_t a, uint32_t b,
                 const char *text)
{
    uint32_t words[2] = {a, b};

    mk_string(mk, cpu, 1, PR_TH, number, words, 2, text);
}

/* A user event that says whose it must be: number = tid, d0 = pid. */
static void mark(struct mk *mk, unsigned cpu, int pid, int tid)
{
    event(mk, cpu, USER, (unsigned)(tid < 0 ? 1000 : tid), (uint32_t)pid, (uint32_t)tid);
}

struct asked {
    struct kev *kev;
    struct owners *owners;
    unsigned marks;
};

/* Follows all; each mark() must be whose it says. Then `owners` is as it is at the end. */
static struct asked follow(struct mk *mk, bool learn, bool recover)
{
    struct kev_options options = {.recover = recover};
    struct asked asked = {0};
    struct kev_event event;
    struct kev_error error;

    mk_flush_all(mk);
    asked.kev = support_open(mk, &options);
    asked.owners = owners_new(asked.kev);
    assert_non_null(asked.owners);
    while (learn && kev_next(asked.kev, &event, &error) == KEV_EVENT) {
        owners_learn(asked.owners, &event);
    }
    if (learn) {
        owners_begin(asked.owners);
        kev_rewind(asked.kev);
    }
    while (kev_next(asked.kev, &event, &error) == KEV_EVENT) {
        struct owner owner = owners_follow(asked.owners, &event);

        if (event.class == TRACE_CLASS_CONTROL) {
            assert_false(owner.known);
        }
        if (event.class == USER) {
            int pid = (int)kev_word(&event, 0), tid = (int)kev_word(&event, 1);

            assert_int_equal(owner.known, pid != UNKNOWN);
            if (owner.known) {
                assert_int_equal(owner.pid, pid);
                assert_int_equal(owner.tid, tid);
            }
            asked.marks++;
        }
    }
    return asked;
}

static void done(struct mk *mk, struct asked *asked)
{
    owners_free(asked->owners);
    kev_close(asked->kev);
    mk_free(mk);
}

static void test_running(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct asked asked;

    (void)state;
    mark(mk, 0, UNKNOWN, 0);
    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    mark(mk, 0, 5, 1);
    mark(mk, 1, UNKNOWN, 0); /* each CPU for itself */
    event(mk, 0, PR_TH, STATE_READY, 6, 2);
    mark(mk, 0, 5, 1);
    event(mk, 0, PR_TH, STATE_REPLY, 5, 1); /* it leaves with the next one's THRUNNING */
    mark(mk, 0, 5, 1);
    event(mk, 0, PR_TH, STATE_RUNNING | TRACE_EVENT_64, 6, 2);
    mark(mk, 0, 6, 2);
    mk_flush_all(mk); /* another buffer */
    mark(mk, 0, 6, 2);
    asked = follow(mk, false, false);
    assert_int_equal(asked.marks, 7);
    assert_int_equal(owners_running(asked.owners, 0).tid, 2);
    assert_false(owners_running(asked.owners, 1).known);
    done(mk, &asked);
}

static void test_gaps(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct asked asked;

    (void)state;
    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    mk_dropped(mk, 0, 2, USER, 7); /* no THREAD event among them */
    mark(mk, 0, 5, 1);
    mk_dropped(mk, 0, 2, PR_TH, 1);
    mark(mk, 0, UNKNOWN, 0);
    event(mk, 0, PR_TH, STATE_READY, 6, 1);
    mark(mk, 0, UNKNOWN, 0);
    event(mk, 0, PR_TH, STATE_RUNNING, 6, 1);
    mark(mk, 0, 6, 1);
    mk_flush_all(mk);
    mark(mk, 0, 6, 1);
    mk_flush_all(mk);
    event(mk, 0, USER, 1, 9, 9);
    mk_lose_buffer(mk, 0);
    mark(mk, 0, UNKNOWN, 0);
    event(mk, 0, PR_TH, STATE_RUNNING, 7, 1);
    mark(mk, 0, 7, 1);
    asked = follow(mk, false, true);
    assert_int_equal(asked.marks, 7);
    done(mk, &asked);
}

/* Slots that `recover` passes over: a THRUNNING may have been among them. */
static void test_damage(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct asked asked;
    size_t at;

    (void)state;
    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    mark(mk, 0, 5, 1);
    event(mk, 0, PR_TH, STATE_RUNNING, 6, 1);
    mark(mk, 0, UNKNOWN, 0);
    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    mark(mk, 0, 5, 1);
    mk_flush_all(mk);
    at = mk->slots_offset + 4 * TRACE_SLOT_BYTES; /* after BUFFER, TIME, THRUNNING, mark */
    assert_int_equal(mk->bytes[at + 8], 6);
    mk->bytes[at + 2] = 0xff; /* reserved bits */
    asked = follow(mk, false, true);
    assert_int_equal(asked.marks, 3);
    done(mk, &asked);
}

/* An INT_CALL between THDEAD and THDESTROY is of the thread that is ended there. */
static void ended_by_another(bool own)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct kev_options options = {0};
    struct kev_event event_;
    struct kev_error error;
    struct owners *owners;
    struct kev *kev;
    unsigned calls = 0;

    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    event(mk, 0, PR_TH, STATE_DEAD, 8, 3);
    event(mk, 0, own ? OWN : CALL, (own ? 102 : 11) + TRACE_KERCALL_INT, 0, 0); /* of 8.3 */
    event(mk, 0, CALL, 90, 0, 0);                                               /* of 5.1 */
    event(mk, 0, PR_TH, 25, 8, 3);
    event(mk, 0, CALL, 11 + TRACE_KERCALL_INT, 0, 0); /* of 5.1 */
    mk_flush_all(mk);
    kev = support_open(mk, &options);
    owners = owners_new(kev);
    while (kev_next(kev, &event_, &error) == KEV_EVENT) {
        struct owner owner = owners_follow(owners, &event_);

        if (trace_class_is_call(event_.class)) {
            assert_true(owner.known);
            assert_int_equal(owner.pid, calls == 0 ? 8 : 5);
            assert_int_equal(owner.tid, calls == 0 ? 3 : 1);
            calls++;
        }
    }
    assert_int_equal(calls, 3);
    owners_free(owners);
    kev_close(kev);
    mk_free(mk);
}

static void test_ended_by_another(void **state)
{
    (void)state;
    ended_by_another(false);
    ended_by_another(true);
}

static void expect_name(const struct owners *owners, int pid, const char *wanted)
{
    const char *found = owners_process(owners, pid);

    if (wanted == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, wanted);
    }
}

static void test_names(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct owner_name row;
    struct asked asked;
    uint32_t at = 0;

    (void)state;
    name(mk, 0, 192, 1, 5, "first");
    name(mk, 1, 320, 5, 1, "main");
    name(mk, 0, 192, 1, 6, "gone");
    event(mk, 0, PR_TH, 128, 1, 6);
    name(mk, 0, 192, 1, 7, "reused");
    event(mk, 0, PR_TH, 128, 1, 7);
    name(mk, 0, 192, 1, 7, "again");
    name(mk, 0, 192, 1, 8, "");
    asked = follow(mk, false, false);
    expect_name(asked.owners, 5, "first");
    expect_name(asked.owners, 6, "gone"); /* messages that tell of it may follow */
    expect_name(asked.owners, 7, "again");
    expect_name(asked.owners, 8, NULL);
    expect_name(asked.owners, 9, NULL);
    assert_string_equal(owners_thread(asked.owners, 5, 1), "main");
    assert_null(owners_thread(asked.owners, 5, OWNER_NONE));
    assert_true(owners_next_name(asked.owners, &at, &row));
    assert_string_equal(row.name, "first");
    assert_int_equal(row.ppid, 1);
    assert_true(owners_next_name(asked.owners, &at, &row));
    assert_string_equal(row.name, "main");
    assert_int_equal(row.tid, 1);
    assert_true(owners_next_name(asked.owners, &at, &row));
    assert_string_equal(row.name, "again");
    assert_false(owners_next_name(asked.owners, &at, &row));
    done(mk, &asked);
}

/* A ring tells its names when it is stopped: they hold from the beginning, unless that can't be. */
static void test_names_at_the_end(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct kev_event first;
    struct kev_error error;
    struct asked asked;

    (void)state;
    event(mk, 0, PR_TH, STATE_RUNNING, 5, 1);
    event(mk, 0, PR_TH, 128, 1, 6); /* the first 6 ends: the name below is another's */
    name(mk, 0, 192, 1, 5, "told-late");
    name(mk, 0, 192, 1, 6, "second-six");
    event(mk, 0, PR_TH, 24, 5, 1);
    name(mk, 0, 320, 5, 1, "thread-late");
    mk_dropped(mk, 0, 1, PR_TH, 3);
    name(mk, 0, 192, 1, 9, "behind-a-loss");
    asked = follow(mk, true, false);
    expect_name(asked.owners, 9, "behind-a-loss");
    owners_free(asked.owners);
    asked.owners = owners_new(asked.kev);
    kev_rewind(asked.kev);
    while (kev_next(asked.kev, &first, &error) == KEV_EVENT) {
        owners_learn(asked.owners, &first);
    }
    owners_begin(asked.owners);
    expect_name(asked.owners, 5, "told-late");
    expect_name(asked.owners, 6, NULL);
    expect_name(asked.owners, 9, NULL); /* its beginning may be what is lost */
    assert_string_equal(owners_thread(asked.owners, 5, 1), "thread-late");
    done(mk, &asked);
}

/* More names than are kept, and hostile ones: bounded, nothing breaks. */
static void test_many(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    char text[400];
    struct asked asked;

    (void)state;
    memset(text, '\033', sizeof(text) - 1);
    text[200] = '\0';
    name(mk, 0, 192, 1, 0xffffffffu, text);
    name(mk, 0, 320, 0x80000000u, 0xffffffffu, text);
    for (uint32_t pid = 1; pid <= OWNER_NAMES + 100; pid++) {
        name(mk, 0, 192, 1, pid, "p");
    }
    asked = follow(mk, true, false);
    assert_int_equal(strlen(owners_process(asked.owners, -1)), TRACE_TEXT_BYTES);
    expect_name(asked.owners, OWNER_NAMES / 2, "p");
    expect_name(asked.owners, OWNER_NAMES + 100, NULL);
    done(mk, &asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_running), cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_ended_by_another),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_names_at_the_end),
        cmocka_unit_test(test_many),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
