/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every row of trace/events.def: its hook, called with values of the whole width of each type, fast
 * and wide, in the 32-bit and the 64-bit form, comes back from the host's reader with the row's
 * name, argument names and values, decoded by the table text that a capture carries; and what D
 * gets of it (trace/fire.c). Kernel calls: calls_test.c.
 */
#include "test/trace/capture.h"

#include <stdio.h>
#include <string.h>

#include "trace/event_args.h"
#include "trace/event_text.h"
#include "trace/hook.h"

/* ---- values: from the argument's name, so the fast and the wide form must agree ---- */

static bool big;         /* pointers have a high half */
static uint64_t kernels; /* instructions: the upper half of the address, 0 or the kernel's */
static const char *text; /* of string arguments */

static uint64_t value64(const char *name)
{
    uint64_t h = 0xcbf29ce484222325ull;

    while (*name) {
        h = (h ^ (uint8_t)*name++) * 0x100000001b3ull;
    }
    return h | 0x8000000180000001ull; /* high bits and low ones, in both halves */
}

static uint64_t value_of(char type, const char *name)
{
    uint64_t value = value64(name);

    if (strcmp(name, "interrupt") == 0) {
        return 77; /* filtered singly: a number below 256 */
    }
    switch (type) {
    case 'E':
    case 'X':
        return value;
    case 'P':
        return big ? value : (uint32_t)value;
    case 'I':
        return big ? value : kernels << 32 | ((uint32_t)value & ~1u);
    default:
        return (uint32_t)value;
    }
}

#define A(type, name) GIVE_##type(#name)
#define GIVE_D(name) (uint32_t) value_of('D', name)
#define GIVE_H(name) (uint32_t) value_of('H', name)
#define GIVE_E(name) value_of('E', name)
#define GIVE_X(name) value_of('X', name)
#define GIVE_P(name) (uintptr_t) value_of('P', name)
#define GIVE_I(name) (uintptr_t) value_of('I', name)
#define GIVE_N(name) text

/* ---- rows -------------------------------------------------------------------------- */

struct arg {
    char type;
    const char *name;
};
#define ARGS_MAX 12

struct row {
    unsigned class, number, site; /* site: TRACE_EV_COUNT for states, which D gets elsewhere */
    bool same;                    /* fast and wide */
    const char *name;
    void (*emit)(void);
    struct arg fast[ARGS_MAX], wide[ARGS_MAX];
};

#define STATE_WORDS(fast, wide) TRACE_ARGS(fast, wide)
#include "test/trace/fire_rows.inc.h"

#define EVENT(...)
#define EVENT_DUMPED(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    static void dump_##name(void) \
    { \
        TRACE_DUMP(name, TRACE_ARGS(fast, wide)); \
    }
#define EVENT_STATE(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    static void dump_##name(void) \
    { \
        trace_dump_thread_state(number, STATE_WORDS(fast, wide)); \
    }
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_DUMPED
#undef EVENT_STATE
#undef EVENT_CONTROL

#undef A
#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define A(type, name) LIST(#type[0], #name)
#define IS_SAME true
#define IS_WIDE(...) false
#define ROW(hook, CLASS, number, site, NAME, fast, wide) \
    {TRACE_CLASS_##CLASS, \
     number, \
     site, \
     IS_##wide, \
     #NAME, \
     hook, \
     LIST(TRACE_ARGS(fast, SAME)), \
     LIST(TRACE_ARGS(fast, wide))},
static const struct row rows[] = {
#define EVENT(n, CLASS, number, EXT, NAME, fast, wide, doc) \
    ROW(fire_##n, CLASS, number, TRACE_EV_##n, NAME, fast, wide)
#define EVENT_STATE(n, CLASS, number, EXT, NAME, fast, wide, doc) \
    ROW(fire_##n, CLASS, number, TRACE_EV_COUNT, NAME, fast, wide)
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* What a state dump writes: the same words, with the mark. */
static const struct row dumped_rows[] = {
#define EVENT(...)
#define EVENT_DUMPED(n, CLASS, number, EXT, NAME, fast, wide, doc) \
    ROW(dump_##n, CLASS, number, TRACE_EV_COUNT, NAME, fast, wide)
#define EVENT_STATE EVENT_DUMPED
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_DUMPED
#undef EVENT_STATE
#undef EVENT_CONTROL
};
#define DUMPED_ROWS (sizeof(dumped_rows) / sizeof(dumped_rows[0]))

static bool has_type(const struct arg *args, char type)
{
    for (; args->name; args++) {
        if (args->type == type) {
            return true;
        }
    }
    return false;
}

/* ---- there and back ---------------------------------------------------------------- */

static void check_field(const struct kev_field *field, const struct arg *arg)
{
    bool wide = arg->type == 'E' || arg->type == 'X' || (arg->type == 'P' && big) ||
                (arg->type == 'I' && (big || kernels));

    assert_string_equal(field->arg->name, arg->name);
    assert_int_equal(field->arg->type, arg->type);
    if (arg->type == 'N') {
        size_t len = strlen(text) < TRACE_TEXT_BYTES ? strlen(text) : TRACE_TEXT_BYTES - 1;

        assert_int_equal(field->len, len);
        assert_memory_equal(field->text, text, len);
    } else {
        assert_int_equal(field->wide, wide);
        assert_true(field->value == value_of(arg->type, arg->name));
    }
}

static void check_event(struct kev *kev, const struct row *row, const struct arg *args,
                        unsigned cpu)
{
    struct kev_event event;
    struct kev_field fields[KEV_ARGS_MAX];

    assert_true(capture_next(kev, &event));
    assert_int_equal(event.cpu, cpu);
    assert_int_equal(event.dumped, row >= dumped_rows && row < dumped_rows + DUMPED_ROWS);
    assert_int_equal(event.class, row->class);
    assert_int_equal(event.number,
                     row->number | (big && (has_type(args, 'P') || has_type(args, 'I')) ? 512 : 0));
    const struct kev_desc *desc = kev_describe(kev, event.class, event.number);
    assert_non_null(desc);
    assert_string_equal(desc->name, row->name);
    unsigned n = kev_decode(&event, desc, fields);
    for (unsigned i = 0; i < n; i++) {
        assert_non_null(args[i].name);
        check_field(&fields[i], &args[i]);
    }
    assert_null(args[n].name);
}

static void round_trip(const struct row *row, bool wide, unsigned cpu)
{
    fake_boot(4);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(wide ? _NTO_TRACE_SETALLCLASSESWIDE : _NTO_TRACE_SETALLCLASSESFAST),
                     0);
    struct fake_where back = fake_on(cpu);
    row->emit();
    fake_back(back);
    assert_int_equal(loss_of(cpu).made, 1);
    struct kev *kev = capture_open();
    struct kev_event none;
    check_event(kev, row, wide ? row->wide : row->fast, cpu);
    assert_false(capture_next(kev, &none));
    kev_close(kev);
}

static void every_row_comes_back(void **state)
{
    (void)state;
    text = "a name";
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned form = 0; form < 8; form++) {
            big = form & 1;
            kernels = form & 4 ? TRACE_PORT_CODE_HIGH : 0;
            round_trip(&rows[i], form >> 1 & 1, i % 4);
        }
        for (unsigned form = 0; i < DUMPED_ROWS && form < 8; form++) {
            big = form & 1;
            round_trip(&dumped_rows[i], form >> 1 & 1, i % 4);
        }
    }
    big = false;
    kernels = 0;
}

/* Strings of every length that matters: to the word, to the slot, to the cut at 127 bytes. */
static void strings_of_every_length(void **state)
{
    static char letters[200];

    (void)state;
    for (unsigned len = 0; len <= 140; len += len < 20 || len > 120 ? 1 : 10) {
        memset(letters, 'a' + (int)(len % 26), len);
        letters[len] = '\0';
        text = letters;
        for (unsigned i = 0; i < ROWS; i++) {
            if (has_type(rows[i].wide, 'N')) {
                round_trip(&rows[i], true, 0);
            }
        }
    }
}

/* What readers of QNX's know of an interrupt: one slot, its number, the low half of the address. No
 * address is lost: what does not fit that form takes another one. */
static void an_interrupts_address(void **state)
{
    static const uint32_t highs[] = {0, TRACE_PORT_CODE_HIGH, 1, 0x7fffffff, UINT32_MAX};
    static const uint32_t lows[] = {0, 4, 5, 1, 0x40a00124, 0x80000000, UINT32_MAX - 1, UINT32_MAX};
    struct kev_field fields[KEV_ARGS_MAX];
    struct kev_event event;

    (void)state;
    for (unsigned i = 0; i < sizeof(highs) / sizeof(highs[0]); i++) {
        for (unsigned j = 0; j < sizeof(lows) / sizeof(lows[0]); j++) {
            uint64_t ip = (uint64_t)highs[i] << 32 | lows[j];
            bool simple = i < 2 && lows[j] % 2 == 0;

            fake_boot(1);
            start_tracing(2, _NTO_TRACE_SETLINEARMODE);
            trace_int_entry(33, (uintptr_t)ip);
            struct kev *kev = capture_open();
            assert_true(capture_next(kev, &event));
            assert_int_equal(event.number, simple ? 1 : 1 | 512);
            assert_int_equal(event.combined, !simple);
            assert_int_equal(kev_word(&event, 0), 33);
            assert_int_equal(kev_word(&event, 1) & ~1u, lows[j] & ~1u);
            assert_int_equal(kev_decode(&event, kev_describe(kev, 3, event.number), fields), 2);
            assert_true(fields[1].value == ip);
            kev_close(kev);
        }
    }
}

/* All rows one after the other, fast and wide mixed, on four CPUs, into one capture. */
static void all_rows_in_one_capture(void **state)
{
    struct kev_event none;

    (void)state;
    text = "one of many";
    fake_boot(4);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    for (unsigned i = 0; i < ROWS; i++) {
        struct fake_where back;

        assert_int_equal(
            command(i % 3 ? _NTO_TRACE_SETALLCLASSESWIDE : _NTO_TRACE_SETALLCLASSESFAST), 0);
        for (unsigned cpu = 0; cpu < 4; cpu++) {
            fake.clock[cpu] = 1000000 + 100000ull * i;
        }
        fake_pass(i % 4, 10);
        back = fake_on(i % 4);
        rows[i].emit();
        fake_back(back);
    }
    struct kev *kev = capture_open();
    for (unsigned i = 0; i < ROWS; i++) {
        check_event(kev, &rows[i], i % 3 ? rows[i].wide : rows[i].fast, i % 4);
    }
    assert_false(capture_next(kev, &none));
    kev_close(kev);
}

/* Off: no event, and nothing is counted. */
static void a_row_that_is_off_makes_nothing(void **state)
{
    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0);
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i].emit();
    }
    assert_int_equal(loss_of(0).made, 0);
    assert_int_equal(look_active_slots(0), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- D ----------------------------------------------------------------------------- */

enum { WORDS = 5 };

static void check_words(const struct row *row)
{
    const struct arg *arg = row->wide;

    assert_int_equal(fake.fired_site, row->site);
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t expected = arg->name ? value_of(arg->type, arg->name) : 0;
        assert_int_equal(fake.fired_words[i],
                         arg->type == 'N' ? (uint64_t)(uintptr_t)text : expected);
        arg += arg->name != NULL;
    }
}

/* Fires it with D on its site; true: D was called. */
static bool probed(const struct row *row)
{
    unsigned before = fake.fired;

    row->emit();
    assert_in_range(fake.fired - before, 0, 1);
    return fake.fired != before;
}

static void listen(unsigned site, bool on)
{
    trace_site_probe(site, on);
    assert_true(fake.unsynced);
    trace_sites_settle();
    assert_false(fake.unsynced);
}

static void a_probe_gets_every_word(void **state)
{
    (void)state;
    text = "text";
    big = true;
    fake_boot(1);
    for (unsigned i = 0; i < ROWS; i++) {
        if (rows[i].site != TRACE_EV_COUNT) {
            assert_false(probed(&rows[i]));
            listen(rows[i].site, true);
            assert_true(probed(&rows[i]));
            check_words(&rows[i]);
            listen(rows[i].site, false);
            assert_false(probed(&rows[i]));
        }
    }
    assert_int_equal(loss_of(0).made, 0);
}

static void another_event(void)
{
    assert_true(probed(&rows[1]));
}

/* An event inside a clause leaves it its stamp, and the interrupts as they were. */
static void an_event_inside_a_clause_takes_nothing_from_it(void **state)
{
    (void)state;
    text = "text";
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    listen(rows[0].site, true);
    listen(rows[1].site, true);
    fake.inside = another_event;
    rows[0].emit();
    assert_null(fake.inside);
    assert_int_equal(trace_port_cpu_at(0)->stamp, 0);
    assert_false(trace_port_irq_masked());
    listen(rows[0].site, false);
    listen(rows[1].site, false);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* D's time of an event is its stamp, if the log has it; not if it is lost, as a nested one is. */
static void a_probe_has_the_stamp_of_its_event(void **state)
{
    (void)state;
    text = "text";
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    struct trace_cpu *cpu = trace_port_cpu_at(0);
    for (unsigned i = 0; i < 2 * ROWS; i++) {
        const struct row *row = &rows[i % ROWS];
        bool lost = i >= ROWS;
        if (row->site == TRACE_EV_COUNT) {
            continue;
        }
        listen(row->site, true);
        struct trace_slot *limit = cpu->limit, *full = cpu->full;
        if (lost) {
            cpu->limit = cpu->full = NULL;
            cpu->busy = true;
        }
        assert_true(probed(row));
        if (lost) {
            cpu->limit = limit;
            cpu->full = full;
            cpu->busy = false;
        }
        assert_int_equal(fake.fired_stamp, lost ? 0 : trace_clock_last(cpu));
        assert_int_equal(cpu->stamp, 0);
        assert_false(trace_port_irq_masked());
        listen(row->site, false);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* The log gets what D is not for. */
static void a_thread_remembers_a_predicate(void **state)
{
    static const uint32_t predicate = 7;
    unsigned sites = 0;

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned site = rows[i].site;
        if (site == TRACE_EV_COUNT) {
            continue;
        }
        const uint32_t *nobody = trace_port_skips[site];
        listen(site, true);
        trace_port_skips[site] = &predicate;
        trace_host_remembered = predicate;
        assert_false(probed(&rows[i]));
        trace_host_remembered = predicate + 1;
        assert_true(probed(&rows[i]));
        trace_host_remembered = 0;
        trace_port_skips[site] = nobody;
        assert_true(probed(&rows[i]));
        listen(site, false);
        sites++;
    }
    assert_int_equal(loss_of(0).made, 3 * sites);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* "type:name,type:name" as the text has it. */
static void put_list(char *line, const struct arg *args)
{
    for (unsigned i = 0; args[i].name; i++) {
        sprintf(line + strlen(line), "%s%c:%s", i ? "," : "", args[i].type, args[i].name);
    }
}

static void check_line(const char *line)
{
    const char *at = strstr(trace_event_text, line);

    assert_non_null(at);
    assert_true(at == trace_event_text || at[-1] == '\n');
    assert_null(strstr(at + 1, line));
}

/* The text has a line for each row, CONTROL ones too, and no other. */
static void the_text_has_each_row_once(void **state)
{
    unsigned lines = 0;
    char line[400];

    (void)state;
    for (unsigned i = 0; i < trace_event_text_len; i++) {
        lines += trace_event_text[i] == '\n';
    }
    assert_int_equal(strlen(trace_event_text), trace_event_text_len);
    assert_int_equal(trace_event_text[trace_event_text_len - 1], '\n');
    assert_int_equal(lines, ROWS + 6);
    check_line("1 1 TIME H:msb,H:lsb =\n");
    check_line("1 2 BUFFER D:sequence,D:num_events =\n");
    check_line("1 8 DROPPED H:reason_class,D:events =\n");
    check_line("1 4 BUFFER_END H:d1,H:d2 =\n");
    check_line("1 16 CHECK H:sum_low,H:sum_high =\n");
    check_line("1 17 END D:buffers,D:last =\n");
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(line, sizeof(line), "%u %u %s ", rows[i].class, rows[i].number, rows[i].name);
        put_list(line, rows[i].fast);
        strcat(line, rows[i].same ? " =" : " ");
        if (!rows[i].same) {
            put_list(line, rows[i].wide);
        }
        strcat(line, "\n");
        check_line(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_comes_back),
        cmocka_unit_test(strings_of_every_length),
        cmocka_unit_test(an_interrupts_address),
        cmocka_unit_test(all_rows_in_one_capture),
        cmocka_unit_test(a_row_that_is_off_makes_nothing),
        cmocka_unit_test(a_probe_gets_every_word),
        cmocka_unit_test(a_probe_has_the_stamp_of_its_event),
        cmocka_unit_test(an_event_inside_a_clause_takes_nothing_from_it),
        cmocka_unit_test(a_thread_remembers_a_predicate),
        cmocka_unit_test(the_text_has_each_row_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
