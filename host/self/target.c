/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h on `self`, under the control lock.
 */
#include "host/self/self.h"
#include "host/self/target.h"
#include "trace/dtrace/control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

struct self_target {
    struct target base;
    struct dtrace_consumer *consumer;
};

static struct dtrace_consumer *self_target_lock_control(struct target *t)
{
    self_lock();
    return ((struct self_target *)t)->consumer;
}

/* ---- the consumer ------------------------------------------------------------------ */

static int self_create(struct target *t, const void *image, size_t size, unsigned flags,
                       struct dtrace_refusal *why)
{
    struct self_target *self = (struct self_target *)t;

    self_target_lock_control(t);
    int error =
        self->consumer ? -EBUSY : dtrace_consumer_create(image, size, flags, &self->consumer, why);
    if (!error) {
        self_cleaner_start();
    }
    self_unlock();
    return error;
}

static int self_sizes(struct target *t, struct dtrace_sizes *sizes, uint32_t *matched)
{
    struct dtrace_consumer *consumer = self_target_lock_control(t);

    dtrace_consumer_sizes(consumer, sizes);
    *matched = dtrace_consumer_matched(consumer);
    self_unlock();
    return 0;
}

static int self_go(struct target *t, unsigned *begin_cpu)
{
    int error = dtrace_consumer_go(self_target_lock_control(t), begin_cpu);

    self_unlock();
    return error;
}

static int self_stop(struct target *t, unsigned *end_cpu)
{
    dtrace_consumer_stop(self_target_lock_control(t), end_cpu);
    self_unlock();
    return 0;
}

/* Sleeps and polls: the machine can wake no thread. */
static void self_wait(struct target *t, uint64_t ns)
{
    uint64_t until = dtrace_port_timestamp() + ns;
    struct timespec nap = {0, 2000000};

    while (dtrace_port_timestamp() < until) {
        uint32_t exited = dtrace_consumer_over(self_target_lock_control(t));
        self_unlock();
        if (exited || nanosleep(&nap, NULL) != 0) {
            return;
        }
    }
}

static int self_status(struct target *t, struct dtrace_status *status)
{
    dtrace_consumer_status(self_target_lock_control(t), status);
    self_unlock();
    return status->state == DTRACE_STATE_KILLED ? -ESHUTDOWN : 0;
}

static int self_buffer(struct target *t, unsigned cpu, void *to, size_t room,
                       struct dtrace_snap *snap)
{
    int error = dtrace_buffer_snap(self_target_lock_control(t), cpu, to, room, snap);

    self_unlock();
    return error;
}

static int self_aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                            struct dtrace_snap *snap)
{
    int error = dtrace_aggregation_snap(self_target_lock_control(t), cpu, to, room, snap);

    self_unlock();
    return error;
}

static int self_epid(struct target *t, uint32_t epid, struct dtrace_epid_desc *desc,
                     struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    int error = dtrace_epid_describe(self_target_lock_control(t), epid, desc, recs, nrecs);

    self_unlock();
    return error;
}

static int self_agg(struct target *t, uint32_t id, struct dtrace_agg_desc *desc,
                    struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    int error = dtrace_agg_describe(self_target_lock_control(t), id, desc, recs, nrecs);

    self_unlock();
    return error;
}

static void self_close(struct target *t)
{
    struct self_target *self = (struct self_target *)t;

    self_target_lock_control(t);
    if (self->consumer) {
        dtrace_consumer_destroy(self->consumer);
    }
    self_unlock();
    free(self);
}

static const struct dt_model *self_model(struct target *t)
{
    (void)t;
    return &dt_model_self;
}

static unsigned self_cpus(struct target *t)
{
    (void)t;
    return dtrace_port_cpu_count();
}

static uint64_t self_option_default(struct target *t, const char *option)
{
    (void)t;
    (void)option;
    return DT_OPTION_UNSET;
}

static const char *self_lacks(struct target *t, const char *variable)
{
    (void)t;
    (void)variable;
    return "this process has no counters";
}

static int self_resume(struct target *t, int32_t pid)
{
    (void)t;
    return kill(pid, SIGCONT) == 0 ? 0 : -errno;
}

static const struct target_ops self_ops = {
    .is_here = true,
    .close = self_close,
    .model = self_model,
    .cpus = self_cpus,
    .probes = self_probes,
    .create = self_create,
    .sizes = self_sizes,
    .go = self_go,
    .stop = self_stop,
    .wait = self_wait,
    .status = self_status,
    .buffer = self_buffer,
    .aggregation = self_aggregation,
    .epid = self_epid,
    .agg = self_agg,
    .probe_names = self_probe_names,
    .option_default = self_option_default,
    .lacks = self_lacks,
    .resume = self_resume,
    .objects = self_objects,
};

/* ---- D's control call -------------------------------------------------------------- */

void self_control_start(void)
{
    self_start();
    self_lock();
    self_cleaner_start();
    self_unlock();
}

int self_control(const void *owner, struct kymo_d_call *call, const void *in, void *out)
{
    self_lock();
    int result = dtrace_control(owner, DTRACE_MAY_ALL, call, in, out);
    self_unlock();
    return result;
}

void self_control_end(const void *owner)
{
    self_lock();
    dtrace_control_end(owner);
    self_unlock();
}

struct target *self_target_open(void)
{
    struct self_target *self = calloc(1, sizeof(*self));

    self_start();
    if (!self) {
        return NULL;
    }
    self->base.ops = &self_ops;
    return &self->base;
}
