/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in variables, each an entry of builtins.def. Values that may change while a clause runs
 * are looked up once. Strings are returned in place; the clause may read them through a window.
 * Probe context. Tested by test/trace/dtrace/machine/builtin_test.c.
 */
#include "trace/dtrace/ecb.h"
#include "trace/dtrace/machine.h"
#include "trace/dtrace/port.h"

enum { FIRED_ARGS = 5, ARGS_MAX = 256 };

/* Each variable of opcodes.def has one entry in builtins.def: two, or none, don't compile. */
#define AS_NEXT(name) HANDLED_##name,
#define VALUE(name, value) HANDLED_##name,
#define ONCE VALUE
#define SELDOM VALUE
#define COUNTER VALUE
#define STRING VALUE
#define ARRAY AS_NEXT
enum {
#include "trace/dtrace/builtins.def"
    HANDLED
};
#define DIF_VAR(number, name, kind, type, doc) +(0 * HANDLED_##name + 1)
_Static_assert(HANDLED == 0
#include "trace/dtrace/opcodes.def"
               ,
               "entries of what is no variable");

#define COUNTER(name, which) \
    _Static_assert(DIF_VAR_##name == DIF_VAR_cycles + (which), "builtin_other()");
#include "trace/dtrace/builtins.def"

/* Looks up a value at most once per clause. */
static DTRACE_HOT uint64_t builtin_once(struct dtrace_context *c, enum dtrace_once which)
{
    uint64_t value;

    trace_assert(which < DTRACE_ONCE_COUNT);
    if (c->present & 1u << which) {
        return c->once[which];
    }
    c->present |= 1u << which;
    switch (which) {
    case DTRACE_ONCE_TIMESTAMP:
        value = dtrace_port_timestamp();
        break;
    case DTRACE_ONCE_VTIMESTAMP:
        value = dtrace_port_vtimestamp();
        break;
    case DTRACE_ONCE_WALLTIMESTAMP:
        value = dtrace_port_walltimestamp();
        break;
    case DTRACE_ONCE_STACKDEPTH:
        value = dtrace_port_stack(false, NULL, DTRACE_PORT_DEPTH_MOST);
        break;
    case DTRACE_ONCE_USTACKDEPTH:
        value = dtrace_port_stack(true, NULL, DTRACE_PORT_DEPTH_MOST);
        break;
    case DTRACE_ONCE_CALLER:
        value = dtrace_port_caller(false);
        break;
    case DTRACE_ONCE_UCALLER:
        value = dtrace_port_caller(true);
        break;
    default:
        value = DTRACE_PORT_COUNTS && which >= DTRACE_ONCE_CYCLES
                    ? dtrace_port_counter(which - DTRACE_ONCE_CYCLES)
                    : dtrace_port_ipl();
    }
    c->once[which] = value;
    return value;
}

/* Looks up values that few clauses need: with its own code in each case dtrace_builtin() would be
 * twice as long. */
static __attribute__((noinline)) uint64_t builtin_seldom(struct dtrace_context *c,
                                                         enum dtrace_once which)
{
    return builtin_once(c, which);
}

/* Opens a window on a string, as far as it is readable. There are as many windows as built-in
 * strings. */
static uint64_t builtin_string(struct dtrace_context *c, const char *s)
{
    size_t size = 0;

    for (uint32_t i = 0; i < c->nwindows; i++) {
        if (c->windows[i].base == (uintptr_t)s) {
            return (uintptr_t)s;
        }
    }
    while (size < c->code->strsize && s[size++]) {
    }
    if (c->nwindows < DTRACE_WINDOWS) {
        c->windows[c->nwindows++] = (struct dtrace_region){(uintptr_t)s, size};
    }
    return (uintptr_t)s;
}

static DTRACE_HOT uint64_t builtin_argument(const struct dtrace_context *c, unsigned n)
{
    const struct dtrace_probe *probe = c->ecb->probe;

    if (n < FIRED_ARGS) {
        return c->args[n];
    }
    const struct dtrace_provider_ops *ops = probe->provider->ops;
    return ops->argument ? ops->argument(probe->id, probe->arg, n) : 0;
}

static uint64_t builtin_illegal(struct dtrace_context *c)
{
    dtrace_fault(c, DIF_FAULT_ILLOP, 0);
    return 0;
}

/* Returns NULL if the variable is not a string. */
static __attribute__((noinline)) const char *string_of(const struct dtrace_context *c,
                                                       uint32_t variable)
{
    const struct dtrace_probe *probe = c->ecb->probe;

    switch (variable) {
#define STRING(name, text) \
    case DIF_VAR_##name: \
        return text;
#include "trace/dtrace/builtins.def"
    default:
        return NULL;
    }
}

uint32_t dtrace_builtin_copy(struct dtrace_context *c, uint32_t variable, uint8_t *to,
                             uint32_t size)
{
    const char *from = string_of(c, variable);
    uint8_t *p = to, *end = to + size;

    if (!from) {
        return (uint32_t)DTRACE_NO_STRING;
    }
    while (*from && p < end) {
        *p++ = (uint8_t)*from++;
    }
    return (uint32_t)(p - to);
}

/* Returns a counter, if the port has some, or a string. */
static inline uint64_t builtin_other(struct dtrace_context *c, uint32_t variable)
{
    if (DTRACE_PORT_COUNTS && variable - DIF_VAR_cycles < DTRACE_PORT_COUNTERS) {
        return builtin_seldom(c, DTRACE_ONCE_CYCLES + (variable - DIF_VAR_cycles));
    }
    const char *string = string_of(c, variable);
    return string ? builtin_string(c, string) : builtin_illegal(c);
}

/* Uses a single switch, and so a single jump, because most clauses call this. */
uint64_t dtrace_builtin(struct dtrace_context *c, uint32_t variable)
{
    switch (variable) {
#define AS_NEXT(name) case DIF_VAR_##name:
#define VALUE(name, value) \
    case DIF_VAR_##name: \
        return value;
#define ONCE(name, which) VALUE(name, builtin_once(c, which))
#define SELDOM(name, which) VALUE(name, builtin_seldom(c, which))
#include "trace/dtrace/builtins.def"
    default:
        return builtin_other(c, variable);
    }
}

#define ARRAY(name) +1
_Static_assert(0
#include "trace/dtrace/builtins.def"
                       == 3 &&
                   DIF_VAR_args == 0 && DIF_VAR_regs == 1 && DIF_VAR_uregs == 2,
               "dtrace_builtin_array() knows these");

/* The fault's value says which element is not there: dif.h. */
uint64_t dtrace_builtin_array(struct dtrace_context *c, uint32_t variable, uint64_t index)
{
    uintptr_t value = 0;

    if (index < ARGS_MAX && variable == DIF_VAR_args) {
        return builtin_argument(c, (unsigned)index);
    }
    if (index >= ARGS_MAX || variable > DIF_VAR_uregs ||
        !dtrace_port_register(variable == DIF_VAR_uregs, (unsigned)index, &value)) {
        dtrace_fault(c, DIF_FAULT_ILLOP, (uint64_t)variable << 32 | (uint32_t)index);
    }
    return value;
}
