/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's control call, see control.h: which commands there are, what each may say, whose consumers are
 * whose. What a command answers is in control_answer.c.
 */
#include "trace/d/control_answer.h"

#include "abi/errno.h"
#include "trace/d/port.h"

/* The consumers by place; a handle is the place + 1, and above it how often places were taken. */
static struct d_control_place places[D_CONTROL_CONSUMERS];
static uint32_t taken;
static struct d_control_program boot_program;

_Static_assert(D_CONTROL_CONSUMERS < 256, "the place is in the low byte of the handle");

static struct d_control_place *place_new(const void *owner)
{
    for (unsigned i = 0; i < D_CONTROL_CONSUMERS; i++) {
        if (!places[i].consumer) {
            places[i].owner = owner;
            places[i].handle = ++taken << 8 | (i + 1);
            return &places[i];
        }
    }
    return NULL;
}

static struct d_control_place *place_of(const void *owner, uint32_t handle)
{
    unsigned i = (handle & 0xff) - 1;
    struct d_control_place *p = i < D_CONTROL_CONSUMERS ? &places[i] : NULL;

    return p && p->consumer && p->handle == handle && p->owner == owner ? p : NULL;
}

static void place_free(struct d_control_place *p)
{
    d_consumer_destroy(p->consumer);
    p->consumer = NULL;
}

void d_control_end(const void *owner)
{
    for (unsigned i = 0; i < D_CONTROL_CONSUMERS; i++) {
        if (places[i].consumer && places[i].owner == owner) {
            place_free(&places[i]);
        }
    }
}

unsigned d_control_count(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < D_CONTROL_CONSUMERS; i++) {
        n += places[i].consumer != NULL;
    }
    return n;
}

/* ---- consumers come and go ---------------------------------------------------------------------
 */

static int create(struct d_control_request *r)
{
    struct d_refusal why = {.object = UINT32_MAX, .offset = UINT32_MAX};
    struct d_control_place *p = place_new(r->owner);
    int error = p ? d_consumer_create(r->in, r->call->in_bytes, r->call->flags, &p->consumer, &why)
                  : d_refuse(&why, D_REASON_CONSUMERS);

    if (error) {
        d_control_put(r, 0, &why, sizeof(why));
        return error;
    }
    r->place = p;
    p->consumer->log_id = p->handle;
    r->call->handle = p->handle;
    return d_control_sizes(r);
}

static int destroy(struct d_control_request *r)
{
    place_free(r->place);
    return 0;
}

/* The boot's consumer belongs to nobody, whose address is this one. */
static struct d_control_place *boot_place(void)
{
    for (unsigned i = 0; i < D_CONTROL_CONSUMERS; i++) {
        if (places[i].consumer && places[i].owner == &boot_program) {
            return &places[i];
        }
    }
    return NULL;
}

/* Who claims has looked whether he can read what it records: a claim can't be taken back. */
static int look(struct d_control_request *r)
{
    if (!boot_place()) {
        return -ENOENT;
    }
    if (r->room < boot_program.bytes) {
        return -EMSGSIZE;
    }
    d_control_put(r, 0, boot_program.image, boot_program.bytes);
    return 0;
}

static int claim(struct d_control_request *r)
{
    struct d_control_place *p = boot_place();

    if (!p) {
        return -ENOENT;
    }
    p->owner = r->owner;
    p->consumer->unattended = false;
    p->consumer->alive = d_port_timestamp();
    r->call->handle = p->handle;
    r->call->id = d_consumer_matched(p->consumer);
    return 0;
}

int d_control_boot(const void *image, size_t size, struct d_refusal *why)
{
    struct d_control_place *p = boot_place();
    unsigned cpu;
    const struct d_image *i = image;
    size_t own = size >= sizeof(*i) && i->size < size ? i->size : size;

    if (p) {
        place_free(p);
    }
    p = place_new(&boot_program);
    int error = p ? d_consumer_create(image, own, D_CREATE_ZERO_OK, &p->consumer, why) : -EAGAIN;

    if (error) {
        return error;
    }
    boot_program = (struct d_control_program){image, (uint32_t)size};
    p->consumer->unattended = true;
    error = p->consumer->kept ? d_control_describe(p, &boot_program) : 0;
    error = error ? error : d_consumer_go(p->consumer, &cpu);
    if (error) {
        place_free(p);
    }
    return error;
}

/* ---- the commands ------------------------------------------------------------------------------
 */

enum uses { /* what of struct kymo_d_call a command reads; all else is 0 */
            HANDLE = 1,
            CPU = 2,
            ID = 4,
            FLAGS = 8,
            IN = 16,
            DEAD = 32, /* it is for killed consumers too */
            MAYBE_IN = 64,
            LOGS = 128, /* it is for consumers that log */
            PASS_FLAGS = 256,
};

static const struct command {
    int (*run)(struct d_control_request *);
    uint16_t uses;     /* enum uses */
    uint8_t out_least; /* bytes of room that it needs at least */
} commands[] = {
    [KYMO_D_INFO] = {d_control_tell, 0, sizeof(struct kymo_d_info)},
    [KYMO_D_PROBES] = {d_control_probes, ID | MAYBE_IN, sizeof(struct kymo_d_probe)},
    [KYMO_D_PROVIDE] = {d_control_provide, IN, 0},
    [KYMO_D_CREATE] = {create, FLAGS | IN, sizeof(struct d_refusal)},
    [KYMO_D_GO] = {d_control_go, HANDLE, 0},
    [KYMO_D_STOP] = {d_control_stop, HANDLE, 0},
    [KYMO_D_OVER] = {d_control_over, HANDLE | DEAD, 0},
    [KYMO_D_STATUS] = {d_control_status, HANDLE, sizeof(struct d_status)},
    [KYMO_D_BUFFER] = {d_control_buffer, HANDLE | CPU, sizeof(struct d_snap)},
    [KYMO_D_AGGREGATION] = {d_control_aggregation, HANDLE | CPU, sizeof(struct d_snap)},
    [KYMO_D_EPID] = {d_control_epid, HANDLE | ID, D_CONTROL_DESC_BYTES},
    [KYMO_D_AGG] = {d_control_agg, HANDLE | ID, D_CONTROL_DESC_BYTES},
    [KYMO_D_RESUME] = {d_control_wake, ID, 0},
    [KYMO_D_DESTROY] = {destroy, HANDLE | DEAD, 0},
    [KYMO_D_CLAIM] = {claim, 0, 0},
    [KYMO_D_SIZES] = {d_control_sizes, HANDLE, sizeof(struct kymo_d_created)},
    [KYMO_D_PROCESS] = {d_control_whois, ID, sizeof(struct kymo_d_process)},
    [KYMO_D_LOOK] = {look, 0, 0},
    [KYMO_D_NOTES] = {d_control_notes, HANDLE | ID | MAYBE_IN | LOGS, 0},
    [KYMO_D_PASS] = {d_control_pass, HANDLE | ID | PASS_FLAGS | LOGS, sizeof(struct d_status)},
};
_Static_assert(sizeof(struct kymo_d_created) <= sizeof(struct d_refusal), "CREATE's room");

static uint32_t flags_of(const struct command *c)
{
    return c->uses & FLAGS        ? (uint32_t)D_CREATE_ZERO_OK | (uint32_t)D_CREATE_LOG
           : c->uses & PASS_FLAGS ? (uint32_t)D_LOG_PASS_FLAGS
                                  : 0;
}

static int check(const struct d_control_request *r, const struct command *c)
{
    const struct kymo_d_call *call = r->call;

    if ((call->handle && !(c->uses & HANDLE)) || (call->cpu && !(c->uses & CPU)) ||
        (call->id && !(c->uses & ID)) || (call->flags & ~flags_of(c))) {
        return -EINVAL;
    }
    if ((call->in_bytes != 0 && !(c->uses & (IN | MAYBE_IN))) ||
        (call->in_bytes == 0 && c->uses & IN) || call->in_bytes > KYMO_D_IN_MOST ||
        r->room < c->out_least || r->room > KYMO_D_OUT_MOST) {
        return -EMSGSIZE;
    }
    return ((uintptr_t)r->in | (uintptr_t)r->out) % 8 ? -EINVAL : 0;
}

/* Notes are also for those that retain. */
static bool may_log(const struct command *c, const struct d_consumer *consumer)
{
    return !(c->uses & LOGS) || consumer->logs || (consumer->kept && c->run == d_control_notes);
}

static int run(struct d_control_request *r)
{
    const struct command *c = &commands[r->call->command];
    int error = check(r, c);

    if (error || !(c->uses & HANDLE)) {
        return error ? error : c->run(r);
    }
    r->place = place_of(r->owner, r->call->handle);
    if (!r->place) {
        return -EBADF;
    }
    if (!may_log(c, r->place->consumer)) {
        return -EINVAL;
    }
    r->state = __atomic_load_n(&r->place->consumer->state, __ATOMIC_ACQUIRE);
    return r->state == D_STATE_KILLED && !(c->uses & DEAD) ? -KYMO_D_ESHUTDOWN : c->run(r);
}

int d_control(const void *owner, struct kymo_d_call *call, const void *in, void *out)
{
    struct d_control_request r = {
        .owner = owner, .call = call, .in = in, .out = out, .room = call->out_bytes};
    bool known = call->command - 1 < sizeof(commands) / sizeof(*commands) - 1;

    call->out_bytes = 0;
    call->result = known ? run(&r) : -EINVAL;
    call->in_bytes = 0;
    return call->result;
}
