/* SPDX-License-Identifier: BSD-2-Clause */
/* Assertions of the trace: one breach of each kind is planted, and the assertion that it breaks
 * stops the trace there. */
#include "test/trace/look.h"

#include <string.h>

#include "test/tool/failed.h"
#include "trace/log.h"
#include "trace/loss.h"
#include "trace/trace.h"

#define COUNT 4

static struct trace_ring ring;
static uint64_t tables[COUNT * 16];
static uint8_t memory[COUNT * 64];
static struct trace_cpu *cpu;

static int begin(void **state)
{
    uint32_t index;

    (void)state;
    memset(tables, 0, sizeof(tables));
    memset(&ring, 0, sizeof(ring));
    trace_ring_init(&ring, memory, COUNT, 64, tables);
    assert_int_equal(trace_ring_obtain(&ring, false, &index), TRACE_FOUND_FREE);
    trace_ring_begin(&ring, index);
    fake_boot(1);
    cpu = trace_port_cpu_at(0);
    return 0;
}

/* ---- I1: at most one buffer is ACTIVE; who owns which ------------------------------ */

static void begins(void)
{
    trace_ring_begin(&ring, 1);
}

static void closes(void)
{
    trace_ring_close(&ring);
}

static void obtains(void)
{
    uint32_t index;

    trace_ring_obtain(&ring, false, &index);
}

static void discards(void)
{
    trace_ring_discard(&ring, 0);
}

static void a_second_buffer_becomes_active(void **state)
{
    (void)state;
    assert_true(failed_as(begins, "ring->active == TRACE_NONE"));
}

static void a_busy_buffer_is_written(void **state)
{
    (void)state;
    closes();
    assert_int_equal(trace_ring_take(&ring), 0);
    ring.active = TRACE_NONE;
    ring.buffers[1].word = TRACE_WORD(7, TRACE_BUSY);
    assert_true(failed_as(begins, "TRACE_ACTIVE"));
    assert_true(failed_as(discards, "TRACE_BUSY"));
}

static void a_buffer_is_closed_that_is_not_active(void **state)
{
    (void)state;
    ring.buffers[0].word = TRACE_WORD(1, TRACE_READY);
    assert_true(failed_as(closes, "TRACE_WORD(sequence, TRACE_ACTIVE)"));
    ring.active = TRACE_NONE;
    assert_true(failed_as(closes, "index < ring->count"));
}

static void the_queue_has_a_buffer_that_is_not_free(void **state)
{
    (void)state;
    ring.buffers[1].word = TRACE_WORD(1, TRACE_READY);
    assert_true(failed_as(obtains, "TRACE_FREE"));
}

static void a_buffer_becomes_free_twice(void **state)
{
    (void)state;
    assert_false(failed_in(discards));
    assert_true(failed_as(discards, "TRACE_FREE"));
}

/* ---- I3, I4, I5, I7: what is in them ----------------------------------------------- */

static void an_event_comes(void)
{
    insert_events(1);
}

static void flushes(void)
{
    uintptr_t irq = trace_port_irq_save();

    trace_log_flush(cpu);
    trace_port_irq_restore(irq);
}

static void flushes_unmasked(void)
{
    trace_log_flush(cpu);
}

static void start(void)
{
    start_tracing(COUNT, _NTO_TRACE_SETLINEARMODE);
    an_event_comes();
    assert_non_null(cpu->end);
}

static void the_first_slots_are_overwritten(void **state)
{
    (void)state;
    start();
    struct trace_slot *first = cpu->end - TRACE_BUFFER_SLOTS;
    first->d1++;
    assert_true(failed_as(flushes, "buffer_sound(cpu)"));
    first->d1--;
    first[1].header++;
    assert_true(failed_as(flushes, "buffer_sound(cpu)"));
    first[1].header--;
    assert_false(failed_in(flushes));
}

static void a_long_event_comes(void)
{
    static const uint32_t words[5];
    uintptr_t irq = trace_port_irq_save();

    trace_log_words(TRACE_CLASS_USER, 1, &(struct trace_words){words, 5, NULL, 0});
    trace_port_irq_restore(irq);
}

static void the_active_buffer_is_taken(void **state)
{
    (void)state;
    start();
    volatile uint32_t *word = &cpu->ring.buffers[cpu->ring.active].word;
    uint32_t was = *word;

    assert_false(failed_in(a_long_event_comes));
    *word = TRACE_WORD(cpu->ring.sequence, TRACE_BUSY);
    assert_true(failed_as(a_long_event_comes, "TRACE_ACTIVE"));
    *word = was;
}

static void an_event_is_counted_twice(void **state)
{
    (void)state;
    start();
    cpu->count[TRACE_CLASS_USER]++;
    assert_true(failed_as(flushes, "log_counts_agree(cpu)"));
    cpu->count[TRACE_CLASS_USER]--;
    assert_false(failed_in(flushes));
}

static void the_cursor_leaves_its_buffer(void **state)
{
    (void)state;
    start();
    cpu->cursor = cpu->end + 1;
    assert_true(failed_as(flushes, "buffer_sound(cpu)"));
}

static void interrupts_are_not_masked(void **state)
{
    (void)state;
    start();
    assert_true(failed_as(flushes_unmasked, "trace_port_irq_masked()"));
}

static void takes_a_loss(void)
{
    uint32_t number = 0, reason_class, events;

    trace_loss_next(&cpu->loss, &number, &reason_class, &events);
}

static void losses_do_not_add_up(void **state)
{
    (void)state;
    trace_loss_add(&cpu->loss, KYMO_DROP_NOBUFFER, TRACE_CLASS_USER, 3);
    assert_false(failed_in(takes_a_loss));
    trace_loss_add(&cpu->loss, KYMO_DROP_NOBUFFER, TRACE_CLASS_USER, 3);
    cpu->loss.lost[TRACE_CLASS_USER]++;
    assert_true(failed_as(takes_a_loss, "loss_sound(loss)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_second_buffer_becomes_active, begin),
        cmocka_unit_test_setup(a_busy_buffer_is_written, begin),
        cmocka_unit_test_setup(a_buffer_is_closed_that_is_not_active, begin),
        cmocka_unit_test_setup(the_queue_has_a_buffer_that_is_not_free, begin),
        cmocka_unit_test_setup(a_buffer_becomes_free_twice, begin),
        cmocka_unit_test_setup(the_first_slots_are_overwritten, begin),
        cmocka_unit_test_setup(the_active_buffer_is_taken, begin),
        cmocka_unit_test_setup(an_event_is_counted_twice, begin),
        cmocka_unit_test_setup(the_cursor_leaves_its_buffer, begin),
        cmocka_unit_test_setup(interrupts_are_not_masked, begin),
        cmocka_unit_test_setup(losses_do_not_add_up, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
