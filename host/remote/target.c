/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h as requests to a target.
 */
#include "host/remote/remote.h"
#include "host/self/target.h"
#include "trace/dtrace/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY = 50000000 }; /* ns */

int remote_simple(struct remote *r, uint32_t command, struct kymo_d_call *call)
{
    *call = (struct kymo_d_call){.command = command, .handle = r->handle};
    return remote_ask(r, call, NULL, 0);
}

/* ---- start, stop, watch ------------------------------------------------------------ */

static int take_cpu(struct remote *r, uint32_t command, unsigned *cpu)
{
    struct kymo_d_call call;
    int error = remote_simple(r, command, &call);

    if (!error && call.cpu >= r->info.cpus) {
        return remote_nonsense(r, "a CPU");
    }
    *cpu = error ? 0 : call.cpu;
    return error;
}

static int remote_go(struct target *t, unsigned *begin_cpu)
{
    return take_cpu(remote_of(t), KYMO_D_GO, begin_cpu);
}

static int remote_stop(struct target *t, unsigned *end_cpu)
{
    return take_cpu(remote_of(t), KYMO_D_STOP, end_cpu);
}

static uint64_t remote_target_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void remote_wait(struct target *t, uint64_t ns)
{
    uint64_t at = remote_target_now_ns(), until = at + ns;
    struct kymo_d_call call;

    while (at < until && remote_simple(remote_of(t), KYMO_D_OVER, &call) == 0 && call.id == 0) {
        uint64_t nap = until - at < LOOK_EVERY ? until - at : LOOK_EVERY;
        struct timespec pause = {0, (long)nap};
        if (nanosleep(&pause, NULL) != 0) {
            return;
        }
        at = remote_target_now_ns();
    }
}

static int remote_status(struct target *t, struct dtrace_status *status)
{
    struct remote *r = remote_of(t);
    struct kymo_d_call call = {.command = KYMO_D_STATUS, .handle = r->handle};
    int error = remote_ask(r, &call, status, sizeof(*status));

    if (error) {
        memset(status, 0, sizeof(*status));
    }
    return error;
}

/* ---- the target itself ------------------------------------------------------------- */

static const struct dt_model *remote_model(struct target *t)
{
    return dt_model_of(remote_of(t)->info.machine);
}

static unsigned remote_cpus(struct target *t)
{
    return remote_of(t)->info.cpus;
}

static int32_t remote_consumer(struct target *t)
{
    return remote_of(t)->consumer;
}

static const struct dt_probe_source *remote_probes(struct target *t)
{
    return &remote_of(t)->source;
}

static uint64_t remote_option_default(struct target *t, const char *option)
{
    const struct kymo_d_info *i = &remote_of(t)->info;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"bufsize", i->bufsize},
                {"aggsize", i->aggsize},
                {"specsize", i->specsize},
                {"dynvarsize", i->dynvarsize},
                {"strsize", i->strsize}};

    for (size_t n = 0; n < sizeof(rows) / sizeof(*rows); n++) {
        if (strcmp(rows[n].name, option) == 0 && rows[n].value) {
            return rows[n].value;
        }
    }
    return DT_OPTION_UNSET;
}

static int remote_resume(struct target *t, int32_t pid)
{
    struct kymo_d_call call = {.command = KYMO_D_RESUME, .id = (uint32_t)pid};

    return remote_ask(remote_of(t), &call, NULL, 0);
}

static const char *remote_gone(struct target *t)
{
    return *remote_of(t)->gone ? remote_of(t)->gone : NULL;
}

static void remote_close(struct target *t)
{
    struct remote *r = remote_of(t);
    struct kymo_d_call call;

    if (r->handle && !*r->gone) {
        remote_simple(r, KYMO_D_DESTROY, &call);
    }
    remote_program_close(r);
    r->wire->ops->close(r->wire);
    remote_probes_free(r);
    remote_processes_free(r);
    free(r->image);
    free(r->transcript);
    free(r->message);
    free(r);
}

static void print_size(FILE *out, const char *name, uint64_t value)
{
    static const char units[] = " kmgt";
    unsigned unit = 0;

    while (unit < 4 && value && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    fprintf(out, "%s %llu%.*s", name, (unsigned long long)value, unit != 0, &units[unit]);
}

static void remote_describe(struct target *t, FILE *out)
{
    const struct kymo_d_info *i = &remote_of(t)->info;

    fprintf(out, "Target: %s, %u CPU%s, pointers of %u bytes, build id ", i->board, i->cpus,
            i->cpus == 1 ? "" : "s", i->pointer_bytes);
    for (size_t n = 0; n < sizeof(i->build_id); n++) {
        fprintf(out, "%02x", i->build_id[n]);
    }
    fputs("\nDefaults:", out);
    print_size(out, " bufsize", i->bufsize);
    print_size(out, ", aggsize", i->aggsize);
    print_size(out, ", specsize", i->specsize);
    print_size(out, ", dynvarsize", i->dynvarsize);
    print_size(out, ", strsize", i->strsize);
    print_size(out, "\nMemory for consumers:", i->memory);
    fprintf(out, "\nSamples of profile: %s\n",
            i->features & KYMO_D_FEATURE_SAMPLES_KERNEL
                ? "the kernel and programs, by an interrupt above the kernel's masks"
                : "programs only, by a timer that the kernel masks (arg0 is 0; arg2: ns late)");
    fprintf(out, "Counters: cycles %s, instructions %s, probes of cpc %s\n\n",
            i->features & KYMO_D_FEATURE_COUNTS_CYCLES ? "yes" : "no",
            i->features & KYMO_D_FEATURE_COUNTS_INSTRUCTIONS ? "yes" : "no",
            i->features & KYMO_D_FEATURE_COUNTS_PROBES ? "yes" : "no");
}

static uint64_t remote_memory(struct target *t)
{
    return remote_of(t)->info.memory;
}

static const struct target_ops remote_ops = {
    .close = remote_close,
    .model = remote_model,
    .cpus = remote_cpus,
    .probes = remote_probes,
    .consumer = remote_consumer,
    .create = remote_create,
    .sizes = remote_sizes,
    .go = remote_go,
    .stop = remote_stop,
    .wait = remote_wait,
    .status = remote_status,
    .buffer = remote_buffer,
    .aggregation = remote_aggregation,
    .epid = remote_epid,
    .agg = remote_agg,
    .probe_names = remote_probe_names,
    .option_default = remote_option_default,
    .lacks = remote_lacks,
    .memory = remote_memory,
    .resume = remote_resume,
    .program_start = remote_program_start,
    .process_find = remote_process_find,
    .program_run = remote_program_run,
    .program_ended = remote_program_ended,
    .look = remote_look,
    .claim = remote_claim,
    .log_start = remote_log_start,
    .retain = remote_retain,
    .log_pass = remote_log_pass,
    .log_end = remote_log_end,
    .gone = remote_gone,
    .elf_files = remote_elf_files,
    .process = remote_process,
};

static int ask_info(struct remote *r)
{
    struct kymo_d_call call = {.command = KYMO_D_INFO};
    struct kymo_d_info *i = &r->info;
    int error = remote_ask(r, &call, i, sizeof(*i));

    if (error) {
        return error;
    }
    if (i->version != KYMO_D_VERSION) {
        char text[60];

        snprintf(text, sizeof(text), "D of version %u, this kymo has version %u", i->version,
                 (unsigned)KYMO_D_VERSION);
        return remote_nonsense(r, text);
    }
    if (i->cpus == 0 || i->cpus > REMOTE_CPUS_MAX ||
        (i->pointer_bytes != 4 && i->pointer_bytes != 8) ||
        !remote_text_ok(i->board, sizeof(i->board)) || i->strsize > 1 << 20 ||
        call.id > INT32_MAX || i->bufsize > REMOTE_BUFFER_MAX || i->aggsize > REMOTE_BUFFER_MAX) {
        return remote_nonsense(r, "what it is");
    }
    r->consumer = (int32_t)call.id;
    return 0;
}

struct target *remote_target_open(struct wire *wire, bool is_here, const char **why)
{
    static char text[200];
    struct remote *r = calloc(1, sizeof(*r));

    *why = "Not enough space";
    if (!r) {
        wire->ops->close(wire);
        return NULL;
    }
    r->ops = remote_ops;
    r->ops.is_here = is_here;
    r->ops.process = is_here ? NULL : remote_process;
    r->ops.objects = is_here ? self_objects : NULL;
    r->ops.describe = is_here ? NULL : remote_describe;
    r->base.ops = &r->ops;
    r->wire = wire;
    remote_probes_init(r);
    int error = ask_info(r);
    if (error) {
        snprintf(text, sizeof(text), "%s",
                 *r->gone          ? r->gone
                 : error == -EPERM ? "linkd may not use D: its line in the start script needs the "
                                     "ability dtrace_kernel, or dtrace_user"
                                   : strerror(-error));
        *why = text;
        remote_close(&r->base);
        return NULL;
    }
    return &r->base;
}
