/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h as requests to a target.
 */
#include "host/remote/remote.h"
#include "host/self/target.h"
#include "trace/d/image_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY = 50000000 }; /* ns */

static struct remote *of(struct target *t)
{
    return (struct remote *)t;
}

/* A request about the consumer, without an answer but the head's. */
static int simple(struct remote *r, uint32_t command, struct kymo_d_call *call)
{
    *call = (struct kymo_d_call){.command = command, .handle = r->handle};
    return remote_ask(r, call, NULL, 0);
}

/* ---- creation ----------------------------------------------------------------------------------
 */

static void refuse(struct d_refusal *why, int error, const char *text)
{
    *why = (struct d_refusal){.error = error, .object = UINT32_MAX, .offset = UINT32_MAX};
    snprintf(why->text, sizeof(why->text), "%s", text);
}

static uint64_t *option_of(struct d_image *image, uint32_t option)
{
    struct d_image_option *o = (void *)((char *)image + image->options.offset);

    for (uint32_t i = 0; i < image->options.count; i++) {
        if (o[i].option == option) {
            return &o[i].value;
        }
    }
    return NULL;
}

/* A buffer comes in one answer: it is halved till it fits one, as for memory that isn't there. */
static bool lower(struct d_image *image, uint32_t option, bool used)
{
    uint64_t *value = option_of(image, option);
    const uint64_t *resize = option_of(image, D_OPT_BUFRESIZE);

    if (!value || *value <= REMOTE_BUFFER_MAX || !used) {
        return true;
    }
    while (*value > REMOTE_BUFFER_MAX) {
        *value /= 2;
    }
    return !resize || *resize != D_RESIZE_MANUAL;
}

static bool keep_image(struct remote *r, const void *image, size_t size)
{
    free(r->image);
    r->image = malloc(size);
    if (!r->image) {
        return false;
    }
    memcpy(r->image, image, size);
    r->uses = remote_image_uses(r->image);
    return true;
}

static int take_refusal(struct remote *r, int error, const uint8_t *out, uint32_t bytes,
                        struct d_refusal *why)
{
    struct d_refusal theirs;

    if (*r->gone || bytes != sizeof(theirs)) {
        refuse(why, error, *r->gone ? r->gone : strerror(-error));
        return error;
    }
    memcpy(&theirs, out, sizeof(theirs));
    if (!remote_text_ok(theirs.text, sizeof(theirs.text))) {
        return remote_nonsense(r, "a refusal");
    }
    *why = theirs;
    return error;
}

static int take_created(struct remote *r, const struct kymo_d_call *call, const uint8_t *out)
{
    struct kymo_d_created made;

    if (call->out_bytes != sizeof(made) || call->handle == 0) {
        return remote_nonsense(r, "a consumer");
    }
    memcpy(&made, out, sizeof(made));
    r->handle = call->handle;
    r->matched = made.matched;
    r->sizes = (struct d_sizes){made.bufsize, made.aggsize, made.specsize, made.dynvarsize};
    return 0;
}

static int remote_create(struct target *t, const void *image, size_t size, unsigned flags,
                         struct d_refusal *why)
{
    struct remote *r = of(t);
    struct kymo_d_call call = {.command = KYMO_D_CREATE,
                               .flags = flags,
                               .in_bytes = (uint32_t)size,
                               .out_bytes = sizeof(*why)};
    const uint8_t *out;

    refuse(why, -ENOMEM, "Not enough space");
    if (r->handle || !keep_image(r, image, size)) {
        return -ENOMEM;
    }
    if (size > KYMO_D_IN_MOST) {
        refuse(why, -E2BIG, "the program is too large for the link");
        return -E2BIG;
    }
    if (!lower(r->image, D_OPT_BUFSIZE, r->uses.records) ||
        !lower(r->image, D_OPT_AGGSIZE, r->uses.aggregates)) {
        return -ENOMEM;
    }
    int error = remote_call(r, &call, r->image, &out);
    if (error) {
        error = take_refusal(r, error, out, call.out_bytes, why);
    } else {
        error = take_created(r, &call, out);
    }
    if (error == -EPROTO) {
        refuse(why, error, r->gone);
    }
    return error;
}

/* ---- the boot's consumer ------------------------------------------------------------------------
 */

/* How large its file is isn't known, and a small board's agent has not much room. */
static int ask_file(struct remote *r, struct kymo_d_call *call, const uint8_t **out)
{
    int error = -EMSGSIZE;

    for (uint32_t room = 4096; error == -EMSGSIZE && room <= KYMO_D_IN_MOST; room *= 4) {
        *call = (struct kymo_d_call){.command = KYMO_D_LOOK, .out_bytes = room};
        error = remote_call(r, call, NULL, out);
    }
    return error;
}

static int ask_sizes(struct remote *r)
{
    struct kymo_d_call call = {.command = KYMO_D_SIZES, .handle = r->handle};
    struct kymo_d_created made;
    int error = remote_ask(r, &call, &made, sizeof(made));

    if (!error) {
        r->matched = made.matched;
        r->sizes = (struct d_sizes){made.bufsize, made.aggsize, made.specsize, made.dynvarsize};
    }
    return error;
}

static int remote_look(struct target *t, void **file, size_t *size)
{
    struct remote *r = of(t);
    struct kymo_d_call call;
    const uint8_t *out;
    int error = ask_file(r, &call, &out);

    if (error) {
        return error;
    }
    if (call.out_bytes < sizeof(struct d_image)) {
        return remote_nonsense(r, "the boot's program");
    }
    *size = call.out_bytes;
    *file = malloc(*size);
    if (!*file) {
        return -ENOMEM;
    }
    memcpy(*file, out, *size);
    return 0;
}

static int remote_claim(struct target *t, const void *image, size_t size)
{
    struct remote *r = of(t);
    struct kymo_d_call call = {.command = KYMO_D_CLAIM};
    int error = keep_image(r, image, size) ? remote_ask(r, &call, NULL, 0) : -ENOMEM;

    if (error) {
        return error;
    }
    if (call.handle == 0) {
        return remote_nonsense(r, "the boot's consumer");
    }
    r->handle = call.handle;
    return ask_sizes(r);
}

static int remote_sizes(struct target *t, struct d_sizes *sizes, uint32_t *matched)
{
    *sizes = of(t)->sizes;
    *matched = of(t)->matched;
    return 0;
}

/* ---- start, stop, watch ------------------------------------------------------------------------
 */

static int take_cpu(struct remote *r, uint32_t command, unsigned *cpu)
{
    struct kymo_d_call call;
    int error = simple(r, command, &call);

    if (!error && call.cpu >= r->info.cpus) {
        return remote_nonsense(r, "a CPU");
    }
    *cpu = error ? 0 : call.cpu;
    return error;
}

static int remote_go(struct target *t, unsigned *begin_cpu)
{
    return take_cpu(of(t), KYMO_D_GO, begin_cpu);
}

static int remote_stop(struct target *t, unsigned *end_cpu)
{
    return take_cpu(of(t), KYMO_D_STOP, end_cpu);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void remote_wait(struct target *t, uint64_t ns)
{
    uint64_t at = now(), until = at + ns;
    struct kymo_d_call call;

    while (at < until && simple(of(t), KYMO_D_OVER, &call) == 0 && call.id == 0) {
        uint64_t nap = until - at < LOOK_EVERY ? until - at : LOOK_EVERY;
        struct timespec pause = {0, (long)nap};
        if (nanosleep(&pause, NULL) != 0) {
            return;
        }
        at = now();
    }
}

static int remote_status(struct target *t, struct d_status *status)
{
    struct remote *r = of(t);
    struct kymo_d_call call = {.command = KYMO_D_STATUS, .handle = r->handle};
    int error = remote_ask(r, &call, status, sizeof(*status));

    if (error) {
        memset(status, 0, sizeof(*status));
    }
    return error;
}

/* ---- what was recorded -------------------------------------------------------------------------
 */

/* size: of the buffer there, which is the most that can come. What is larger doesn't exist: the
 * program has no use for it. */
static int take(struct remote *r, uint32_t command, unsigned cpu, uint64_t size, void *to,
                size_t room, struct d_snap *snap)
{
    struct kymo_d_call call = {.command = command, .handle = r->handle, .cpu = cpu};
    const uint8_t *out;

    call.out_bytes =
        (uint32_t)((size < REMOTE_BUFFER_MAX ? size : REMOTE_BUFFER_MAX) + sizeof(*snap));
    int error = remote_call(r, &call, NULL, &out);

    memset(snap, 0, sizeof(*snap));
    if (error) {
        return error;
    }
    if (call.out_bytes < sizeof(*snap)) {
        return remote_nonsense(r, "a buffer");
    }
    memcpy(snap, out, sizeof(*snap));
    if (snap->size != call.out_bytes - sizeof(*snap) || snap->size > room) {
        return remote_nonsense(r, "a buffer's size");
    }
    memcpy(to, out + sizeof(*snap), snap->size);
    return 0;
}

static int remote_buffer(struct target *t, unsigned cpu, void *to, size_t room, struct d_snap *snap)
{
    return take(of(t), KYMO_D_BUFFER, cpu, of(t)->sizes.bufsize, to, room, snap);
}

static int remote_aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                              struct d_snap *snap)
{
    if (!of(t)->uses.aggregates) {
        *snap = (struct d_snap){0};
        return 0;
    }
    return take(of(t), KYMO_D_AGGREGATION, cpu, of(t)->sizes.aggsize, to, room, snap);
}

/* ---- descriptions ------------------------------------------------------------------------------
 */

enum { HEAD = 24 };

/* head: 20 bytes, whose last four are how many records follow. */
static int describe(struct remote *r, uint32_t command, uint32_t id, void *head,
                    struct d_recdesc *recs, uint32_t *nrecs)
{
    struct kymo_d_call call = {.command = command,
                               .handle = r->handle,
                               .id = id,
                               .out_bytes = HEAD + (r->uses.most_actions + 1) * sizeof(*recs)};
    const uint8_t *out;
    uint32_t n, head_id;
    int error = remote_call(r, &call, NULL, &out);

    if (error) {
        return error;
    }
    if (call.out_bytes < HEAD) {
        return remote_nonsense(r, "a description");
    }
    memcpy(head, out, 20);
    memcpy(&head_id, out, sizeof(head_id));
    memcpy(&n, out + 16, sizeof(n));
    if (call.out_bytes != HEAD + n * (uint64_t)sizeof(*recs) || head_id != id) {
        return remote_nonsense(r, "a description's size");
    }
    memcpy(recs, out + HEAD, (n < *nrecs ? n : *nrecs) * sizeof(*recs));
    *nrecs = n;
    return 0;
}

static int remote_epid(struct target *t, uint32_t epid, struct d_epid_desc *desc,
                       struct d_recdesc *recs, uint32_t *nrecs)
{
    uint32_t room = *nrecs;
    int error = describe(of(t), KYMO_D_EPID, epid, desc, recs, nrecs);

    if (!error && *nrecs <= room && !remote_epid_fits(of(t)->image, desc, recs)) {
        return remote_nonsense(of(t), "records of another program");
    }
    return error;
}

static int remote_agg(struct target *t, uint32_t id, struct d_agg_desc *desc,
                      struct d_recdesc *recs, uint32_t *nrecs)
{
    uint32_t room = *nrecs;
    int error = describe(of(t), KYMO_D_AGG, id, desc, recs, nrecs);

    if (!error && *nrecs <= room && !remote_agg_fits(of(t)->image, desc, recs)) {
        return remote_nonsense(of(t), "aggregations of another program");
    }
    return error;
}

/* ---- the target itself -------------------------------------------------------------------------
 */

static const struct d_model *remote_model(struct target *t)
{
    return d_model_of(of(t)->info.machine);
}

static unsigned remote_cpus(struct target *t)
{
    return of(t)->info.cpus;
}

static const struct d_probe_source *remote_probes(struct target *t)
{
    return &of(t)->source;
}

static uint64_t remote_option_default(struct target *t, const char *option)
{
    const struct kymo_d_info *i = &of(t)->info;
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
    return D_OPTION_UNSET;
}

static int remote_resume(struct target *t, int32_t pid)
{
    struct kymo_d_call call = {.command = KYMO_D_RESUME, .id = (uint32_t)pid};

    return remote_ask(of(t), &call, NULL, 0);
}

static const char *remote_gone(struct target *t)
{
    return *of(t)->gone ? of(t)->gone : NULL;
}

static void remote_close(struct target *t)
{
    struct remote *r = of(t);
    struct kymo_d_call call;

    if (r->handle && !*r->gone) {
        simple(r, KYMO_D_DESTROY, &call);
    }
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
    const struct kymo_d_info *i = &of(t)->info;

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
    fputs("\n\n", out);
}

static const struct target_ops remote_ops = {
    .close = remote_close,
    .model = remote_model,
    .cpus = remote_cpus,
    .probes = remote_probes,
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
    .resume = remote_resume,
    .look = remote_look,
    .claim = remote_claim,
    .log_start = remote_log_start,
    .log_pass = remote_log_pass,
    .log_end = remote_log_end,
    .gone = remote_gone,
    .elves = remote_elves,
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
        return remote_nonsense(r, "D of another version");
    }
    if (i->cpus == 0 || i->cpus > REMOTE_CPUS_MAX ||
        (i->pointer_bytes != 4 && i->pointer_bytes != 8) ||
        !remote_text_ok(i->board, sizeof(i->board)) || i->strsize > 1 << 20 ||
        i->bufsize > REMOTE_BUFFER_MAX || i->aggsize > REMOTE_BUFFER_MAX) {
        return remote_nonsense(r, "what it is");
    }
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
        snprintf(text, sizeof(text), "%s", *r->gone ? r->gone : strerror(-error));
        *why = text;
        remote_close(&r->base);
        return NULL;
    }
    return &r->base;
}
