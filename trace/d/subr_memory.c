/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that take and copy memory. What they write is scratch of this clause. Of a firing.
 * Tested by test/d_machine/subr_memory_test.c.
 */
#include "trace/d/subr.h"

uint64_t d_subr_alloca(struct d_context *c)
{
    uint8_t *p = d_scratch(c, d_arg(c, 0));

    if (p) {
        __builtin_memset(p, 0, (size_t)d_arg(c, 0));
    }
    return (uintptr_t)p;
}

static void copy_to_scratch(struct d_context *c, uint64_t from, uint64_t to, uint64_t bytes,
                            bool user)
{
    uint8_t *p = bytes ? d_storable_scratch(c, to, bytes) : NULL;

    if (p) {
        d_load_block(c, p, from, (size_t)bytes, user);
    }
}

uint64_t d_subr_bcopy(struct d_context *c)
{
    copy_to_scratch(c, d_arg(c, 0), d_arg(c, 1), d_arg(c, 2), false);
    return 0;
}

uint64_t d_subr_copyinto(struct d_context *c)
{
    copy_to_scratch(c, d_arg(c, 0), d_arg(c, 2), d_arg(c, 1), true);
    return 0;
}

uint64_t d_subr_copyin(struct d_context *c)
{
    uint64_t bytes = d_arg(c, 1);
    uint8_t *p = d_scratch(c, bytes);

    if (p) {
        d_load_block(c, p, d_arg(c, 0), (size_t)bytes, true);
    }
    return (uintptr_t)p;
}

uint64_t d_subr_copyinstr(struct d_context *c)
{
    uint64_t most = d_arg_or(c, 1, UINT64_MAX);
    struct d_writer w;
    struct d_text t;
    uint8_t byte;

    d_writer_open(&w, c, c->code->strsize - 1);
    d_text_open(&t, c, d_arg(c, 0), true);
    if (most > c->code->strsize - 1) {
        most = c->code->strsize - 1;
    }
    for (size_t i = 0; i < most && (byte = d_text_byte(&t, i)) != 0; i++) {
        d_writer_put(&w, byte);
    }
    return d_writer_close(&w);
}

uint64_t d_subr_memref(struct d_context *c)
{
    uint8_t *p = d_scratch(c, 2 * sizeof(uintptr_t));

    if (p) {
        uintptr_t ref[2] = {(uintptr_t)d_arg(c, 0), (uintptr_t)d_arg(c, 1)};
        __builtin_memcpy(p, ref, sizeof(ref));
    }
    return (uintptr_t)p;
}
