/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `syscall`: entry and return of every kernel call of abi/kercalls.def, on the sites
 * of the KERCALL events. Entry: arg0 … arg5 are the call's arguments. Return: arg0 and arg1 are the
 * result, errno is in errno; it fires when the thread returns to its program, however long the call
 * blocked.
 *
 * Enabling: kernel lock. Probe firing: on the thread's CPU, with or without the lock. Tested by
 * test/board's suite d.
 */
#include "abi/compiler.h"
#include "kernel/arch/cpu.h"
#include "kernel/dtrace/dtrace.h"

#include "kernel/base/cpu.h"
#include "kernel/dtrace/gate.h"
#include "kernel/base/kercall.h"
#include "kernel/base/window.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"
#include "trace/event_text.h"
#include "trace/filter.h"

enum { ENTRY, RETURN, KINDS, ARGUMENTS = 6 };

static const char *const kind_names[KINDS] = {"entry", "return"};

enum { CALL_NAME_MOST = 32 }; /* bytes of a call's name, with its NUL */
#define KERCALL(number, NAME, handler, ...) \
    _Static_assert(sizeof(#NAME) <= CALL_NAME_MOST, "CALL_NAME_MOST");
#include "abi/kercalls.def"
#undef KERCALL

static uint16_t probes[KERCALL_MAX][KINDS]; /* [k] by number; 0: not created */
_Static_assert(DTRACE_PROBE_CHUNKS *DTRACE_PROBE_CHUNK <= UINT16_MAX, "probes[]");
static uint32_t on[KINDS][KERCALL_MAX / 32]; /* [a] */

static const uint8_t sites[KINDS] = {TRACE_EV_kercall_enter, TRACE_EV_kercall_exit};

static inline bool is_on(unsigned kind, unsigned number)
{
    return number < KERCALL_MAX && (on[kind][number / 32] >> (number % 32) & 1);
}

static void syscall_fire(uint32_t probe, const uint64_t *words)
{
    uintptr_t irq = arch_irq_save();
    const struct dtrace_probe *p = dtrace_probe_at(probe);

    if (arch_cpu()->trace.fired) {
        dtrace_probe_nested(p);
    } else if (!dtrace_probe_skips(p)) {
        arch_cpu()->trace.fired = words;
        dtrace_probe_fire(p, words);
        arch_cpu()->trace.fired = NULL;
    }
    arch_irq_restore(irq);
}

void dtrace_syscall_entry(const struct thread *self)
{
    kernel_assert(self == arch_cpu()->current);
    const uintptr_t *a = self->args;

    if (is_on(ENTRY, self->call)) {
        syscall_fire(probes[self->call][ENTRY],
                     (const uint64_t[]){a[0], a[1], a[2], a[3], a[4], a[5]});
    }
}

void dtrace_syscall_return(const struct thread *self)
{
    if (is_on(RETURN, self->call)) {
        const uint64_t result = (uint64_t)(int64_t)self->result;
        syscall_fire(probes[self->call][RETURN], (const uint64_t[]){result, result, 0, 0, 0, 0});
    }
}

/* Decode a probe's arg: kind and number. */
static unsigned kind_of(void *arg)
{
    return (unsigned)((uintptr_t)arg >> 8);
}

static unsigned number_of(void *arg)
{
    return (unsigned)((uintptr_t)arg & 0xff);
}

static COLD void syscall_set(void *arg, bool value)
{
    kernel_assert(kernel_locked());
    unsigned kind = kind_of(arg), number = number_of(arg);
    uint32_t bit = 1u << (number % 32);

    on[kind][number / 32] = value ? on[kind][number / 32] | bit : on[kind][number / 32] & ~bit;
    dtrace_site_want(sites[kind], value);
}

static int syscall_enable(uint32_t probe, void *arg)
{
    (void)probe;
    syscall_set(arg, true);
    return 0;
}

static void syscall_disable(uint32_t probe, void *arg)
{
    (void)probe;
    syscall_set(arg, false);
}

static uint64_t syscall_argument(uint32_t probe, void *arg, unsigned n)
{
    const uint64_t *words = arch_cpu()->trace.fired;

    (void)probe;
    (void)arg;
    return words && n < ARGUMENTS ? words[n] : 0;
}

static const char *syscall_argument_type(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    if (kind_of(arg) == RETURN) {
        return n < 2 ? "intptr_t" : NULL;
    }
    return n < ARGUMENTS ? "uintptr_t" : NULL;
}

static void syscall_provide(const char *module, const char *function, const char *name);
static const struct dtrace_provider_ops syscall_ops = {.attributes = DTRACE_KERNEL_ATTRIBUTES,
                                                       .provide = syscall_provide,
                                                       .enable = syscall_enable,
                                                       .disable = syscall_disable,
                                                       .settle = trace_sites_settle,
                                                       .argument = syscall_argument,
                                                       .argument_type = syscall_argument_type,
                                                       .own = DTRACE_OWN_CURRENT};
static const struct dtrace_provider provider = {"syscall", &syscall_ops};

bool dtrace_syscall_event(const struct dtrace_probe *probe, unsigned *site, unsigned *number)
{
    if (probe->provider != &provider) {
        return false;
    }
    *site = sites[kind_of(probe->arg)];
    *number = number_of(probe->arg);
    return true;
}

/* Reads a line of trace_kercall_text[], in which D's names of the calls are in lower case. Returns
 * the next line. */
static COLD const char *call_read(const char *text, char name[CALL_NAME_MOST], unsigned *number)
{
    *number = 0;
    while (*text != ' ') {
        *number = *number * 10 + (unsigned)(*text++ - '0');
    }
    while (*++text != ' ') {
        *name++ = *text >= 'A' && *text <= 'Z' ? (char)(*text | ('a' - 'A')) : *text;
    }
    *name = '\0';
    while (*text++ != '\n') {
    }
    return text;
}

/* Creates probes on demand. Those of a call share the copy of its name. */
static COLD void syscall_provide(const char *module, const char *function, const char *name)
{
    const char *text = trace_kercall_text;
    const char *end = dtrace_glob(module, "kernel") ? text + trace_kercall_text_len : text;

    while (text < end) {
        char call[CALL_NAME_MOST];
        const char *copy = NULL;
        unsigned number;

        kernel_window();
        text = call_read(text, call, &number);
        for (unsigned kind = 0; kind < KINDS; kind++) {
            uint16_t *probe = &probes[number][kind];
            if (*probe == 0 && dtrace_glob(name, kind_names[kind]) && dtrace_glob(function, call) &&
                (copy || (copy = dtrace_name_keep(call)))) {
                *probe = (uint16_t)dtrace_probe_add(&provider, "kernel", copy, kind_names[kind],
                                                    (void *)(uintptr_t)(kind << 8 | number));
            }
        }
    }
}

COLD void dtrace_syscall_init(void)
{
    dtrace_provider_register(&provider);
}
