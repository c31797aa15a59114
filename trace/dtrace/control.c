/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's control call, see control.h: the commands, their arguments, ownership of consumers. The
 * answers are in control_answer.c.
 */
#include "trace/atomic.h"
#include "trace/dtrace/control_answer.h"

#include "abi/errno.h"
#include "trace/assert.h"
#include "trace/dtrace/port.h"

/* The table of consumers; a handle is the index + 1, with the count of reuses above it. */
struct dtrace_control_entry dtrace_control_entries[DTRACE_CONTROL_CONSUMERS];
static uint32_t handles_given;
static struct dtrace_control_program boot_program;

_Static_assert(DTRACE_CONTROL_CONSUMERS < 256, "the entry is in the low byte of the handle");

static struct dtrace_control_entry *entry_new(const void *owner)
{
    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        if (!dtrace_control_entries[i].consumer) {
            dtrace_control_entries[i].owner = owner;
            dtrace_control_entries[i].payer = NULL;
            dtrace_control_entries[i].handle = ++handles_given << 8 | (i + 1);
            return &dtrace_control_entries[i];
        }
    }
    return NULL;
}

static void entry_free(struct dtrace_control_entry *p)
{
    trace_assert(p->consumer);
    dtrace_consumer_destroy(p->consumer);
    p->consumer = NULL;
    if (p->payer) {
        dtrace_control_refund(p->payer, p->paid);
    }
}

bool dtrace_control_owns(const void *owner)
{
    bool owns = false;

    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        owns |= dtrace_control_entries[i].consumer && dtrace_control_entries[i].owner == owner;
    }
    return owns;
}

void dtrace_control_end(const void *owner)
{
    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        if (dtrace_control_entries[i].consumer && dtrace_control_entries[i].owner == owner) {
            entry_free(&dtrace_control_entries[i]);
        }
    }
}

/* ---- consumers come and go --------------------------------------------------------- */

static int control_create(struct dtrace_control_request *r)
{
    struct dtrace_refusal why = {.object = UINT32_MAX, .offset = UINT32_MAX};
    struct dtrace_control_entry *p = entry_new(r->owner);
    struct dtrace_asker asker = {r->rights, (int32_t)dtrace_control_pid(r->owner)};
    bool pays = p && dtrace_control_pay(r->owner);
    int error = pays ? dtrace_consumer_create_for(&asker, r->in, r->call->in_bytes, r->call->flags,
                                                  &p->consumer, &why)
                     : dtrace_refuse(&why, DTRACE_REASON_CONSUMERS);
    size_t bytes = pays ? dtrace_control_paid() : 0;

    if (error && pays) {
        dtrace_control_refund(r->owner, bytes);
    }
    if (error) {
        dtrace_answer_put(r, 0, &why, sizeof(why));
        return error;
    }
    r->entry = p;
    p->payer = r->owner;
    p->paid = bytes;
    p->consumer->log_id = p->handle;
    r->call->handle = p->handle;
    return dtrace_answer_sizes(r);
}

static int control_destroy(struct dtrace_control_request *r)
{
    entry_free(r->entry);
    return 0;
}

static int control_limit(struct dtrace_control_request *r)
{
    r->call->id = dtrace_max_cost_lower(r->call->id);
    return 0;
}

/* The boot's consumer belongs to no process: this address identifies its owner. */
static struct dtrace_control_entry *boot_entry(void)
{
    for (unsigned i = 0; i < DTRACE_CONTROL_CONSUMERS; i++) {
        if (dtrace_control_entries[i].consumer &&
            dtrace_control_entries[i].owner == &boot_program) {
            return &dtrace_control_entries[i];
        }
    }
    return NULL;
}

/* The caller has checked that it can read the records: a claim can't be undone. */
static int control_look(struct dtrace_control_request *r)
{
    if (!boot_entry()) {
        return -ENOENT;
    }
    if (r->room < boot_program.bytes) {
        return -EMSGSIZE;
    }
    dtrace_answer_put(r, 0, boot_program.image, boot_program.bytes);
    return 0;
}

static int control_claim(struct dtrace_control_request *r)
{
    struct dtrace_control_entry *p = boot_entry();

    if (!p) {
        return -ENOENT;
    }
    p->owner = r->owner;
    p->consumer->unattended = false;
    p->consumer->alive = dtrace_port_timestamp();
    r->call->handle = p->handle;
    r->call->id = dtrace_consumer_matched(p->consumer);
    return 0;
}

int dtrace_control_boot(const void *image, size_t size, struct dtrace_refusal *why)
{
    struct dtrace_control_entry *p = boot_entry();
    unsigned cpu;
    const struct dtrace_image *i = image;
    size_t own = size >= sizeof(*i) && i->size < size ? i->size : size;

    if (p) {
        entry_free(p);
    }
    p = entry_new(&boot_program);
    int error =
        p ? dtrace_consumer_create(image, own, DTRACE_CREATE_ZERO_OK, &p->consumer, why) : -EAGAIN;

    if (error) {
        return error;
    }
    boot_program = (struct dtrace_control_program){image, (uint32_t)size};
    p->consumer->unattended = true;
    error = p->consumer->kept ? dtrace_control_describe(p, &boot_program) : 0;
    error = error ? error : dtrace_consumer_go(p->consumer, &cpu);
    if (error) {
        entry_free(p);
    }
    return error;
}

/* ---- the commands ------------------------------------------------------------------ */

enum uses { /* the fields of struct kymo_d_call that a command reads; all others are 0 */
            HANDLE = 1,
            CPU = 2,
            ID = 4,
            FLAGS = 8,
            IN = 16,
            DEAD = 32, /* also for killed consumers */
            MAYBE_IN = 64,
            LOGS = 128, /* only for consumers that log */
            PASS_FLAGS = 256,
            KERNEL = 512,   /* needs DTRACE_MAY_KERNEL */
            DESTROY = 1024, /* needs DTRACE_MAY_DESTROY */
};

static const struct command {
    int (*run)(struct dtrace_control_request *);
    uint16_t uses;     /* enum uses */
    uint8_t out_least; /* least room for the answer, in bytes */
} commands[] = {
    [KYMO_D_INFO] = {dtrace_answer_info, 0, sizeof(struct kymo_d_info)},
    [KYMO_D_PROBES] = {dtrace_answer_probes, ID | MAYBE_IN, sizeof(struct kymo_d_probe)},
    [KYMO_D_PROVIDE] = {dtrace_answer_provide, IN, 0},
    [KYMO_D_CREATE] = {control_create, FLAGS | IN, sizeof(struct dtrace_refusal)},
    [KYMO_D_GO] = {dtrace_answer_go, HANDLE, 0},
    [KYMO_D_STOP] = {dtrace_answer_stop, HANDLE, 0},
    [KYMO_D_OVER] = {dtrace_answer_over, HANDLE | DEAD, 0},
    [KYMO_D_STATUS] = {dtrace_answer_status, HANDLE, sizeof(struct dtrace_status)},
    [KYMO_D_BUFFER] = {dtrace_answer_buffer, HANDLE | CPU, sizeof(struct dtrace_snap)},
    [KYMO_D_AGGREGATION] = {dtrace_answer_aggregation, HANDLE | CPU, sizeof(struct dtrace_snap)},
    [KYMO_D_EPID] = {dtrace_answer_epid, HANDLE | ID, DTRACE_CONTROL_DESC_BYTES},
    [KYMO_D_AGG] = {dtrace_answer_agg, HANDLE | ID, DTRACE_CONTROL_DESC_BYTES},
    [KYMO_D_RESUME] = {dtrace_answer_resume, ID | KERNEL | DESTROY, 0},
    [KYMO_D_DESTROY] = {control_destroy, HANDLE | DEAD, 0},
    [KYMO_D_CLAIM] = {control_claim, KERNEL, 0},
    [KYMO_D_SIZES] = {dtrace_answer_sizes, HANDLE, sizeof(struct kymo_d_created)},
    [KYMO_D_PROCESS] = {dtrace_answer_process, ID, sizeof(struct kymo_d_process)},
    [KYMO_D_LOOK] = {control_look, KERNEL, 0},
    [KYMO_D_NOTES] = {dtrace_answer_notes, HANDLE | ID | MAYBE_IN | LOGS, 0},
    [KYMO_D_PASS] = {dtrace_answer_pass, HANDLE | ID | PASS_FLAGS | LOGS,
                     sizeof(struct dtrace_status)},
    [KYMO_D_LIMIT] = {control_limit, ID | KERNEL, 0},
};
_Static_assert(sizeof(struct kymo_d_created) <= sizeof(struct dtrace_refusal), "CREATE's room");

static bool control_may(const struct dtrace_control_request *r, const struct command *c)
{
    uint32_t needs = (c->uses & KERNEL ? (uint32_t)DTRACE_MAY_KERNEL : 0) |
                     (c->uses & DESTROY ? (uint32_t)DTRACE_MAY_DESTROY : 0);

    return r->rights & (DTRACE_MAY_OWN | DTRACE_MAY_KERNEL) && (r->rights & needs) == needs;
}

/* Checks the fields of a call against those that its command reads. */
static int control_check(const struct dtrace_control_request *r, const struct command *c)
{
    const struct kymo_d_call *call = r->call;
    uint32_t flags = c->uses & FLAGS ? (uint32_t)DTRACE_CREATE_ZERO_OK | (uint32_t)DTRACE_CREATE_LOG
                     : c->uses & PASS_FLAGS ? (uint32_t)DTRACE_LOG_PASS_FLAGS
                                            : 0;

    if ((call->handle && !(c->uses & HANDLE)) || (call->cpu && !(c->uses & CPU)) ||
        (call->id && !(c->uses & ID)) || (call->flags & ~flags)) {
        return -EINVAL;
    }
    if ((call->in_bytes != 0 && !(c->uses & (IN | MAYBE_IN))) ||
        (call->in_bytes == 0 && c->uses & IN) || call->in_bytes > KYMO_D_IN_MOST ||
        r->room < c->out_least || r->room > KYMO_D_OUT_MOST) {
        return -EMSGSIZE;
    }
    return ((uintptr_t)r->in | (uintptr_t)r->out) % 8 ? -EINVAL : 0;
}

static int control_run(struct dtrace_control_request *r)
{
    const struct command *c = &commands[r->call->command];
    uint32_t i = (r->call->handle & 0xff) - 1;
    int error = control_may(r, c) ? control_check(r, c) : -EPERM;

    if (error || !(c->uses & HANDLE)) {
        return error ? error : c->run(r);
    }
    r->entry = &dtrace_control_entries[i % DTRACE_CONTROL_CONSUMERS];
    const struct dtrace_consumer *consumer = r->entry->consumer;
    if (i >= DTRACE_CONTROL_CONSUMERS || !consumer || r->entry->handle != r->call->handle ||
        r->entry->owner != r->owner) {
        return -EBADF;
    }
    /* notes are allowed also for consumers that retain */
    bool may_log = consumer->logs || (consumer->kept && c->run == dtrace_answer_notes);
    if (c->uses & LOGS && !may_log) {
        return -EINVAL;
    }
    r->state = trace_atomic_load(&consumer->state, __ATOMIC_ACQUIRE);
    return r->state == DTRACE_STATE_KILLED && !(c->uses & DEAD) ? -KYMO_D_ESHUTDOWN : c->run(r);
}

int dtrace_control(const void *owner, uint32_t rights, struct kymo_d_call *call, const void *in,
                   void *out)
{
    struct dtrace_control_request r = {.owner = owner,
                                       .rights = rights,
                                       .call = call,
                                       .in = in,
                                       .out = out,
                                       .room = call->out_bytes};
    bool known = call->command - 1 < sizeof(commands) / sizeof(*commands) - 1;

    call->out_bytes = 0;
    call->result = known ? control_run(&r) : -EINVAL;
    call->in_bytes = 0;
    return call->result;
}
