/* SPDX-License-Identifier: BSD-2-Clause */
/* See target.h. */
#include "test/trace/dtrace/fire/target.h"

#include "trace/dtrace/control.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct target target;

static int enable(uint32_t probe, void *arg)
{
    (void)probe;
    (void)arg;
    return 0;
}

static void disable(uint32_t probe, void *arg)
{
    (void)probe;
    (void)arg;
}

static const struct dtrace_provider_ops ops = {.enable = enable, .disable = disable};
static const struct dtrace_provider provider = {"test", &ops};

int target_open(void **state)
{
    static bool made;

    (void)state;
    memset(&target, 0, sizeof(target));
    fake_reset();
    fake.execname = "a.out";
    if (!made) {
        dtrace_machine_init();
        dtrace_provider_register(&provider);
    }
    made = true;
    for (unsigned i = 0; i < PROBES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%u", i);
        target.probe[i] = dtrace_probe_create(&provider, "m", "f", name, NULL);
    }
    image_begin(&target.b);
    return 0;
}

int target_close(void **state)
{
    (void)state;
    if (target.consumer) {
        dtrace_consumer_destroy(target.consumer);
    }
    return 0;
}

struct dtrace_image_ecb *clause(uint32_t probe, const char *predicate)
{
    uint32_t object = predicate ? image_object(&target.b, predicate) : 0;
    struct dtrace_image_ecb *e = image_ecb(&target.b, object);

    e->probe = probe;
    return e;
}

struct dtrace_image_action *action(uint16_t kind, const char *text)
{
    uint32_t object = text ? image_object(&target.b, text) : 0;

    return image_action(&target.b, kind, object);
}

static void default_option(enum dtrace_option option, uint64_t value)
{
    for (unsigned i = 0; i < target.b.noptions; i++) {
        if (target.b.options[i].option == option) {
            return;
        }
    }
    image_option(&target.b, option, value);
}

void start(void)
{
    unsigned cpu;

    default_option(DTRACE_OPT_BUFSIZE, 4096);
    default_option(DTRACE_OPT_AGGSIZE, 4096);
    default_option(DTRACE_OPT_SPECSIZE, 1024);
    default_option(DTRACE_OPT_DYNVARSIZE, 4096);
    default_option(DTRACE_OPT_STRSIZE, 32);
    default_option(DTRACE_OPT_DESTRUCTIVE, 1);
    const struct dtrace_image *image = image_end(&target.b);
    if (dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal) != 0) {
        fail_msg("refused: %s", dtrace_refusal_text(&target.refusal));
    }
    assert_int_equal(dtrace_consumer_go(target.consumer, &cpu), 0);
}

void fire(unsigned probe, uint64_t arg0)
{
    dtrace_fire(target.probe[probe], arg0, 11, 12, 13, 14);
}

static struct dtrace_epid_desc describe(uint32_t epid, struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    struct dtrace_epid_desc e;

    *nrecs = 16;
    assert_int_equal(dtrace_epid_describe(target.consumer, epid, &e, recs, nrecs), 0);
    return e;
}

void take(unsigned cpu)
{
    size_t at = 0;

    memset(target.buffer, 0xdd, sizeof(target.buffer));
    assert_int_equal(dtrace_buffer_snap(target.consumer, cpu, target.buffer, sizeof(target.buffer),
                                        &target.snap),
                     0);
    target.nrecords = 0;
    while (at < target.snap.size) {
        struct dtrace_record head;
        struct dtrace_recdesc recs[16];
        uint32_t nrecs;
        memcpy(&head, target.buffer + at, 4);
        if (head.epid == 0) {
            at += 4;
            continue;
        }
        memcpy(&head, target.buffer + at, sizeof(head));
        uint32_t size = describe(head.epid, recs, &nrecs).size;
        assert(target.nrecords < RECORDS);
        target.records[target.nrecords++] = (struct record){
            head.epid, (uint64_t)head.time_high << 32 | head.time_low, size, target.buffer + at};
        at += size;
    }
    assert_int_equal(at, target.snap.size);
}

uint64_t datum(unsigned record, unsigned recdesc)
{
    struct dtrace_recdesc recs[16];
    uint32_t nrecs;
    uint64_t value = 0;

    assert_true(record < target.nrecords);
    describe(target.records[record].epid, recs, &nrecs);
    assert_true(recdesc < nrecs && recs[recdesc].size <= 8);
    assert_int_equal(recs[recdesc].offset % recs[recdesc].alignment, 0);
    memcpy(&value, target.records[record].data + recs[recdesc].offset, recs[recdesc].size);
    return value;
}

const char *datum_text(unsigned record, unsigned recdesc)
{
    static char text[256];
    struct dtrace_recdesc recs[16];
    uint32_t nrecs;

    assert_true(record < target.nrecords);
    describe(target.records[record].epid, recs, &nrecs);
    assert_true(recdesc < nrecs && recs[recdesc].size < sizeof(text));
    memcpy(text, target.records[record].data + recs[recdesc].offset, recs[recdesc].size);
    text[recs[recdesc].size] = '\0';
    for (size_t i = strlen(text); i < recs[recdesc].size; i++) {
        assert_int_equal(text[i], 0); /* nothing is left behind a string */
    }
    return text;
}

struct dtrace_status status(void)
{
    struct dtrace_status s;

    dtrace_consumer_status(target.consumer, &s);
    return s;
}

const uint64_t *aggregated(unsigned cpu, uint32_t id, const void *key, size_t key_size)
{
    static uint64_t value[256];
    struct dtrace_recdesc recs[16];
    uint32_t nrecs = 16;
    struct dtrace_agg_desc desc;
    bool found = false;

    assert_int_equal(dtrace_aggregation_snap(target.consumer, cpu, target.buffer,
                                             sizeof(target.buffer), &target.snap),
                     0);
    assert_int_equal(dtrace_agg_describe(target.consumer, id, &desc, recs, &nrecs), 0);
    for (size_t at = 0; at < target.snap.size;) {
        struct dtrace_agg_entry e;
        memcpy(&e, target.buffer + at, sizeof(e));
        if (e.id == id &&
            (!key || memcmp(target.buffer + at + recs[0].offset, key, key_size) == 0)) {
            assert_false(found); /* a key is there once */
            found = true;
            memcpy(value, target.buffer + at + recs[nrecs - 1].offset, recs[nrecs - 1].size);
        }
        at += e.size;
    }
    return found ? value : NULL;
}

/* ---- what control.c needs ---------------------------------------------------------- */

void dtrace_control_info(struct kymo_d_info *info)
{
    info->cpus = FAKE_CPUS;
    info->pointer_bytes = sizeof(void *);
}

struct target_account *target_account(const void *owner)
{
    static struct target_account accounts[2];

    return &accounts[((const char *)owner)[0] % 2];
}

static struct target_account *pays; /* for the consumer that is being made */
static size_t pays_from;            /* what was allocated before */

bool dtrace_control_pay(const void *owner)
{
    pays = target_account(owner);
    pays->consumers++;
    pays_from = fake.allocated - fake.forever;
    return true;
}

size_t dtrace_control_paid(void)
{
    size_t bytes = fake.allocated - fake.forever - pays_from;

    pays->bytes += bytes;
    return bytes;
}

void dtrace_control_refund(const void *owner, size_t bytes)
{
    target_account(owner)->consumers--;
    target_account(owner)->bytes -= bytes;
}

uint32_t dtrace_control_pid(const void *owner)
{
    return (uint32_t)((const char *)owner)[0]; /* the owners are texts */
}

int dtrace_control_give(const void *owner, void *to, const void *from, size_t bytes)
{
    (void)owner;
    if (bytes) {
        memcpy(to, from, bytes);
    }
    return 0;
}

int dtrace_control_resume(int32_t pid)
{
    return pid == 77 ? 0 : -3;
}

int dtrace_control_process(int32_t pid, struct kymo_d_process *process)
{
    strcpy(process->name, "a.out");
    process->text = 0x1000;
    return pid == 77 ? 0 : -3;
}

/* What ERROR is told. */
void error_clause(void)
{
    clause(ERROR_, NULL);
    for (unsigned i = 1; i <= 5; i++) {
        char object[64];
        snprintf(object, sizeof(object), "ldgs arg%u r1; ret r1", i);
        action(DTRACE_ACT_DIFEXPR, object);
    }
}

void expect_error(unsigned record, const uint64_t want[5])
{
    assert_int_equal(target.records[record].epid, 1);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(datum(record, i), want[i]);
    }
}
