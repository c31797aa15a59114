/* SPDX-License-Identifier: BSD-2-Clause */
/* Subroutines about numbers and ids. Probe context. Tested by
 * test/trace/dtrace/machine/subr_test.c. */
#include "trace/dtrace/subr.h"

#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/speculate.h"

enum { DIGITS_MAX = 64, PREFIX_MAX = 2 }; /* in base 2; in base 16 */

/* The result is an int. */
uint64_t dtrace_subr_rand(struct dtrace_context *c)
{
    (void)c;
    return (uint64_t)(int32_t)(uint32_t)dtrace_port_random();
}

uint64_t dtrace_subr_speculation(struct dtrace_context *c)
{
    return dtrace_speculation_new(c->speculations);
}

uint64_t dtrace_subr_progenyof(struct dtrace_context *c)
{
    return dtrace_own_process(c) && dtrace_port_descends((int32_t)(uint32_t)dtrace_arg(c, 0));
}

/* Copies the name: the process may end, and another take its slot, while the clause runs. */
uint64_t dtrace_subr_pidname(struct dtrace_context *c)
{
    const char *name = dtrace_port_pidname((int32_t)(uint32_t)dtrace_arg(c, 0));
    struct dtrace_writer w;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    for (; *name != '\0'; name++) { /* at most DTRACE_PORT_NAME_MAX */
        dtrace_writer_put(&w, (uint8_t)*name);
    }
    return dtrace_writer_close(&w);
}

uint64_t dtrace_subr_lwpinfo(struct dtrace_context *c)
{
    int32_t pid = (int32_t)(uint32_t)dtrace_arg(c, 0), tid = (int32_t)(uint32_t)dtrace_arg(c, 1);

    return dtrace_port_lwpinfo(pid, tid, (uint32_t)dtrace_arg(c, 2));
}

uint64_t dtrace_subr_swap16(struct dtrace_context *c)
{
    return __builtin_bswap16((uint16_t)dtrace_arg(c, 0));
}

uint64_t dtrace_subr_swap32(struct dtrace_context *c)
{
    return __builtin_bswap32((uint32_t)dtrace_arg(c, 0));
}

uint64_t dtrace_subr_swap64(struct dtrace_context *c)
{
    return __builtin_bswap64(dtrace_arg(c, 0));
}

void dtrace_writer_number(struct dtrace_writer *w, uint32_t base, uint64_t value)
{
    uint8_t text[DIGITS_MAX], *end = text + sizeof(text), *p = end;

    do {
        uint8_t digit = (uint8_t)(value % base);
        *--p = digit + (digit < 10 ? '0' : 'a' - 10);
        value /= base;
    } while (value != 0);
    while (p < end) {
        dtrace_writer_put(w, *p++);
    }
}

/* Writes a sign in base 10, 0x in base 16, a leading 0 in base 8. */
uint64_t dtrace_subr_lltostr(struct dtrace_context *c)
{
    const uint64_t asked = dtrace_arg_or(c, 1, 10);
    const uint32_t base = (uint32_t)asked;
    uint64_t value = dtrace_arg(c, 0);
    const char *prefix = base == 16 ? "0x" : base == 8 && value != 0 ? "0" : "";
    struct dtrace_writer w;

    if (asked - 2 > 36 - 2) {
        return dtrace_illegal(c);
    }
    if (base == 10 && (int64_t)value < 0) {
        prefix = "-";
        value = 0 - value;
    }
    dtrace_writer_open(&w, c, DIGITS_MAX + PREFIX_MAX);
    while (*prefix) {
        dtrace_writer_put(&w, (uint8_t)*prefix++);
    }
    dtrace_writer_number(&w, base, value);
    return dtrace_writer_close(&w);
}
