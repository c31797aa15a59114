/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rest of the seam of d_bench: answers that cost next to nothing.
 */
#include "trace/dtrace/port.h"

#include <stdlib.h>
#include <string.h>

uint64_t bench_clock = 1;
struct dtrace_thread bench_thread;

unsigned dtrace_port_cpu_count(void)
{
    return 1;
}

void *dtrace_port_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void *dtrace_port_keep(size_t bytes)
{
    return dtrace_port_alloc(bytes);
}

void dtrace_port_free(void *block, size_t bytes)
{
    (void)bytes;
    free(block);
}

bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    (void)user;
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)bytes;
    (void)user;
    return address < 4096;
}

bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    (void)address;
    (void)from;
    (void)bytes;
    return false;
}

#define ANSWER(type, name, value) \
    type name(void) \
    { \
        return value; \
    }
ANSWER(uint64_t, dtrace_port_vtimestamp, 1)
ANSWER(uint64_t, dtrace_port_walltimestamp, 1)
ANSWER(int32_t, dtrace_port_pid, 42)
ANSWER(int32_t, dtrace_port_tid, 43)
ANSWER(int32_t, dtrace_port_ppid, 41)
ANSWER(uint32_t, dtrace_port_uid, 0)
ANSWER(uint32_t, dtrace_port_gid, 0)
ANSWER(int32_t, dtrace_port_errno, 0)
ANSWER(uint32_t, dtrace_port_ipl, 0)
ANSWER(uint64_t, dtrace_port_curthread, 1)
ANSWER(const char *, dtrace_port_execname, "sixers")
ANSWER(const char *, dtrace_port_execargs, "")
ANSWER(uint64_t, dtrace_port_random, 4)

bool dtrace_port_descends(int32_t pid)
{
    return pid == 42;
}

const char *dtrace_port_pidname(int32_t pid)
{
    return pid == 42 ? "answer" : pid == 1 ? "kymo" : "";
}

uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word)
{
    return pid == 42 ? (uint64_t)(uint32_t)tid << 8 | word : 0;
}

uint64_t dtrace_port_caller(bool user)
{
    return user;
}

bool dtrace_port_register(bool user, unsigned n, uintptr_t *value)
{
    *value = n + user;
    return false;
}

unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max)
{
    (void)user;
    (void)to;
    (void)max;
    return 0;
}

void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    (void)cpu;
    fn(arg);
}

void dtrace_port_stop_process(void)
{
}

bool dtrace_port_raise(int signal)
{
    return signal == 0;
}

void dtrace_port_panic(void)
{
}

bool dtrace_port_is_kernel(const uint8_t *id, char *text)
{
    (void)id;
    (void)text;
    return true;
}

void dtrace_port_logstop(void)
{
}

void dtrace_port_breakpoint(void)
{
}

void dtrace_port_chill(uint64_t ns)
{
    bench_clock += ns;
}
