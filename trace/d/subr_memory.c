/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that take and copy memory. What they write is scratch of this clause, or, in a
 * destructive program, the current process. Of a firing. Tested by
 * test/d_machine/subr_memory_test.c.
 */
#include "trace/d/subr.h"

#include "trace/d/port.h"

enum { OUT_PIECE = 64, OUT_MAX = 64 * 1024 };

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

/* To the current process, through a small buffer: neither side can be trusted to stay. */
static void copy_out(struct d_context *c, uint64_t from, uint64_t to, size_t bytes)
{
    uint8_t piece[OUT_PIECE];

    for (size_t done = 0; done < bytes; done += OUT_PIECE) {
        size_t n = bytes - done < OUT_PIECE ? bytes - done : OUT_PIECE;
        if (!d_load_block(c, piece, from + done, n, false)) {
            return;
        }
        if (d_port_toxic(to + done, n, true) || !d_port_poke_user(to + done, piece, n)) {
            d_fault(c, DIF_FAULT_BADADDR, to + done);
            return;
        }
    }
}

uint64_t d_subr_copyout(struct d_context *c)
{
    uint64_t bytes = d_arg(c, 2);

    if (bytes > OUT_MAX) {
        return d_illegal(c);
    }
    copy_out(c, d_arg(c, 0), d_arg(c, 1), (size_t)bytes);
    return 0;
}

/* With its NUL, if there is room. */
uint64_t d_subr_copyoutstr(struct d_context *c)
{
    uint64_t from = d_arg(c, 0), room = d_arg(c, 2);
    size_t limit = room < c->code->strsize ? (size_t)room : c->code->strsize;
    size_t length = d_text_length(c, from, limit);

    if (c->fault.kind == DIF_FAULT_NONE) {
        copy_out(c, from, d_arg(c, 1), length < limit ? length + 1 : limit);
    }
    return 0;
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
