/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_check() (kernel/observe/debug/): finds nothing wrong with a world as it is, and finds each
 * breach that is planted. A breach is planted in a child process, which then ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/arch/entry.h"
#include "kernel/base/cpu.h"
#include "kernel/observe/debug/check.h"
#include "test/kernel/world/world.h"

#define TEXT 4096

/* sys/wait.h brings another struct sigevent. */
pid_t waitpid(pid_t pid, int *status, int options);

static struct thread *server, *client, *idler;
static struct channel *channel;
static struct connection *connection;

static int setup(void **state)
{
    (void)state;
    server = world_process(0, 20, DATA);
    client = world_process(0, 10, DATA);
    idler = world_thread(client, 9);
    assert_int_equal(CALL(server, CHANNEL_CREATE, 0), 1);
    assert_int_equal(CALL(server, CHANNEL_CREATE, 0), 2);
    for (unsigned chid = 1; chid <= 2; chid++) {
        assert_int_equal(CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, chid, 0, 0),
                         chid - 1);
    }
    channel = server->proc->channels[0];
    connection = client->proc->fds[0];
    /* Two wait to send; the server waits on its other channel. */
    assert_int_equal(CALL(client, MSG_SENDV, 0, AT(0), LEN(8), AT(4), LEN(8)), BLOCKED);
    assert_int_equal(CALL(idler, MSG_SENDV, 0, AT(0), LEN(8), AT(4), LEN(8)), BLOCKED);
    assert_int_equal(CALL(server, MSG_RECEIVEV, 2, AT(0), LEN(8), 0), BLOCKED);
    fake_paid = (struct fake_paid){client->proc->pid, 2, 100, 4096};
    assert_true(quota_charge(&client->proc->quota, KYMO_LIMIT_CONSUMERS, 2));
    assert_true(quota_charge(&client->proc->quota, KYMO_LIMIT_TRACE, 4196));
    world_check();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    quota_release(&client->proc->quota, KYMO_LIMIT_CONSUMERS, 2);
    quota_release(&client->proc->quota, KYMO_LIMIT_TRACE, 4196);
    fake_paid = (struct fake_paid){0};
    world_end();
    return 0;
}

/* ---- breaches ----------------------------------------------------------------------- */

static void a_broken_list(void)
{
    channel->senders.next->prev = &channel->receivers;
}

static void senders_out_of_order(void)
{
    client->priority = client->base_priority = 5;
}

static void a_sender_elsewhere(void)
{
    list_remove(&idler->ready);
}

static void a_wrong_state(void)
{
    client->state = STATE_REPLY;
}

static void a_receiver_elsewhere(void)
{
    list_remove(&server->ready);
}

static void a_priority_from_nowhere(void)
{
    server->priority++;
}

static void an_inheritance_without_a_waiter(void)
{
    client->sync_priority = client->priority;
}

static void a_running_thread_without_a_cpu(void)
{
    list_remove(&server->ready);
    server->state = STATE_RUNNING;
}

static void a_cpu_that_runs_a_waiting_thread(void)
{
    cpus[0].current = client;
}

static void a_held_thread_that_will_not_stop(void)
{
    server->flags |= THREAD_HELD;
}

static void a_connection_to_no_channel(void)
{
    list_remove(&connection->link);
}

static void a_channel_of_another(void)
{
    channel->proc = client->proc;
}

static void a_thread_too_many(void)
{
    client->proc->nthreads++;
}

static void a_cache_too_large(void)
{
    client->out_cache.covered++;
}

static void fill_from_what_may_only_be_read(void *unused)
{
    (void)unused;
    vm_cache_fill(&client->in_cache, client->proc, RO, 1, KYMO_PROT_READ);
}

static void a_cache_without_rights(void)
{
    world_do(0, fill_from_what_may_only_be_read, NULL);
}

static void a_zombie_with_threads(void)
{
    client->proc->zombie = true;
}

static void a_mutex_without_an_owner(void)
{
    list_remove(&idler->ready);
    idler->state = STATE_MUTEX;
    list_insert_before(&idler->proc->sync_waiters, &idler->ready);
}

static void a_charge_for_nothing(void)
{
    client->proc->quota.used[KYMO_LIMIT_TIMERS]++;
}

static void a_charge_that_is_missing(void)
{
    client->proc->quota.used[KYMO_LIMIT_CONNECTIONS]--;
}

static void a_charge_that_the_system_lacks(void)
{
    quota_system.used[KYMO_LIMIT_CHANNELS]--;
}

static void a_consumer_too_many(void)
{
    client->proc->quota.used[KYMO_LIMIT_CONSUMERS]++;
}

static void a_consumer_too_few(void)
{
    client->proc->quota.used[KYMO_LIMIT_CONSUMERS]--;
}

static void bytes_of_the_log_that_nobody_gave_back(void)
{
    fake_paid.log_bytes = 0;
}

static void bytes_of_a_consumer_without_a_charge(void)
{
    fake_paid.bytes += 8;
}

static void a_name_that_is_not_there(void)
{
    server->proc->quota.used[KYMO_LIMIT_NAMES]++;
}

/* ---- a CPU that leaves the kernel ---------------------------------------------------- */

/* A thread that runs, on what is then this CPU. */
static struct thread *runs(void)
{
    struct thread *t = world_process(0, 30, DATA);

    fake_cpu = (unsigned)world_cpu_of(t);
    return t;
}

static void an_interrupt_that_keeps_the_lock(void)
{
    struct thread *t = runs();

    kernel_lock();
    kernel_exit(t);
}

static void an_interrupt_that_keeps_the_mask(void)
{
    struct thread *t = runs();

    arch_irq_save();
    kernel_exit(t);
}

static void an_interrupt_that_stays_in_a_probe(void)
{
    static const uint64_t words[1];
    struct thread *t = runs();

    arch_cpu()->trace.fired = words;
    kernel_exit(t);
}

static void a_call_that_keeps_the_mask(void)
{
    struct thread *t = runs();

    arch_irq_save();
    kernel_call(t, KER_SCHED_YIELD);
}

static void a_call_without_the_lock_that_keeps_it(void)
{
    struct thread *t = runs();

    kernel_lock();
    kernel_call(t, KER_NOP);
}

static const struct {
    void (*plant)(void);
    const char *says;
} breaches[] = {
    {an_interrupt_that_keeps_the_lock, "kernel_may_leave()"},
    {an_interrupt_that_keeps_the_mask, "kernel_may_leave()"},
    {an_interrupt_that_stays_in_a_probe, "kernel_may_leave()"},
    {a_call_that_keeps_the_mask, "kernel_may_leave()"},
    {a_call_without_the_lock_that_keeps_it, "kernel_may_leave()"},
    {a_broken_list, "list of a channel's threads is broken"},
    {senders_out_of_order, "in a channel's queue: state"},
    {a_sender_elsewhere, "in SEND is nowhere"},
    {a_wrong_state, "in a channel's queue: state"},
    {a_receiver_elsewhere, "in RECEIVE is nowhere"},
    {a_priority_from_nowhere, "priority 21 of 20"},
    {an_inheritance_without_a_waiter, "inherits 10, should 0"},
    {a_running_thread_without_a_cpu, "and no CPU runs it"},
    {a_cpu_that_runs_a_waiting_thread, "and a CPU runs it"},
    {a_held_thread_that_will_not_stop, "will not stop"},
    {a_connection_to_no_channel, "leads to no channel"},
    {a_channel_of_another, "isn't its own"},
    {a_thread_too_many, "has 2 threads, counted as 3"},
    {a_cache_too_large, "user mapping cache of"},
    {a_cache_without_rights, "user mapping cache of"},
    {a_zombie_with_threads, "zombie"},
    {a_mutex_without_an_owner, "waits for a wrong owner"},
    {a_charge_for_nothing, "is charged for 1 of limit 4, and has 0"},
    {a_charge_that_is_missing, "is charged for 1 of limit 3, and has 2"},
    {a_consumer_too_many, "is charged for 3 of limit 11, and has 2"},
    {a_consumer_too_few, "is charged for 1 of limit 11, and has 2"},
    {bytes_of_the_log_that_nobody_gave_back, "is charged for 4196 of limit 12, and has 100"},
    {bytes_of_a_consumer_without_a_charge, "is charged for 4196 of limit 12, and has 4204"},
    {a_name_that_is_not_there, "is charged for 1 of limit 6, and has 0"},
    {a_charge_that_the_system_lacks, "an account is charged for 1 of limit 2, those inside for 2"},
};

/* What a process says that plants the breach and then checks. */
static void breach(void (*plant)(void), char text[TEXT])
{
    int ends[2], status;
    size_t length = 0;
    ssize_t got;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (plant) {
            plant();
        }
        kernel_check();
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + length, TEXT - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status != 0, plant != NULL);
}

static void each_breach_is_found(void **state)
{
    char text[TEXT];

    (void)state;
    breach(NULL, text);
    assert_string_equal(text, "");
    for (unsigned i = 0; i < sizeof(breaches) / sizeof(breaches[0]); i++) {
        breach(breaches[i].plant, text);
        if (!strstr(text, "kernel_panic: ") || !strstr(text, breaches[i].says)) {
            fail_msg("breach %u, not \"%s\": %.300s", i, breaches[i].says, text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_breach_is_found, setup, teardown),
    };

    return cmocka_run_group_tests(tests, world_group, NULL);
}
