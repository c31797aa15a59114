/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effects of a destructive program on its target: actions, and copies to the current process. A
 * board without them links subr_none.c instead. Probe context. Tested by test/trace/dtrace/fire,
 * test/trace/dtrace/machine/subr_memory_test.c.
 */
#include "trace/dtrace/fire.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/subr.h"

#define CHILL_MAX 500000000u /* ns, in each CHILL_SPAN */
#define CHILL_SPAN 1000000000u
enum { OUT_PIECE = 64 };

/* Copies to the current process through a small buffer: neither side is guaranteed to remain
 * mapped. */
static void destructive_copy_out(struct dtrace_context *c, uint64_t from, uint64_t to, size_t bytes)
{
    uint8_t piece[OUT_PIECE];

    for (size_t done = 0; done < bytes; done += OUT_PIECE) {
        size_t n = bytes - done < OUT_PIECE ? bytes - done : OUT_PIECE;
        if (!dtrace_load_block(c, piece, from + done, n, false)) {
            return;
        }
        if (!dtrace_own_process(c)) {
            return;
        }
        if (dtrace_port_toxic(to + done, n, true) || !dtrace_port_poke_user(to + done, piece, n)) {
            dtrace_fault(c, DIF_FAULT_BADADDR, to + done);
            return;
        }
    }
}

uint64_t dtrace_subr_copyout(struct dtrace_context *c)
{
    uint64_t bytes = dtrace_arg(c, 2);

    if (bytes > DTRACE_COPYOUT_MOST) {
        return dtrace_illegal(c);
    }
    destructive_copy_out(c, dtrace_arg(c, 0), dtrace_arg(c, 1), (size_t)bytes);
    return 0;
}

/* Copies the NUL, too, if there is room. */
uint64_t dtrace_subr_copyoutstr(struct dtrace_context *c)
{
    uint64_t from = dtrace_arg(c, 0), room = dtrace_arg(c, 2);
    size_t limit = room < c->code->strsize ? (size_t)room : c->code->strsize;
    size_t length = dtrace_text_length(c, from, limit);

    if (c->fault.kind == DIF_FAULT_NONE) {
        destructive_copy_out(c, from, dtrace_arg(c, 1), length < limit ? length + 1 : limit);
    }
    return 0;
}

static void destructive_chill(struct dtrace_clause_run *run, uint64_t ns)
{
    struct dtrace_consumer_cpu *here = run->here;
    uint64_t now = dtrace_port_timestamp();

    if (now - here->chill_since > CHILL_SPAN) {
        here->chill_since = now;
        here->chilled = 0;
    }
    if (ns > CHILL_MAX || here->chilled + ns > CHILL_MAX) {
        dtrace_illegal(&here->context);
        return;
    }
    here->chilled += ns;
    dtrace_port_chill(ns);
}

void dtrace_act_destructive(struct dtrace_clause_run *run, uint16_t kind, uint64_t value)
{
    switch (kind) {
    case DTRACE_ACT_STOP:
        if (dtrace_own_process(&run->here->context)) {
            dtrace_port_stop_process();
        }
        break;
    case DTRACE_ACT_RAISE:
        if (dtrace_own_process(&run->here->context)) {
            dtrace_port_raise((int)value);
        }
        break;
    case DTRACE_ACT_BREAKPOINT:
        dtrace_port_breakpoint();
        break;
    case DTRACE_ACT_PANIC:
        dtrace_port_panic();
        break;
    case DTRACE_ACT_CHILL:
        destructive_chill(run, value);
        break;
    default: /* executed by the consumer */
        break;
    }
}
