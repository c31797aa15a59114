/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `syscall` of a capture: the probes of kernel/dtrace/syscall.c, fired by the KERCALL
 * events. arg0 … of an entry are those arguments of the call that the event's form has, by
 * abi/kercalls.def. See after.h.
 */
#include "host/after/after.h"

#include "trace/dtrace/probe.h"
#include "trace/dtrace/site/sites.h"
#include "trace/filter.h"
#include "trace/port.h"
#include "trace/ring.h"

enum { ENTRY, RETURN, KINDS, ARGUMENTS = 6, LIST_MOST = 20 };

#define NO_ARGUMENT (-1)
#define LIST_END (-2)
#define a0 0
#define a1 1
#define a2 2
#define a3 3
#define a4 4
#define a5 5
#define m0 NO_ARGUMENT
#define m1 NO_ARGUMENT
#define m2 NO_ARGUMENT
#define F(n, structure, member, type, name) NO_ARGUMENT
#define W(n, c_type, type, name) NO_ARGUMENT
#define LIST(...) \
    { \
        __VA_ARGS__ __VA_OPT__(, ) LIST_END \
    }
#define ENTER(...) LIST(__VA_ARGS__)
#define ENTERW(...) LIST(__VA_ARGS__)

#define A(...) \
    { \
        __VA_ARGS__ \
    }
enum argument { NONE, VALUE, POINTER };
#define VAL(name) VALUE
#define IN(name, bytes) POINTER
#define OUT(name, bytes) POINTER
#define INOUT(name, bytes) POINTER
#define STR(name) POINTER
#define MSG(name) POINTER

static const struct call {
    const char *name;
    uint8_t arguments[ARGUMENTS]; /* enum argument */
    int8_t fast[LIST_MOST], wide[LIST_MOST];
    bool there;
} calls[TRACE_KERCALLS] = {
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    [number] = {#handler, arguments, enter, enter_wide, true},
#include "abi/kercalls.def"
#undef KERCALL
};

static uint32_t after_calls_probes[TRACE_KERCALLS][KINDS]; /* 0: none */
static uint16_t after_calls_enabled[TRACE_KERCALLS][KINDS];

const int8_t *after_call_words(unsigned call, bool wide)
{
    return call >= TRACE_KERCALLS || !calls[call].there ? NULL
           : wide                                       ? calls[call].wide
                                                        : calls[call].fast;
}

bool after_call_is_signed(unsigned call, unsigned n)
{
    return calls[call].arguments[n] == VALUE;
}

uint32_t after_call_carries(unsigned call, bool wide)
{
    const int8_t *list = after_call_words(call, wide);
    uint32_t carried = ~0u;

    for (unsigned i = 0; list && i < ARGUMENTS; i++) {
        carried &= calls[call].arguments[i] ? ~(1u << i) : ~0u;
    }
    for (; list && *list != LIST_END; list++) {
        carried |= *list >= 0 ? 1u << *list : 0;
    }
    return carried;
}

void after_call_fire(unsigned call, bool is_return, const uint64_t *words)
{
    if (call >= TRACE_KERCALLS || !after_calls_enabled[call][is_return]) {
        return;
    }
    const struct dtrace_probe *p = dtrace_probe_at(after_calls_probes[call][is_return]);
    if (!dtrace_probe_skips(p)) {
        trace_port_cpu()->fired = words;
        dtrace_probe_fire(p, words);
        trace_port_cpu()->fired = NULL;
    }
}

static unsigned after_calls_kind_of(void *arg)
{
    return (unsigned)((uintptr_t)arg >> 8);
}

static void after_calls_set_enabled(void *arg, bool value)
{
    unsigned kind = after_calls_kind_of(arg);
    uint16_t *count = &after_calls_enabled[(uintptr_t)arg & 0xff][kind];

    *count = (uint16_t)(value ? *count + 1 : *count - 1);
    dtrace_site_want(kind == ENTRY ? TRACE_EV_kercall_enter : TRACE_EV_kercall_exit, value);
}

static int call_enable(uint32_t probe, void *arg)
{
    (void)probe;
    after_calls_set_enabled(arg, true);
    return 0;
}

static void call_disable(uint32_t probe, void *arg)
{
    (void)probe;
    after_calls_set_enabled(arg, false);
}

static uint64_t call_argument(uint32_t probe, void *arg, unsigned n)
{
    const uint64_t *words = trace_port_cpu()->fired;

    (void)probe;
    (void)arg;
    return words && n < ARGUMENTS ? words[n] : 0;
}

static const char *call_argument_type(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    if (after_calls_kind_of(arg) == RETURN) {
        return n < 2 ? "intptr_t" : NULL;
    }
    return n < ARGUMENTS ? "uintptr_t" : NULL;
}

void after_calls_init(void)
{
    static const struct dtrace_provider_ops ops = {.attributes = DTRACE_KERNEL_ATTRIBUTES,
                                                   .enable = call_enable,
                                                   .disable = call_disable,
                                                   .argument = call_argument,
                                                   .argument_type = call_argument_type};
    static const struct dtrace_provider provider = {"syscall", &ops};
    static const char *const names[KINDS] = {"entry", "return"};

    dtrace_provider_register(&provider);
    for (uintptr_t i = 0; i < TRACE_KERCALLS; i++) {
        for (unsigned kind = 0; kind < KINDS && calls[i].there; kind++) {
            after_calls_probes[i][kind] =
                dtrace_probe_add(&provider, "kernel", calls[i].name, names[kind],
                                 (void *)((uintptr_t)kind << 8 | i));
        }
    }
}
