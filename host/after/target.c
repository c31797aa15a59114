/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h on a capture: the machine in this process, to which `feed`
 * gives the events. See after.h.
 */
#include "host/after/target.h"

#include "host/after/after.h"
#include "host/kymo.h"
#include "host/verify/verify.h"
#include "trace/dtrace/probe.h"
#include "trace/dtrace/site/sites.h"
#include "trace/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384, CLEAN_EACH = 256, PROGRESS_EACH = 65536, FIRINGS_A_PROBE = 8 };

struct after_target {
    struct target base;
    struct kev *kev;
    struct after_about about;
    struct dtrace_consumer *consumer;
    const volatile sig_atomic_t *interrupted;
    uint64_t piece; /* events between two passes of the consumer: its buffers have room for them */
    uint64_t fed;
    bool ended, broken; /* the capture; by damage */
    uint8_t *asked;     /* by probe: named, and not there */
    uint32_t nasked;
    const char *provider; /* likewise a provider of none of a capture's probes; NULL: none */
    bool failed;          /* a description has matched nothing; what follows are suggestions */
};

static struct after_target *self_of(struct target *t)
{
    return (struct after_target *)t;
}

/* ---- probes -------------------------------------------------------------------------- */

static struct after_target *after_opened_target; /* probes have no target argument */

static struct dt_probe_info after_info_of(const struct dtrace_probe_names *names)
{
    const struct dtrace_attributes *attributes = &names->provider->ops->attributes;

    return (struct dt_probe_info){.id = names->id,
                                  .provider = names->provider->name,
                                  .module = names->module,
                                  .function = names->function,
                                  .name = names->name,
                                  .attributes = *attributes,
                                  .argument_attributes = *attributes};
}

static bool is_asked(const struct dtrace_probe_names *n, const char *const pattern[4], uint32_t id)
{
    if (id) {
        return n->id == id;
    }
    return dtrace_glob(pattern[0], n->provider->name) && dtrace_glob(pattern[1], n->module) &&
           dtrace_glob(pattern[2], n->function) && dtrace_glob(pattern[3], n->name);
}

static void note_asked(uint32_t id)
{
    struct after_target *a = after_opened_target;

    if (id >= a->nasked) {
        uint32_t n = id + 64;
        uint8_t *bigger = kymo_memory(realloc(a->asked, n));

        memset(bigger + a->nasked, 0, n - a->nasked);
        a->asked = bigger;
        a->nasked = n;
    }
    a->asked[id] = 1;
}

static unsigned after_each_probe(void *arg, const char *provider, const char *module,
                                 const char *function, const char *name, uint32_t id,
                                 bool (*fn)(void *, const struct dt_probe_info *), void *fn_arg)
{
    const char *const pattern[4] = {provider, module, function, name};
    struct dtrace_probe_names names = {.id = 0};
    unsigned calls = 0;
    bool all = !id && !*provider && !*module && !*function && !*name;

    (void)arg;
    if (!id) {
        dtrace_probe_provide(provider, module, function, name);
    }
    while (dtrace_probe_next(names.id, &names)) {
        struct dt_probe_info info = after_info_of(&names);
        if (!is_asked(&names, pattern, id)) {
            continue;
        }
        if (after_lacks(info.provider, info.function, info.name, &after_opened_target->about)) {
            if (!all && !after_opened_target->failed) {
                note_asked(names.id);
            }
            continue;
        }
        calls++;
        if (!fn(fn_arg, &info)) {
            break;
        }
    }
    if (calls == 0 && !after_opened_target->failed) {
        after_opened_target->failed = true;
        after_opened_target->provider = after_lacks(provider, "", "", &after_opened_target->about);
    }
    return calls;
}

static const char *after_argument_type(void *arg, uint32_t id, unsigned n)
{
    const struct dtrace_probe *p = dtrace_probe_at(id);

    (void)arg;
    return p->provider->ops->argument_type ? p->provider->ops->argument_type(id, p->arg, n) : NULL;
}

static const struct dt_probe_source *after_probes(struct target *t)
{
    static const struct dt_probe_source source = {.each = after_each_probe,
                                                  .argument_type = after_argument_type};

    (void)t;
    return &source;
}

static bool after_probe_names(struct target *t, uint32_t id, struct dt_probe_info *info)
{
    struct dtrace_probe_names names;
    bool found = id && dtrace_probe_next(id - 1, &names) && names.id == id;

    (void)t;
    if (found) {
        *info = after_info_of(&names);
    }
    return found;
}

/* Prints a probe, and how many others are left out for the same reason. Returns how many. */
static unsigned left_out_for(struct after_target *a, uint32_t first, const char *why)
{
    struct dt_probe_info info, other;
    unsigned n = 0;

    after_probe_names(&a->base, first, &info);
    for (uint32_t id = first; id < a->nasked; id++) {
        if (a->asked[id] && after_probe_names(&a->base, id, &other) &&
            strcmp(after_lacks(other.provider, other.function, other.name, &a->about), why) == 0) {
            a->asked[id] = 0;
            n++;
        }
    }
    fprintf(stderr, "dtrace: %s:%s:%s:%s", info.provider, info.module, info.function, info.name);
    if (n > 1) {
        fprintf(stderr, " and %u more", n - 1);
    }
    fprintf(stderr, " %s left out: %s\n", n > 1 ? "are" : "is", why);
    return n;
}

static unsigned after_left_out(struct target *t)
{
    struct after_target *a = self_of(t);
    unsigned n = a->provider != NULL;
    struct dt_probe_info info;

    if (a->provider) {
        fprintf(stderr, "dtrace: %s\n", a->provider);
    }
    for (uint32_t id = 1; id < a->nasked; id++) {
        if (a->asked[id] && after_probe_names(t, id, &info)) {
            char *why = strdup(after_lacks(info.provider, info.function, info.name, &a->about));
            n += left_out_for(a, id, why ? why : "");
            free(why);
        }
    }
    return n;
}

/* ---- the consumer -------------------------------------------------------------------- */

/* Events of which all records find room, however many clauses each fires. */
static uint64_t piece_of(const struct dtrace_image *image, uint64_t bufsize)
{
    uint64_t record = 0;

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        record += dtrace_ecb_cost(image, i, 256).record + sizeof(struct dtrace_record) + 8;
    }
    uint64_t piece = record ? bufsize / (record * FIRINGS_A_PROBE) : PIECE;
    return piece < 1 ? 1 : piece > PIECE ? PIECE : piece;
}

static int after_create(struct target *t, const void *image, size_t size, unsigned flags,
                        struct dtrace_refusal *why)
{
    struct after_target *a = self_of(t);
    struct dtrace_image *copy = malloc(size);
    struct dtrace_sizes sizes;

    if (!copy) {
        return -ENOMEM;
    }
    memcpy(copy, image, size);
    copy->pointer_bytes = sizeof(void *); /* all that it can address lies in 32 bits: port.c */
    int error = dtrace_consumer_create(copy, size, flags, &a->consumer, why);
    free(copy);
    if (error) {
        return error;
    }
    dtrace_consumer_sizes(a->consumer, &sizes);
    a->piece = piece_of(image, sizes.bufsize);
    return 0;
}

static bool after_allows(struct target *t, const void *image)
{
    return after_check(image, &self_of(t)->about);
}

static int after_sizes(struct target *t, struct dtrace_sizes *sizes, uint32_t *matched)
{
    dtrace_consumer_sizes(self_of(t)->consumer, sizes);
    *matched = dtrace_consumer_matched(self_of(t)->consumer);
    return 0;
}

static int after_go(struct target *t, unsigned *begin_cpu)
{
    struct after_target *a = self_of(t);

    after_now.ns = after_ns(kev_info(a->kev)->start);
    after_now.thread = after_current(0);
    int error = dtrace_consumer_go(a->consumer, begin_cpu);
    after_now.missed = false; /* BEGIN fires in no thread of the capture */
    return error;
}

static int after_stop(struct target *t, unsigned *end_cpu)
{
    dtrace_consumer_stop(self_of(t)->consumer, end_cpu);
    return 0;
}

static void after_wait(struct target *t, uint64_t ns)
{
    (void)t, (void)ns;
}

static int after_status(struct target *t, struct dtrace_status *status)
{
    dtrace_consumer_status(self_of(t)->consumer, status);
    return 0;
}

static int after_buffer(struct target *t, unsigned cpu, void *to, size_t room,
                        struct dtrace_snap *snap)
{
    return dtrace_buffer_snap(self_of(t)->consumer, cpu, to, room, snap);
}

static int after_aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                             struct dtrace_snap *snap)
{
    return dtrace_aggregation_snap(self_of(t)->consumer, cpu, to, room, snap);
}

static int after_epid(struct target *t, uint32_t epid, struct dtrace_epid_desc *desc,
                      struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    return dtrace_epid_describe(self_of(t)->consumer, epid, desc, recs, nrecs);
}

static int after_agg(struct target *t, uint32_t id, struct dtrace_agg_desc *desc,
                     struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    return dtrace_agg_describe(self_of(t)->consumer, id, desc, recs, nrecs);
}

/* ---- events -------------------------------------------------------------------------- */

/* The machine recycles variables, and takes this for a consumer's sign of life. */
static void after_clean_variables(struct after_target *a)
{
    struct dtrace_status status;

    dtrace_consumer_status(a->consumer, &status);
    dtrace_machine_clean();
}

static void after_end(struct after_target *a)
{
    a->ended = true;
    kymo_progress_end();
    a->broken = !after_is_whole(a->kev);
}

static bool after_feed_piece(struct target *t)
{
    struct after_target *a = self_of(t);
    struct kev_event event;
    struct kev_error error;

    after_ran_restart();
    for (uint64_t i = 0; i < a->piece && !a->ended && !*a->interrupted; i++) {
        if (kev_next(a->kev, &event, &error) != KEV_EVENT) {
            after_end(a);
            break;
        }
        if (a->fed % CLEAN_EACH == 0) {
            after_clean_variables(a);
        }
        if (a->fed++ % PROGRESS_EACH == 0) {
            kymo_progress("tracing", event.offset, kev_info(a->kev)->size);
        }
        after_feed(a->kev, &event);
        if (dtrace_consumer_over(a->consumer)) {
            break;
        }
    }
    return !a->ended;
}

/* Says a count that isn't 0. Returns whether it did. */
static bool after_report_count(uint64_t count, const char *what)
{
    if (count) {
        fprintf(stderr, "dtrace: %llu %s\n", (unsigned long long)count, what);
    }
    return count != 0;
}

/* Reports events that may be missing from the output. Returns whether any may. */
static bool after_report(struct target *t)
{
    struct after_target *a = self_of(t);
    bool any = a->broken;
    char what[160];

    kymo_progress_end();
    for (unsigned i = 0; i < KEV_CLASSES; i++) {
        snprintf(
            what, sizeof(what),
            "events of %s%s were lost when the capture was recorded: their probes did not fire",
            i == 0 ? "any class" : "class ", i == 0 ? "" : kev_class_name(i));
        any |= (i == 0 || after_used >> i & 1) && after_report_count(after_lost.events[i], what);
    }
    for (unsigned site = 0; site < TRACE_EV_COUNT; site++) {
        snprintf(what, sizeof(what),
                 "events lack an argument that the program reads: their probes did not fire; %s",
                 after_site_of_message(site)
                     ? "the capture has not the client's SND_MESSAGE, or the call"
                     : "record with tracelogger -w");
        any |= after_report_count(after_lost.short_of[site], what);
    }
    any |= after_report_count(after_lost.texts,
                              "log events have no text, as no ELF file has their format: "
                              "user:::string did not fire (KYMO_ELF)");
    any |= after_report_count(after_lost.no_stack,
                              "times ustack() found no function of the thread: only programs "
                              "that are built with -finstrument-functions record theirs") &&
           after_lost.stacks == 0;
    any |= after_report_count(after_lost.buffers,
                              "buffers of events are missing: their probes did not fire");
    after_report_count(after_lost.unknown,
                       "times a probe fired in a thread that the capture had not named yet: "
                       "its pid and tid are 0");
    return any;
}

/* ---- the target ---------------------------------------------------------------------- */

static const struct dt_model *after_model(struct target *t)
{
    return kev_info(self_of(t)->kev)->word_bits == 64 ? &dt_model_lp64_arm : &dt_model_ilp32_arm;
}

static unsigned after_cpus(struct target *t)
{
    return kev_info(self_of(t)->kev)->ncpu;
}

static int32_t after_consumer(struct target *t)
{
    (void)t;
    return 0;
}

/* Options that shape the output are as on the board; memory is this machine's. */
static uint64_t after_option_default(struct target *t, const char *option)
{
    bool small = after_model(t)->pointer == 4;

    return strcmp(option, "strsize") == 0      ? (small ? 64 : 256)
           : strcmp(option, "dynvarsize") == 0 ? 16 << 20
           : strcmp(option, "aggsize") == 0    ? 16 << 20
                                               : DT_OPTION_UNSET;
}

static void after_describe(struct target *t, FILE *out)
{
    struct after_target *a = self_of(t);
    const char *classes = kev_attr(a->kev, "FILTER_1"), *form = kev_attr(a->kev, "FILTER_2");

    fprintf(out, "Capture of %s, %u CPUs; recorded: %s, %s%s%s\n", kev_info(a->kev)->board,
            kev_info(a->kev)->ncpu, classes ? classes : "unknown", form ? form : "unknown",
            a->about.gate ? ", " : "", a->about.gate ? a->about.gate : "");
}

static void after_close(struct target *t)
{
    struct after_target *a = self_of(t);

    if (a->consumer) {
        dtrace_consumer_destroy(a->consumer);
    }
    after_state_free();
    kev_close(a->kev);
    free(a->asked);
    free(a);
}

static const struct target_ops after_ops = {
    .close = after_close,
    .model = after_model,
    .cpus = after_cpus,
    .consumer = after_consumer,
    .probes = after_probes,
    .left_out = after_left_out,
    .allows = after_allows,
    .create = after_create,
    .sizes = after_sizes,
    .go = after_go,
    .stop = after_stop,
    .wait = after_wait,
    .status = after_status,
    .buffer = after_buffer,
    .aggregation = after_aggregation,
    .epid = after_epid,
    .agg = after_agg,
    .probe_names = after_probe_names,
    .option_default = after_option_default,
    .elf_files = after_elf_files,
    .process = after_process,
    .objects = after_objects,
    .describe = after_describe,
    .feed = after_feed_piece,
    .report = after_report,
    .watch = after_ran_watch,
    .ran = after_ran,
    .name = after_ran_name,
    .now = after_ran_now,
};

struct target *after_target_open(const char *path, const volatile sig_atomic_t *interrupted)
{
    struct kev_options options = {.progress = kymo_progress, .progress_arg = (void *)"reading"};
    struct after_target *a = kymo_memory(calloc(1, sizeof(*a)));
    struct kev_error error;

    options.log_text = log_text_but_probes; /* static probes fire their words, as live */
    a->kev = kev_open(path, &options, &error);
    kymo_progress_end();
    if (!a->kev) {
        verify_refuse_d(&error);
        free(a);
        return NULL;
    }
    const struct kev_info *info = kev_info(a->kev);
    if (!info->kymo || info->swapped) {
        fprintf(stderr, "dtrace: %s: another kernel's capture: D has no probes for its events\n",
                path);
        kev_close(a->kev);
        free(a);
        return NULL;
    }
    after_opened_target = a;
    a->base.ops = &after_ops;
    a->interrupted = interrupted;
    after_about(a->kev, &a->about);
    after_names_init(a->kev);
    after_port_cpus(info->ncpu);
    after_feed_init(info);
    after_now.thread = after_current(0);
    dtrace_machine_init();
    dtrace_sites_init();
    after_calls_init();
    after_ticks_init();
    return &a->base;
}
