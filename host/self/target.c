/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h on `self`. One control lock serves them and the cleaner, a
 * thread that recycles what clauses have freed and ends consumers that are silent.
 */
#include "host/self/self.h"
#include "host/self/target.h"
#include "trace/d/control.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

struct self_target {
    struct target base;
    struct d_consumer *consumer;
};

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct d_consumer *lock(struct target *t)
{
    pthread_mutex_lock(&control);
    return ((struct self_target *)t)->consumer;
}

static void unlock(void)
{
    pthread_mutex_unlock(&control);
}

static void *cleaner(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&control);
        uint64_t ns = d_machine_clean();
        unlock();
        struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
        nanosleep(&pause, NULL);
    }
    return arg;
}

/* Control lock held. Started late: compiling and listing need none. */
static void cleaner_start(void)
{
    static bool started;
    pthread_t thread;
    sigset_t all, before;

    if (started) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, NULL, cleaner, NULL) == 0;
    if (started) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void init(void)
{
    self_cpus_init();
    self_port_init();
    d_machine_init();
    self_profile_init();
}

/* ---- probes, for the compiler and -l -----------------------------------------------------------
 */

static struct d_probe_info info_of(const struct d_probe_names *names)
{
    const struct d_attributes *attributes = &names->provider->attributes;

    return (struct d_probe_info){
        .id = names->id,
        .provider = names->provider->name,
        .module = names->module,
        .function = names->function,
        .name = names->name,
        .attributes = *attributes,
        .argument_attributes = *attributes,
    };
}

static bool matches(const struct d_probe_names *names, const char *const pattern[4], uint32_t id)
{
    if (id) {
        return names->id == id;
    }
    return d_glob(pattern[0], names->provider->name) && d_glob(pattern[1], names->module) &&
           d_glob(pattern[2], names->function) && d_glob(pattern[3], names->name);
}

static unsigned each_probe(void *arg, const char *provider, const char *module,
                           const char *function, const char *name, uint32_t id,
                           bool (*fn)(void *fn_arg, const struct d_probe_info *), void *fn_arg)
{
    const char *const pattern[4] = {provider, module, function, name};
    struct d_probe_names names = {.id = 0};
    unsigned calls = 0;

    (void)arg;
    pthread_mutex_lock(&control);
    if (!id) {
        d_probe_provide(provider, module, function, name);
    }
    while (d_probe_next(names.id, &names)) {
        struct d_probe_info info = info_of(&names);
        if (matches(&names, pattern, id)) {
            calls++;
            if (!fn(fn_arg, &info)) {
                break;
            }
        }
    }
    unlock();
    return calls;
}

static const char *no_argument_type(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    (void)id;
    (void)n;
    return NULL;
}

static const struct d_probe_source probe_source = {each_probe, no_argument_type, NULL};

static const struct d_probe_source *self_probes(struct target *t)
{
    (void)t;
    return &probe_source;
}

static bool self_probe_names(struct target *t, uint32_t id, struct d_probe_info *info)
{
    struct d_probe_names names;
    bool found;

    (void)t;
    pthread_mutex_lock(&control);
    found = id && d_probe_next(id - 1, &names) && names.id == id;
    if (found) {
        *info = info_of(&names);
    }
    unlock();
    return found;
}

/* ---- the consumer ------------------------------------------------------------------------------
 */

/* tick fires where the consumer looks. */
static void choose_tick_cpu(const void *image, size_t size)
{
    const struct d_image *i = image;
    const struct d_image_option *options = (const void *)((const char *)image + i->options.offset);

    for (uint32_t n = 0; size && n < i->options.count; n++) {
        if (options[n].option == D_OPT_CPU && options[n].value < d_port_cpu_count()) {
            self_tick_cpu = (unsigned)options[n].value;
        }
    }
}

static int self_create(struct target *t, const void *image, size_t size, unsigned flags,
                       struct d_refusal *why)
{
    struct self_target *self = (struct self_target *)t;

    lock(t);
    int error =
        self->consumer ? -EBUSY : d_consumer_create(image, size, flags, &self->consumer, why);
    if (!error) {
        choose_tick_cpu(image, size);
        cleaner_start();
    }
    unlock();
    return error;
}

static int self_sizes(struct target *t, struct d_sizes *sizes, uint32_t *matched)
{
    struct d_consumer *consumer = lock(t);

    d_consumer_sizes(consumer, sizes);
    *matched = d_consumer_matched(consumer);
    unlock();
    return 0;
}

static int self_go(struct target *t, unsigned *begin_cpu)
{
    int error = d_consumer_go(lock(t), begin_cpu);

    unlock();
    return error;
}

static int self_stop(struct target *t, unsigned *end_cpu)
{
    d_consumer_stop(lock(t), end_cpu);
    unlock();
    return 0;
}

/* Naps, and looks: the machine has nobody to wake. */
static void self_wait(struct target *t, uint64_t ns)
{
    uint64_t until = d_port_timestamp() + ns;
    struct timespec nap = {0, 2000000};

    while (d_port_timestamp() < until) {
        uint32_t exited = d_consumer_over(lock(t));
        unlock();
        if (exited || nanosleep(&nap, NULL) != 0) {
            return;
        }
    }
}

static int self_status(struct target *t, struct d_status *status)
{
    d_consumer_status(lock(t), status);
    unlock();
    return status->state == D_STATE_KILLED ? -ESHUTDOWN : 0;
}

static int self_buffer(struct target *t, unsigned cpu, void *to, size_t room, struct d_snap *snap)
{
    int error = d_buffer_snap(lock(t), cpu, to, room, snap);

    unlock();
    return error;
}

static int self_aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                            struct d_snap *snap)
{
    int error = d_aggregation_snap(lock(t), cpu, to, room, snap);

    unlock();
    return error;
}

static int self_epid(struct target *t, uint32_t epid, struct d_epid_desc *desc,
                     struct d_recdesc *recs, uint32_t *nrecs)
{
    int error = d_epid_describe(lock(t), epid, desc, recs, nrecs);

    unlock();
    return error;
}

static int self_agg(struct target *t, uint32_t id, struct d_agg_desc *desc, struct d_recdesc *recs,
                    uint32_t *nrecs)
{
    int error = d_agg_describe(lock(t), id, desc, recs, nrecs);

    unlock();
    return error;
}

static void self_close(struct target *t)
{
    struct self_target *self = (struct self_target *)t;

    lock(t);
    if (self->consumer) {
        d_consumer_destroy(self->consumer);
    }
    unlock();
    free(self);
}

static const struct d_model *self_model(struct target *t)
{
    (void)t;
    return (char)-1 < 0 ? &d_model_lp64 : &d_model_lp64_arm;
}

static unsigned self_cpus(struct target *t)
{
    (void)t;
    return d_port_cpu_count();
}

static uint64_t self_option_default(struct target *t, const char *option)
{
    (void)t;
    (void)option;
    return D_OPTION_UNSET;
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
    .resume = self_resume,
    .objects = self_objects,
};

/* ---- D's control call --------------------------------------------------------------------------
 */

void self_control_start(void)
{
    pthread_once(&once, init);
    pthread_mutex_lock(&control);
    cleaner_start();
    unlock();
}

int self_control(const void *owner, struct kymo_d_call *call, const void *in, void *out)
{
    bool creates = call->command == KYMO_D_CREATE;
    uint32_t in_bytes = call->in_bytes;

    pthread_mutex_lock(&control);
    int result = d_control(owner, call, in, out);
    if (creates && result == 0) {
        choose_tick_cpu(in, in_bytes);
    }
    unlock();
    return result;
}

int self_control_boot(const void *image, size_t size, struct d_refusal *why)
{
    pthread_mutex_lock(&control);
    int error = d_control_boot(image, size, why);
    unlock();
    return error;
}

void self_control_end(const void *owner)
{
    pthread_mutex_lock(&control);
    d_control_end(owner);
    unlock();
}

struct target *self_target_open(void)
{
    struct self_target *self = calloc(1, sizeof(*self));

    pthread_once(&once, init);
    if (!self) {
        return NULL;
    }
    self->base.ops = &self_ops;
    return &self->base;
}
