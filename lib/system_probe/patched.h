/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probes of the system: of this library and of drivers. SYSTEM_PROBE() is KYMO_PROBE(), but
 * the kernel switches these apart from a program's own (KYMO_TRACE_SYSTEM_PROBES, the D probe
 * user:::system), so that who asks for his events gets no others. Each has an argument or more.
 * docs/guide/userprobes.md has the list; loaded.h stands for this where programs run from flash.
 *
 * Any thread, any time; errno is unchanged. While on, a probe costs one kernel call and some 200
 * bytes of stack.
 */
#ifndef LIB_SYSTEM_PROBE_PATCHED_H
#define LIB_SYSTEM_PROBE_PATCHED_H

#define KYMO_PROBE_FIRE kymo_system_probe_fire
#define KYMO_PROBE_TABLE ".kymo_system_probes"
#define KYMO_PROBE_LEVEL KYMO_LOG_SYSTEM
/* One or two arguments are passed in registers: a frame for an array would cost a frequently called
 * function two instructions while the probe is off. */
#define KYMO_PROBE_CALL(n, wide, ...) SYSTEM_PROBE_CALL_##n(wide, __VA_ARGS__)
#include "lib/include/kymo_probe.h"

/* As kymo_probe_fire(). */
void kymo_system_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide);
/* how: n, and wide from bit 2 on. */
void kymo_system_probe_two(const void *site, unsigned how, unsigned long a, unsigned long b);

#define SYSTEM_PROBE_CALL_1(wide, a) \
    kymo_system_probe_two(&kymo_site_, 1 | (wide) << 2, (unsigned long)kymo_arg0_, 0)
#define SYSTEM_PROBE_CALL_2(wide, a, b) \
    kymo_system_probe_two(&kymo_site_, 2 | (wide) << 2, (unsigned long)kymo_arg0_, \
                          (unsigned long)kymo_arg1_)
#define SYSTEM_PROBE_CALL_3(wide, ...) KYMO_PROBE_BY_ARRAY(3, wide, __VA_ARGS__)
#define SYSTEM_PROBE_CALL_4(wide, ...) KYMO_PROBE_BY_ARRAY(4, wide, __VA_ARGS__)
#define SYSTEM_PROBE_CALL_5(wide, ...) KYMO_PROBE_BY_ARRAY(5, wide, __VA_ARGS__)
#define SYSTEM_PROBE_CALL_6(wide, ...) KYMO_PROBE_BY_ARRAY(6, wide, __VA_ARGS__)

#define SYSTEM_PROBE(...) KYMO_PROBE(__VA_ARGS__)
#define SYSTEM_PROBE_ENABLED() KYMO_PROBE_ENABLED()
/* Placed before a site that would be a function's first instruction: the provider pid has its entry
 * probe there, which can't share the kernel's branch. It has no effect. */
#if defined(__aarch64__)
#define SYSTEM_PROBE_ENTRY() __asm__ volatile("mov x16, x16")
#elif defined(__arm__)
#define SYSTEM_PROBE_ENTRY() __asm__ volatile("mov r12, r12")
#elif defined(__x86_64__)
#define SYSTEM_PROBE_ENTRY() __asm__ volatile("mov %rax, %rax")
#endif
/* SYSTEM_PROBE() without its own site, for code where SYSTEM_PROBE_ENABLED() was true. */
#define SYSTEM_PROBE_PASSED(...) \
    SYSTEM_PROBE_PASSED_N(KYMO_PROBE_COUNT(__VA_ARGS__), #__VA_ARGS__, __VA_ARGS__)
#define SYSTEM_PROBE_PASSED_N(n, text, ...) SYSTEM_PROBE_PASSED_(n, text, __VA_ARGS__)
#define SYSTEM_PROBE_PASSED_(n, text, ...) KYMO_PROBE_ON(n, text, __VA_ARGS__)

#endif
