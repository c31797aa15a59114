/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restricted consumers: see own.h. Restrictions are implemented without cost for other consumers:
 * loads and built-in variables are rewritten when the program is loaded, and the ECBs of restricted
 * consumers run on a path of their own (DTRACE_ECB_ASIDE). Probe context, unless a function says
 * otherwise.
 */
#include "trace/dtrace/own.h"

#include "trace/dtrace/consumer.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/run.h"

/* ---- control context --------------------------------------------------------------- */

/* Returns the reason why an action needs another right; actions that the consumer executes, on its
 * own machine, need none. */
static enum dtrace_reason own_action_needs(uint32_t rights, uint16_t kind)
{
    bool destroys = rights & DTRACE_MAY_DESTROY, all = rights & DTRACE_MAY_KERNEL;

    switch (kind) {
    case DTRACE_ACT_STOP:
    case DTRACE_ACT_RAISE:
        return destroys ? DTRACE_REASON_NONE : DTRACE_REASON_NEEDS_DESTRUCTIVE;
    case DTRACE_ACT_BREAKPOINT:
    case DTRACE_ACT_PANIC:
    case DTRACE_ACT_CHILL:
        return destroys && all ? DTRACE_REASON_NONE : DTRACE_REASON_NEEDS_BOTH;
    case DTRACE_ACT_LOGSTOP:
        return rights & DTRACE_MAY_LOG ? DTRACE_REASON_NONE : DTRACE_REASON_NEEDS_TRACE;
    default:
        return DTRACE_REASON_NONE;
    }
}

static bool own_object_destroys(const struct dtrace_image *image, uint32_t n)
{
    struct dif_object o;

    dtrace_image_object_at(image, n, &o);
    for (uint32_t i = 0; i < o.ntext; i++) {
        uint32_t subr = DIF_INSN_INDEX(o.text[i]);
        if (DIF_INSN_OP(o.text[i]) == DIF_OP_call &&
            (subr == DIF_SUBR_copyout || subr == DIF_SUBR_copyoutstr)) {
            return true;
        }
    }
    return false;
}

int dtrace_own_check(const struct dtrace_asker *asker, const struct dtrace_image *image,
                     unsigned flags, struct dtrace_refusal *why)
{
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    uint32_t rights = asker->rights;
    bool logs = flags & DTRACE_CREATE_LOG || dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0);
    enum dtrace_reason reason =
        logs && !(rights & DTRACE_MAY_LOG) ? DTRACE_REASON_NEEDS_TRACE : DTRACE_REASON_NONE;

    for (uint32_t i = 0; i < image->actions.count && !reason; i++) {
        reason = own_action_needs(rights, a[i].kind);
    }
    for (uint32_t i = 0; i < image->objects.count && !reason && !(rights & DTRACE_MAY_DESTROY);
         i++) {
        reason = own_object_destroys(image, i) ? DTRACE_REASON_NEEDS_DESTRUCTIVE : reason;
    }
    return reason ? dtrace_refuse(why, reason) : 0;
}

/* Returns whether a built-in variable reveals data of the current process or thread. */
static bool own_is_process(uint16_t variable)
{
    switch (variable) {
    case DIF_VAR_timestamp:
    case DIF_VAR_walltimestamp:
    case DIF_VAR_ipl:
    case DIF_VAR_epid:
    case DIF_VAR_id:
    case DIF_VAR_probeprov:
    case DIF_VAR_probemod:
    case DIF_VAR_probefunc:
    case DIF_VAR_probename:
    case DIF_VAR_cpu:
    case DIF_VAR_zonename:
    case DIF_VAR_jailname:
        return false;
    default: /* arguments beyond the fifth exist only for ERROR, and are its own */
        return variable < DIF_VAR_arg0 || variable > DIF_VAR_arg9;
    }
}

void dtrace_own_restrict(struct dtrace_code *code)
{
    for (uint32_t n = 0; n < code->nobjects; n++) {
        struct dtrace_object *o = &code->objects[n];
        struct dtrace_insn *text = (struct dtrace_insn *)o->text;
        o->flags &= ~(uint32_t)DTRACE_OBJECT_BUILTIN;
        for (uint32_t i = 0; i < o->ntext; i++) {
            if (text[i].op >= DIF_OP_ldsb && text[i].op <= DIF_OP_ldx) {
                text[i].op += DIF_OP_rldsb - DIF_OP_ldsb;
            } else if (text[i].op == DIF_OP_ldgs && own_is_process(text[i].index)) {
                text[i].op = DTRACE_RUN_ldgs_own;
            } else if (text[i].op == DIF_OP_ldga && text[i].r1 != DIF_VAR_args) {
                text[i].op = DTRACE_RUN_ldga_own;
            }
        }
    }
}

/* ---- probe context ----------------------------------------------------------------- */

static bool own_is_tick(const struct dtrace_ecb *e)
{
    return e->probe->provider->ops->own & DTRACE_OWN_TICK && e->probe->name[0] == 't';
}

static bool own_is_current(const struct dtrace_consumer *c)
{
    return dtrace_port_pid() == c->own || dtrace_port_ppid() == c->own;
}

bool dtrace_own_sees(const struct dtrace_ecb *e)
{
    return own_is_current(e->consumer) || own_is_tick(e) ||
           e->probe->provider->ops->own & DTRACE_OWN_ANY;
}

bool dtrace_own_fires(const struct dtrace_ecb *e, struct dtrace_context *c, const uint64_t **args)
{
    static const uint64_t hidden[5];

    c->denied = DTRACE_DENIED_KERNEL;
    if (own_is_current(e->consumer)) {
        return true;
    }
    c->denied |= DTRACE_DENIED_PROCESS;
    if (own_is_tick(e)) {
        *args = hidden;
    }
    return dtrace_own_sees(e);
}
