/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/observe/retain_names.c: who lives is in the table with a right CRC, however many live, and
 * so are those that ended last, however often their places were used anew; after each entry that
 * is written, too, at most that of the process that changes is missing. It is built with small
 * tables and with large ones, in which more can live than there are spare entries.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "abi/retain.h"
#include "kernel/arch/aspace.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/retain.h"
#include "kernel/observe/retain_layout.h"
#include "test/kernel/fake/fake.h"
#include "test/tool/random.h"
#include "trace/crc32c.h"

#define BIRTHS (40000 / CONFIG_PROCESSES)
/* Places are used anew in any order here: one that ended early may be moved late. */
#define NOT_KEPT (2 * CONFIG_PROCESSES + CONFIG_THREADS)
#define KEPT (RETAIN_NAMES_MOST > NOT_KEPT ? RETAIN_NAMES_MOST - NOT_KEPT : 0)
#define BOOT 7

static struct kymo_retain_name table[RETAIN_NAMES_MOST];
static struct process processes[CONFIG_PROCESSES];
static struct thread threads[CONFIG_THREADS];
static int32_t ended[BIRTHS]; /* pids, in the order of their ends */
static unsigned ends;
static const struct process *changing;
static bool begins; /* not all that live are in the table yet */
static unsigned generations[CONFIG_PROCESSES];

struct process *process_in_slot(unsigned slot)
{
    return processes[slot].pid ? &processes[slot] : NULL;
}

unsigned process_slots(void)
{
    return CONFIG_PROCESSES;
}

unsigned thread_slots(void)
{
    return CONFIG_THREADS;
}

struct thread *thread_by_index(unsigned index)
{
    return threads[index].proc ? &threads[index] : NULL;
}

static const struct kymo_retain_name *find_thread(int32_t pid, int32_t tid)
{
    for (unsigned i = 0; i < RETAIN_NAMES_MOST; i++) {
        const struct kymo_retain_name *name = &table[i];
        const size_t from = offsetof(struct kymo_retain_name, boots);

        if (name->magic == KYMO_RETAIN_MAGIC && name->pid == pid && name->tid == tid &&
            name->boots == BOOT &&
            name->crc == trace_crc((const char *)name + from, sizeof(*name) - from)) {
            return name;
        }
    }
    return NULL;
}

static const struct kymo_retain_name *find(int32_t pid)
{
    return find_thread(pid, 0);
}

static void check_named(int32_t pid, bool over)
{
    const struct kymo_retain_name *name = find(pid);
    char want[16];

    snprintf(want, sizeof(want), "p%d", (int)pid);
    if (!name) {
        fail_msg("process %d has no name", (int)pid);
        return;
    }
    assert_string_equal(name->name, want);
    assert_int_equal(name->ended != 0, over);
}

static void check_all(unsigned kept)
{
    for (unsigned i = 0; i < CONFIG_PROCESSES; i++) {
        if (processes[i].pid && &processes[i] != changing) {
            check_named(processes[i].pid, false);
        }
    }
    for (unsigned i = ends > kept ? ends - kept : 0; i < ends; i++) {
        check_named(ended[i], true);
    }
}

/* An entry is whole in the memory: here a reset would find it. */
void arch_cache_clean(const void *start, size_t len)
{
    assert_int_equal(len, sizeof(table[0]));
    assert_true((const struct kymo_retain_name *)start >= table &&
                (const struct kymo_retain_name *)start < table + RETAIN_NAMES_MOST);
    if (!begins) {
        check_all(KEPT > 0 ? KEPT - 1 : 0);
    }
}

static void birth(unsigned slot, unsigned generation)
{
    struct process *proc = &processes[slot];

    memset(proc, 0, sizeof(*proc));
    proc->pid = (int32_t)(slot + 1 + generation * CONFIG_PROCESSES);
    proc->ppid = 1;
    snprintf(proc->name, sizeof(proc->name), "p%d", (int)proc->pid);
    changing = proc;
    retain_process(proc);
    proc->program.text_len = 100; /* it is loaded */
    retain_process(proc);
    changing = NULL;
}

static void end(unsigned slot)
{
    struct process *proc = &processes[slot];

    proc->dying = true;
    changing = proc;
    retain_process(proc);
    changing = NULL;
    ended[ends++] = proc->pid;
    proc->pid = 0;
}

static void those_that_ended_last_are_named(void **state)
{
    unsigned generation[CONFIG_PROCESSES] = {0};

    (void)state;
    random_start();
    fake_cycles = 1000;
    retain_names_begin(table, BOOT);
    while (ends < BIRTHS) {
        unsigned slot = random_below(CONFIG_PROCESSES);

        fake_cycles++;
        if (processes[slot].pid) {
            end(slot);
        } else {
            birth(slot, generation[slot]++);
        }
        check_all(KEPT);
    }
}

/* Another ring begins: who ended before it is in no event of its. */
static void a_new_table_knows_who_lives(void **state)
{
    (void)state;
    ends = 0;
    memset(table, 0xff, sizeof(table));
    begins = true;
    retain_names_begin(table, BOOT);
    begins = false;
    check_all(0);
    assert_null(find(ended[BIRTHS - 1]));
}

static unsigned windows_open;

/* Others run: some come, some end, in slots that the claim has been at, and in others. */
static void others_run(void)
{
    void (*window)(void) = fake_window;

    fake_window = NULL;
    windows_open++;
    for (unsigned i = 0; i < 3; i++) {
        unsigned slot = random_below(CONFIG_PROCESSES);

        fake_cycles++;
        if (!processes[slot].pid) {
            birth(slot, generations[slot]++);
        } else if (ends < BIRTHS) {
            end(slot);
        }
    }
    fake_window = window;
}

/* A claim is made in steps: who lives at its end has a name, whatever came in between. */
static void a_claim_in_steps_misses_nobody(void **state)
{
    (void)state;
    ends = 0;
    memset(processes, 0, sizeof(processes));
    memset(generations, 0, sizeof(generations));
    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot += 2) {
        birth(slot, generations[slot]++);
    }
    for (unsigned round = 0; round < 50; round++) {
        ends = windows_open = 0;
        memset(table, 0xff, sizeof(table));
        begins = true;
        fake_window = others_run;
        retain_names_begin(table, BOOT);
        fake_window = NULL;
        begins = false;
        assert_true(windows_open > CONFIG_PROCESSES / 4);
        check_all(0);
    }
}

static void check_threads(void)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct kymo_retain_name *name = find_thread(threads[i].pid, threads[i].tid);

        if (!name) {
            fail_msg("thread %u of %u has no name", i, (unsigned)CONFIG_THREADS);
            return;
        }
        assert_string_equal(name->name, threads[i].name);
        assert_int_equal(name->ended, 0);
    }
}

static void name_all_threads(void)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        struct thread *t = &threads[i];

        t->proc = &processes[i % CONFIG_PROCESSES];
        t->pid = t->proc->pid;
        t->tid = (int32_t)(i / CONFIG_PROCESSES + 1);
        t->index = (uint16_t)i;
        t->state = STATE_READY;
        snprintf(t->name, sizeof(t->name), "t%u", i);
        retain_thread(t);
    }
}

/* The tables are full, and one process after the other comes and ends in one slot. */
static void all_that_live_are_named(void **state)
{
    (void)state;
    ends = 0;
    memset(processes, 0, sizeof(processes));
    retain_names_begin(table, BOOT);
    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot++) {
        birth(slot, 0);
    }
    name_all_threads();
    check_all(0);
    check_threads();
    for (unsigned i = 1; i < 76u + 10; i++) {
        end(CONFIG_PROCESSES - 1);
        birth(CONFIG_PROCESSES - 1, i);
    }
    check_all(76u);
    check_threads();
    ends = 0;
    begins = true;
    retain_names_begin(table, BOOT); /* of a ring that begins now */
    begins = false;
    check_all(0);
    check_threads();
    memset(threads, 0, sizeof(threads));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_ended_last_are_named),
        cmocka_unit_test(a_new_table_knows_who_lives),
        cmocka_unit_test(a_claim_in_steps_misses_nobody),
        cmocka_unit_test(all_that_live_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
