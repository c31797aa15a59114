/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of random_test.c. See random_model.h. */
#include "test/trace/random_model.h"

#include <string.h>

#define PER_CPU_MAX 8

struct model_cpu model[FAKE_CPUS];
unsigned model_per_cpu;
bool model_overwrote, model_skipped, model_filled, model_ringed;

static struct trace_slot busy[FAKE_CPUS * PER_CPU_MAX][TRACE_BUFFER_SLOTS];

/* What a CPU's buffers hold that aren't taken. */
struct content {
    uint64_t events[TRACE_CLASS_MAX];
    uint64_t dropped[KYMO_TRACE_REASONS][TRACE_CLASS_MAX];
    uint32_t last_serial;
};

void model_reset(unsigned per_cpu)
{
    assert_in_range(per_cpu, 2, PER_CPU_MAX);
    memset(model, 0, sizeof(model));
    model_per_cpu = per_cpu;
    model_overwrote = model_skipped = model_filled = model_ringed = false;
}

uint32_t model_made(unsigned cpu, enum kind kind, bool wide)
{
    struct model_cpu *m = &model[cpu];
    uint32_t serial = ++m->made;

    assert_in_range(serial, 1, MODEL_EVENTS - 1);
    m->kind[serial] = (uint8_t)(kind | (wide ? MODEL_WIDE : 0));
    m->made_of[kind_class(kind)]++;
    m->too_big += kind == KIND_TOO_BIG;
    return serial;
}

void model_late(unsigned cpu, uint32_t serial)
{
    assert_in_range(serial, 1, model[cpu].made);
    model[cpu].kind[serial] |= MODEL_LATE;
}

/* ---- reading a buffer -------------------------------------------------------------- */

static void read_event(unsigned cpu, const struct seen *seen, struct content *c)
{
    const struct model_cpu *m = &model[cpu];
    uint32_t serial;
    enum kind kind = event_recognise(seen, &serial);
    static struct event e;

    assert_in_range(serial, 1, m->made); /* made, in order, once */
    assert_true(serial > c->last_serial || m->kind[serial] & MODEL_LATE);
    c->last_serial = serial > c->last_serial ? serial : c->last_serial;
    assert_int_equal(kind, m->kind[serial] & ~(MODEL_WIDE | MODEL_LATE));
    event_expect(cpu, serial, kind, m->kind[serial] & MODEL_WIDE, &e);
    assert_int_equal(seen->class, e.class);
    assert_int_equal(seen->number, e.number);
    assert_int_equal(seen->nwords, e.nwords);
    assert_memory_equal(seen->words, e.words, 4 * e.nwords);
    c->events[e.class]++;
}

static void read_control(const struct seen *seen, unsigned position, struct content *c)
{
    unsigned reason = seen->words[0] >> 8, class = seen->words[0] & 0xff;

    switch (seen->number) {
    case TRACE_CONTROL_BUFFER:
        assert_int_equal(position, 0);
        break;
    case TRACE_CONTROL_TIME:
        assert_int_not_equal(position, 0);
        break;
    default:
        assert_int_equal(seen->number, TRACE_CONTROL_DROPPED);
        assert_in_range(reason, 1, KYMO_TRACE_REASONS - 1);
        assert_in_range(class, 1, TRACE_CLASS_MAX - 1);
        assert_int_not_equal(seen->words[1], 0);
        c->dropped[reason][class] += seen->words[1];
        break;
    }
}

/* DROPPED slots stand at the beginning, after BUFFER and TIME, each reason and class once. */
static void read_buffer(unsigned cpu, const struct trace_slot *slots, unsigned n, uint32_t sequence,
                        bool active, uint64_t *last_time, struct content *c)
{
    static struct scan scan;
    bool head = true;
    uint32_t last_told = 0;

    scan.last_time = *last_time;
    scan_begin(&scan, cpu, slots, n, sequence, active ? 0 : n);
    for (unsigned position = 0; scan_next(&scan); position++) {
        if (scan.seen.class != TRACE_CLASS_CONTROL) {
            head = false;
            read_event(cpu, &scan.seen, c);
        } else {
            read_control(&scan.seen, position, c);
            if (scan.seen.number == TRACE_CONTROL_DROPPED) {
                assert_true(head && scan.seen.words[0] > last_told);
                last_told = scan.seen.words[0];
            }
        }
    }
    *last_time = scan.last_time;
}

/* A buffer that gives way, step by step, if there is one: later ones may have been taken since. The
 * counts of its first DROPPED slots are pending again. Returns the number of such buffers. */
static unsigned read_obtained(unsigned cpu, struct content *c)
{
    uint32_t i = trace_port_cpu_at(cpu)->obtained - 1, last_serial = c->last_serial;
    uint64_t last_time = 0;

    if (i == TRACE_NONE) {
        return 0;
    }
    const struct trace_slot *slots = look_slots(cpu, i), *back = slots + 2;
    c->last_serial = 0;
    read_buffer(cpu, slots, slots[0].d2, look_sequence(cpu, i), false, &last_time, c);
    c->last_serial = last_serial;
    for (unsigned n = ring_of(cpu)->buffers[i].dropped_back; n > 0; n--, back++) {
        assert_true(c->dropped[back->d1 >> 8][back->d1 & 0xff] >= back->d2);
        c->dropped[back->d1 >> 8][back->d1 & 0xff] -= back->d2;
    }
    return 1;
}

/* READY and ACTIVE buffers in the order of their sequence. */
static void read_all(unsigned cpu, struct content *c)
{
    uint32_t sequence = model[cpu].last_sequence;
    uint64_t last_time = model[cpu].last_time;
    unsigned active = 0;

    *c = (struct content){.last_serial = model[cpu].last_serial};
    for (;;) {
        unsigned next = model_per_cpu;

        for (unsigned i = 0; i < model_per_cpu; i++) {
            unsigned state = look_state(cpu, i);
            if ((state == TRACE_READY || i == ring_of(cpu)->active) &&
                look_sequence(cpu, i) > sequence &&
                (next == model_per_cpu || look_sequence(cpu, i) < look_sequence(cpu, next))) {
                next = i;
            }
        }
        if (next == model_per_cpu) {
            break;
        }
        sequence = look_sequence(cpu, next);
        bool open = ring_of(cpu)->active == next;
        const struct trace_slot *slots = look_slots(cpu, next);
        active += open;
        read_buffer(cpu, slots, open ? look_active_slots(cpu) : slots[0].d2, sequence, open,
                    &last_time, c);
    }
    active += read_obtained(cpu, c);
    assert_in_range(active, 0, 1);
    assert_int_equal(active, look_count(cpu, TRACE_ACTIVE));
}

uint64_t model_in_buffers(unsigned cpu)
{
    struct content c;
    uint64_t events = 0;

    read_all(cpu, &c);
    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        events += c.events[class];
    }
    return events;
}

/* ---- taking ------------------------------------------------------------------------ */

void model_taken(const struct kymo_trace_buffer *b)
{
    struct model_cpu *m = &model[b->cpu];
    const struct trace_slot *slots = look_slots(b->cpu, b->index % model_per_cpu);
    struct content c = {.last_serial = m->last_serial};

    assert_int_equal(b->index / model_per_cpu, b->cpu);
    assert_true(b->sequence > m->last_sequence);
    read_buffer(b->cpu, slots, b->slots, b->sequence, false, &m->last_time, &c);
    m->last_serial = c.last_serial;
    m->last_sequence = b->sequence;
    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        m->taken_of[class] += c.events[class];
        for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
            m->dropped_taken[reason][class] += c.dropped[reason][class];
        }
    }
    memcpy(busy[b->index], slots, sizeof(busy[0]));
}

void model_given(uint32_t index)
{
    assert_memory_equal(busy[index], look_slots(index / model_per_cpu, index % model_per_cpu),
                        sizeof(busy[0]));
}

static void check_busy(unsigned cpu)
{
    for (unsigned i = 0; i < model_per_cpu; i++) {
        if (look_state(cpu, i) == TRACE_BUSY) {
            model_given(cpu * model_per_cpu + i);
        }
    }
}

/* ---- the account ------------------------------------------------------------------- */

uint64_t model_lost(unsigned cpu)
{
    struct kymo_trace_loss loss = loss_of(cpu);
    uint64_t lost = 0;

    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        lost += loss.lost[class];
    }
    return lost;
}

/* Per class: made = there + taken + lost (+ recycled, which is counted for all classes at once). */
static void check_classes(unsigned cpu, const struct kymo_trace_loss *loss, const struct content *c)
{
    struct model_cpu *m = &model[cpu];
    uint64_t recycled = 0, made = 0;

    /* TIME of buffers without events that were overwritten: no more than buffers were. */
    m->made_of[TRACE_CLASS_CONTROL] = loss->lost[TRACE_CLASS_CONTROL];
    assert_true(loss->lost[TRACE_CLASS_CONTROL] <= loss->buffers_overwritten);

    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        uint64_t found = c->events[class] + m->taken_of[class] + loss->lost[class];
        uint64_t told = 0;

        made += m->made_of[class];
        assert_true(found <= m->made_of[class]);
        recycled += m->made_of[class] - found;
        for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
            told += c->dropped[reason][class] + m->dropped_taken[reason][class] +
                    loss->pending[reason][class];
        }
        assert_int_equal(told, loss->lost[class]); /* in the stream, or pending: once */
    }
    assert_int_equal(loss->made, made);
    assert_int_equal(loss->recycled, recycled);
    assert_true(model_ringed || recycled == 0);
}

static void check_reasons(unsigned cpu, const struct kymo_trace_loss *loss, const struct content *c)
{
    const struct model_cpu *m = &model[cpu];
    unsigned giving_way = trace_port_cpu_at(cpu)->obtained != 0;

    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        uint64_t told = 0;

        for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
            told += c->dropped[reason][class] + m->dropped_taken[reason][class] +
                    loss->pending[reason][class];
        }
        assert_int_equal(told, loss->lost_reason[reason]);
    }
    assert_int_equal(loss->lost_reason[0], 0);
    assert_int_equal(loss->lost_reason[7], 0);
    assert_int_equal(loss->lost_reason[KYMO_DROP_RECURSIVE], m->recursive);
    assert_int_equal(loss->lost_reason[KYMO_DROP_TOOBIG], m->too_big);
    assert_int_equal(loss->lost_reason[KYMO_DROP_DISCARDED], m->discarded);
    assert_true(model_overwrote || loss->lost_reason[KYMO_DROP_OVERWRITTEN] == 0);
    assert_true(model_skipped || model_overwrote || loss->lost_reason[KYMO_DROP_NOBUFFER] == 0);
    assert_true(model_filled || loss->lost_reason[KYMO_DROP_FILLED] == 0);
    /* A reader finds the gap that each overwritten buffer leaves, and wants one event at least for
     * it. The one that gives way now is not counted yet. */
    assert_true(model_ringed ||
                loss->lost_reason[KYMO_DROP_OVERWRITTEN] + giving_way >= loss->buffers_overwritten);
}

static void check_cpu(unsigned cpu)
{
    struct kymo_trace_loss loss = loss_of(cpu);
    struct content c;

    read_all(cpu, &c);
    check_busy(cpu);
    check_classes(cpu, &loss, &c);
    check_reasons(cpu, &loss, &c);
    assert_int_equal(loss.sequence, ring_of(cpu)->sequence);
}

void model_check(void)
{
    for (unsigned cpu = 0; cpu < fake.cpus; cpu++) {
        check_cpu(cpu);
    }
}

/* The event has not been made yet. */
void model_check_amid(unsigned cpu, uint32_t serial)
{
    struct model_cpu *m = &model[cpu];
    enum kind kind = m->kind[serial] & ~(MODEL_WIDE | MODEL_LATE);

    if (serial) {
        m->made_of[kind_class(kind)]--;
        m->too_big -= kind == KIND_TOO_BIG;
    }
    check_cpu(cpu);
    if (serial) {
        m->made_of[kind_class(kind)]++;
        m->too_big += kind == KIND_TOO_BIG;
    }
}
