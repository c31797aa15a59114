/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking at buffers from outside. See look.h. */
#include "test/trace/look.h"

#include "trace/control.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/interrupt.h"
#include "trace/threads.h"

static bool user_any(void)
{
    for (unsigned event = 0; event < TRACE_USER_EVENTS; event++) {
        if (trace_bit(trace_filter.user_on, event)) {
            return true;
        }
    }
    return false;
}

/* What the fast paths of kernel calls and thread states test at once is what the queries say. */
static void modes_agree(void)
{
    const struct trace_filter *f = &trace_filter;

    for (unsigned number = 0; number < 3 * TRACE_KERCALLS; number++) {
        unsigned mode = trace_kercall_modes[number];
        unsigned log = mode & (TRACE_KERCALL_LOG | TRACE_KERCALL_ASK | TRACE_KERCALL_WIDE);
        bool probed =
            trace_bit(trace_site_probed, TRACE_EV_kercall_enter + number / TRACE_KERCALLS);

        assert_true(probed == ((mode & TRACE_KERCALL_PROBED) != 0));
        assert_true(log || !trace_kercall_on(number));
        assert_int_equal(log & (log - 1), 0); /* one of them */
        if (log == TRACE_KERCALL_WIDE) {
            assert_true(trace_kercall_on(number) && trace_kercall_wide(number));
            assert_false(trace_gate_armed || trace_threads_limit_kercall(number));
        }
        if (log == TRACE_KERCALL_LOG) {
            assert_true(trace_kercall_on(number) && !trace_kercall_slow(number));
            assert_false(trace_threads_limit_kercall(number));
        }
    }
    assert_int_equal(f->state_fast, f->state_on & ~f->state_slow);
    assert_int_equal(f->state_long & ~(f->state_on & f->state_wide), 0);
    assert_int_equal(f->state_long & trace_threads_limit_states(), 0);
    assert_int_equal(trace_user_wanted, fake.user_wanted);
    assert_int_equal(trace_user_wanted, (trace_state.running && user_any()) ||
                                            trace_bit(trace_site_probed, TRACE_EV_user_event));
    assert_true(!trace_gate_armed || (f->state_fast | f->state_long) == 0);
}

static long call(void *who, uint32_t cmd, const uint32_t args[4], void *data)
{
    struct trace_caller caller = {
        .owner = who, .pid = who == OWNER ? 1 : 2, .tid = 1, .able = true, .name = "tracelogger"};

    trace_interrupt_hold(); /* as the kernel's long calls do */
    long result = trace_control(&caller, cmd, args, data);
    trace_interrupt_release();

    modes_agree();
    return result;
}

long command_as(void *who, uint32_t cmd, uint32_t a0, uint32_t a1, void *data)
{
    return call(who, cmd, (const uint32_t[4]){a0, a1, 0, 0}, data);
}

long command_words(void *who, uint32_t cmd, const uint32_t args[4])
{
    return call(who, cmd, args, NULL);
}

void start_tracing(unsigned per_cpu, uint32_t mode)
{
    uint64_t paddr;

    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, per_cpu, 0, &paddr), 0);
    assert_int_equal(command(mode), 0);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
}

struct kymo_trace_loss loss_of(unsigned cpu)
{
    struct kymo_trace_loss loss = {0};

    assert_int_equal(command_as(OWNER, KYMO_TRACE_QUERYLOSS, cpu, 0, &loss), 0);
    return loss;
}

struct trace_ring *ring_of(unsigned cpu)
{
    return &trace_port_cpu_at(cpu)->ring;
}

unsigned look_state(unsigned cpu, unsigned i)
{
    return TRACE_WORD_STATE(ring_of(cpu)->buffers[i].word);
}

uint32_t look_sequence(unsigned cpu, unsigned i)
{
    return TRACE_WORD_SEQUENCE(ring_of(cpu)->buffers[i].word);
}

unsigned look_count(unsigned cpu, unsigned state)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ring_of(cpu)->count; i++) {
        n += look_state(cpu, i) == state;
    }
    return n;
}

const struct trace_slot *look_slots(unsigned cpu, unsigned i)
{
    return (const struct trace_slot *)trace_ring_data(ring_of(cpu), i);
}

unsigned look_active_slots(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);
    long slots = command(_NTO_TRACE_QUERYEVENTS);

    fake_back(back);
    assert_in_range(slots, 0, TRACE_BUFFER_SLOTS);
    return (unsigned)slots;
}

/* ---- slots ------------------------------------------------------------------------- */

static uint64_t slot_time(struct scan *scan, const struct trace_slot *slot)
{
    if (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL &&
        TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_TIME) {
        assert_int_equal(TRACE_GET_STRUCT(slot->header), TRACE_STRUCT_S);
        assert_int_equal(slot->d2, slot->time);
        scan->high = slot->d1;
    }
    return (uint64_t)scan->high << 32 | slot->time;
}

/* Times rise from event to event. */
static void check_time(struct scan *scan, uint64_t time)
{
    assert_true(time > scan->last_time);
    scan->last_time = time;
}

void scan_begin(struct scan *scan, unsigned cpu, const struct trace_slot *slots, unsigned nslots,
                uint32_t sequence, uint32_t count)
{
    assert_in_range(nslots, 2, TRACE_BUFFER_SLOTS);
    assert_int_equal(slots[0].header, cpu << 24 | TRACE_CLASS_CONTROL << 10 | TRACE_CONTROL_BUFFER);
    assert_int_equal(slots[0].d1, sequence);
    assert_int_equal(slots[0].d2, count);
    assert_int_equal(slots[1].header, cpu << 24 | TRACE_CLASS_CONTROL << 10 | TRACE_CONTROL_TIME);
    assert_true(slots[1].time > slots[0].time); /* both in the same high word */
    scan->slot = slots;
    scan->end = slots + nslots;
    scan->cpu = cpu;
    scan->high = slots[1].d1;
}

static void add_words(struct seen *e, const struct trace_slot *slot)
{
    assert_in_range(e->nwords, 0, WORDS_MAX - 2);
    e->words[e->nwords++] = slot->d1;
    e->words[e->nwords++] = slot->d2;
    e->slots++;
}

/* The slots after a combine event's first one: same header and time, none of another event. */
static void scan_combine(struct scan *scan)
{
    uint32_t time = scan->slot[-1].time, structure;

    do {
        const struct trace_slot *slot = scan->slot++;

        assert_true(slot < scan->end); /* straddles nothing */
        structure = TRACE_GET_STRUCT(slot->header);
        assert_true(structure == TRACE_STRUCT_CC || structure == TRACE_STRUCT_CE);
        assert_int_equal(slot->header & ~TRACE_STRUCT_MASK, scan->seen.header);
        assert_int_equal(slot->time, time);
        add_words(&scan->seen, slot);
    } while (structure == TRACE_STRUCT_CC);
}

bool scan_next(struct scan *scan)
{
    struct seen *e = &scan->seen;
    const struct trace_slot *slot = scan->slot;

    if (slot == scan->end) {
        return false;
    }
    scan->slot++;
    e->header = slot->header & ~TRACE_STRUCT_MASK;
    e->class = TRACE_GET_CLASS(slot->header);
    e->number = TRACE_GET_EVENT(slot->header);
    e->cpu = TRACE_GET_CPU(slot->header);
    e->nwords = e->slots = 0;
    assert_int_equal(e->cpu, scan->cpu);
    assert_int_equal(slot->header & 0x00ff8000, 0);
    assert_true((e->class >= TRACE_CLASS_CONTROL && e->class <= TRACE_CLASS_COMM) ||
                e->class == TRACE_CLASS_KYMO_CALL);
    e->time = slot_time(scan, slot);
    check_time(scan, e->time);
    add_words(e, slot);
    if (TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_S) {
        assert_int_equal(TRACE_GET_STRUCT(slot->header), TRACE_STRUCT_CB);
        scan_combine(scan);
    }
    return true;
}

/* ---- sums -------------------------------------------------------------------------- */

static void tally_event(struct tally *tally, const struct seen *e)
{
    if (e->class != TRACE_CLASS_CONTROL) {
        tally->events[e->class]++;
    } else if (e->number == TRACE_CONTROL_DROPPED) {
        unsigned reason = e->words[0] >> 8, class = e->words[0] & 0xff;

        assert_in_range(reason, 1, KYMO_TRACE_REASONS - 1);
        assert_in_range(class, 1, TRACE_CLASS_MAX - 1);
        assert_int_not_equal(e->words[1], 0);
        tally->dropped[reason][class] += e->words[1];
    } else if (e->number == TRACE_CONTROL_TIME) {
        tally->times++;
    } else {
        assert_int_equal(e->number, TRACE_CONTROL_BUFFER);
    }
}

void tally_add(struct tally *tally, unsigned cpu, const struct trace_slot *slots, unsigned nslots,
               uint32_t sequence, bool active)
{
    struct scan scan = {.last_time = tally->last};

    scan_begin(&scan, cpu, slots, nslots, sequence, active ? 0 : nslots);
    tally->first = tally->first ? tally->first : slots[0].time;
    while (scan_next(&scan)) {
        tally_event(tally, &scan.seen);
    }
    tally->last = scan.last_time;
}

unsigned take_all(struct tally *tally)
{
    struct kymo_trace_buffer b;
    uint64_t last[FAKE_CPUS] = {0};
    unsigned n = 0;
    long result;

    while ((result = command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b)) == 0) {
        tally->last = last[b.cpu];
        tally_add(tally, b.cpu, look_slots(b.cpu, b.index % ring_of(b.cpu)->count), b.slots,
                  b.sequence, false);
        last[b.cpu] = tally->last;
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
        n++;
    }
    assert_int_equal(result, -EAGAIN);
    return n;
}

void start_one(void)
{
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
}

void end_tracing(void)
{
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    assert_int_equal(fake.blocks, 0);
}

void insert_events(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(trace_user_simple(7, i, 0), 0);
    }
}

uint64_t look_paddr;
struct kymo_trace_buffer look_taken;

long alloc_as(void *who, uint32_t n)
{
    return command_as(who, _NTO_TRACE_ALLOCBUFFER, n, 0, &look_paddr);
}

long take_as(void *who)
{
    return command_as(who, KYMO_TRACE_TAKEBUFFER, 0, 0, &look_taken);
}

const struct seen *the_event(void)
{
    static struct scan scan;
    struct kymo_trace_buffer b;
    static struct seen e;
    unsigned events = 0;

    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
    scan = (struct scan){.last_time = 0};
    scan_begin(&scan, 0, look_slots(0, b.index), b.slots, b.sequence, b.slots);
    while (scan_next(&scan)) {
        e = scan.seen;
        events += e.class != TRACE_CLASS_CONTROL;
    }
    assert_int_equal(events, 1);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    return &e;
}
