/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated system's mutexes, condition variables and semaphores: kernel/sync in short. A lock
 * of a free mutex and an unlock without waiters make no kernel call: sim_run.c does those.
 */
#include "test/host/fabricate/sim.h"

#define SYNC_EINVAL 22

uint64_t sim_mutex_address(int object)
{
    return 0x401000u + 16 * (uint64_t)object;
}

uint64_t sim_sem_address(int object)
{
    return 0x402000u + 16 * (uint64_t)object;
}

uint64_t sim_cond_address(int object)
{
    return 0x403000u + 16 * (uint64_t)object;
}

void sim_inherit(struct sim *sim, int owner)
{
    struct sim_thread *t;
    uint8_t highest = 0;

    if (owner < 0) { /* its process ends */
        return;
    }
    t = &sim->threads[owner];
    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *waiter = &sim->threads[i];

        if (waiter->used && waiter->owner == owner && waiter->state == STATE_MUTEX &&
            waiter->priority > highest) {
            highest = waiter->priority;
        }
    }
    if (highest != t->sync_priority) {
        t->sync_priority = highest;
        sim_priority(sim, owner);
    }
}

static int sync_result(struct sim *sim, int self, int32_t error)
{
    sim->threads[self].result = error == 0 ? 0 : -1;
    sim->threads[self].error = error;
    return SIM_DONE;
}

static bool sync_owner_lives(const struct sim *sim, int owner)
{
    return owner >= 0 && sim->threads[owner].used && sim->threads[owner].state != STATE_DEAD;
}

int sim_mutex_lock(struct sim *sim, int self, int object)
{
    struct sim_thread *t = &sim->threads[self];
    struct sim_object *mutex = &sim->procs[t->proc].mutexes[object];

    if (mutex->owner == SIM_FREE) {
        mutex->owner = self;
        return sync_result(sim, self, 0);
    }
    if (mutex->owner == self) {
        return sync_result(sim, self, 45);
    }
    if (!sync_owner_lives(sim, mutex->owner)) {
        mutex->owner = SIM_FREE; /* the program makes it anew */
        return sync_result(sim, self, SYNC_EINVAL);
    }
    t->address = sim_mutex_address(object);
    t->owner = mutex->owner;
    t->mutex = object;
    sim_block(sim, self, STATE_MUTEX);
    sim_inherit(sim, mutex->owner);
    return SIM_BLOCKED;
}

static void sync_release(struct sim *sim, int self, int object)
{
    struct sim_object *mutex = &sim->procs[sim->threads[self].proc].mutexes[object];
    uint64_t address = sim_mutex_address(object);
    int next = sim_first(sim, sim->threads[self].proc, STATE_MUTEX, address);

    if (next < 0) {
        mutex->owner = SIM_FREE;
        return;
    }
    mutex->owner = next;
    for (int i = 0; i < SIM_THREADS; i++) {
        struct sim_thread *waiter = &sim->threads[i];

        if (waiter->used && i != next && waiter->proc == sim->threads[self].proc &&
            waiter->state == STATE_MUTEX && waiter->address == address) {
            waiter->owner = next;
        }
    }
    sim_wake(sim, next, sim->threads[next].error != 0 ? -1 : 0, sim->threads[next].error);
    sim_inherit(sim, next);
    sim_inherit(sim, self);
}

int sim_mutex_unlock(struct sim *sim, int self, int object)
{
    if (sim->procs[sim->threads[self].proc].mutexes[object].owner != self) {
        return sync_result(sim, self, 1);
    }
    sync_release(sim, self, object);
    return sync_result(sim, self, 0);
}

int sim_cond_wait(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int mutex = t->call.other;

    if (sim->procs[t->proc].mutexes[mutex].owner != self) {
        return sync_result(sim, self, 1);
    }
    t->address = sim_cond_address(t->call.object);
    t->mutex = mutex;
    t->error = 0;
    sim_block(sim, self, STATE_CONDVAR);
    sync_release(sim, self, mutex);
    return SIM_BLOCKED;
}

void sim_cond_end(struct sim *sim, int thread, int32_t error)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_object *mutex = &sim->procs[t->proc].mutexes[t->mutex];

    if (mutex->owner == SIM_FREE) {
        mutex->owner = thread;
        sim_wake(sim, thread, error != 0 ? -1 : 0, error);
    } else if (!sync_owner_lives(sim, mutex->owner)) {
        mutex->owner = SIM_FREE;
        sim_wake(sim, thread, -1, SYNC_EINVAL);
    } else {
        t->address = sim_mutex_address(t->mutex);
        t->owner = mutex->owner;
        t->error = error;
        t->timed = false;
        t->order = ++sim->order;
        sim_state(sim, thread, STATE_MUTEX);
        sim_inherit(sim, mutex->owner);
    }
}

int sim_cond_signal(struct sim *sim, int self)
{
    const struct sim_thread *t = &sim->threads[self];
    uint64_t address = sim_cond_address(t->call.object);
    int waiter;

    while ((waiter = sim_first(sim, t->proc, STATE_CONDVAR, address)) >= 0) {
        sim_cond_end(sim, waiter, 0);
        if (!t->call.all) {
            break;
        }
    }
    return sync_result(sim, self, 0);
}

int sim_sem_wait(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    struct sim_object *sem = &sim->procs[t->proc].sems[t->call.object];

    if (sem->count > 0) {
        sem->count--;
        return sync_result(sim, self, 0);
    }
    t->address = sim_sem_address(t->call.object);
    sim_block(sim, self, STATE_SEM);
    return SIM_BLOCKED;
}

int sim_sem_post(struct sim *sim, int self)
{
    const struct sim_thread *t = &sim->threads[self];
    int waiter = sim_first(sim, t->proc, STATE_SEM, sim_sem_address(t->call.object));

    if (waiter >= 0) {
        sim_wake(sim, waiter, 0, 0);
    } else {
        sim->procs[t->proc].sems[t->call.object].count++;
    }
    return sync_result(sim, self, 0);
}

/* The waiters of mutexes that the thread owned fail; what it owned stays so until the next lock. */
void sim_owner_gone(struct sim *sim, int thread)
{
    struct sim_proc *proc = &sim->procs[sim->threads[thread].proc];

    for (int object = 0; object < SIM_OBJECTS; object++) {
        if (proc->mutexes[object].owner == thread) {
            proc->mutexes[object].owner = SIM_DEAD;
        }
    }
    for (int i = 0; i < SIM_THREADS; i++) {
        struct sim_thread *waiter = &sim->threads[i];

        if (!waiter->used || waiter->owner != thread) {
            continue;
        }
        waiter->owner = -1;
        if (!proc->dying && waiter->state == STATE_MUTEX) {
            sim_wake(sim, i, -1, SYNC_EINVAL);
        }
    }
}
