/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that allocate and copy memory. They write to this clause's scratch. Probe context.
 * Tested by test/trace/dtrace/machine/subr_memory_test.c.
 */
#include "trace/dtrace/subr.h"

uint64_t dtrace_subr_alloca(struct dtrace_context *c)
{
    uint8_t *p = dtrace_scratch(c, dtrace_arg(c, 0));

    if (p) {
        __builtin_memset(p, 0, (size_t)dtrace_arg(c, 0));
    }
    return (uintptr_t)p;
}

static void copy_to_scratch(struct dtrace_context *c, uint64_t from, uint64_t to, uint64_t bytes,
                            bool user)
{
    uint8_t *p = bytes ? dtrace_storable_scratch(c, to, bytes) : NULL;

    if (p) {
        dtrace_load_block(c, p, from, (size_t)bytes, user);
    }
}

uint64_t dtrace_subr_bcopy(struct dtrace_context *c)
{
    copy_to_scratch(c, dtrace_arg(c, 0), dtrace_arg(c, 1), dtrace_arg(c, 2), false);
    return 0;
}

uint64_t dtrace_subr_copyinto(struct dtrace_context *c)
{
    copy_to_scratch(c, dtrace_arg(c, 0), dtrace_arg(c, 2), dtrace_arg(c, 1), true);
    return 0;
}

uint64_t dtrace_subr_copyin(struct dtrace_context *c)
{
    uint64_t bytes = dtrace_arg(c, 1);
    uint8_t *p = dtrace_scratch(c, bytes);

    if (p) {
        dtrace_load_block(c, p, dtrace_arg(c, 0), (size_t)bytes, true);
    }
    return (uintptr_t)p;
}

uint64_t dtrace_subr_copyinstr(struct dtrace_context *c)
{
    uint64_t most = dtrace_arg_or(c, 1, UINT64_MAX);
    struct dtrace_writer w;
    struct dtrace_text t;
    uint8_t byte;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    dtrace_text_open(&t, c, dtrace_arg(c, 0), true);
    if (most > c->code->strsize - 1) {
        most = c->code->strsize - 1;
    }
    for (size_t i = 0; i < most && (byte = dtrace_text_byte(&t, i)) != 0; i++) {
        dtrace_writer_put(&w, byte);
    }
    return dtrace_writer_close(&w);
}

uint64_t dtrace_subr_memref(struct dtrace_context *c)
{
    uint8_t *p = dtrace_scratch(c, 2 * sizeof(uintptr_t));

    if (p) {
        uintptr_t ref[2] = {(uintptr_t)dtrace_arg(c, 0), (uintptr_t)dtrace_arg(c, 1)};
        __builtin_memcpy(p, ref, sizeof(ref));
    }
    return (uintptr_t)p;
}
