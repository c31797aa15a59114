/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines by their numbers. Solaris' and FreeBSD's own have no meaning here and are an illegal
 * operation; so is a call with too few arguments. That the table agrees with opcodes.def is proved
 * by test/d_machine/subr_test.c.
 */
#include "trace/d/run.h"
#include "trace/d/subr.h"

/* Control context, when a program is loaded. */
uint32_t d_subr_find(uint32_t number)
{
    uint32_t i = 0;

    while (d_subrs[i].run && d_subrs[i].number != number) {
        i++;
    }
    return i;
}

uint64_t d_illegal(struct d_context *c)
{
    d_fault(c, DIF_FAULT_ILLOP, 0);
    return 0;
}

uint64_t d_subr(struct d_context *c, uint32_t i)
{
    const struct d_subr *s = &d_subrs[i];

    return s->run && c->nkeys >= s->least ? s->run(c) : d_illegal(c);
}
