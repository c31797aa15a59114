/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of D's control call (trace/dtrace/control.c) about this process: for the server that
 * offers self's machine to others, as a board offers its own (test/host/remote).
 */
#include "host/self/self.h"
#include "trace/dtrace/control.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void dtrace_control_info(struct kymo_d_info *info)
{
    info->cpus = dtrace_port_cpu_count();
    info->pointer_bytes = sizeof(void *);
    info->machine = EM_X86_64;
    strcpy(info->board, "self");
    info->bufsize = KYMO_D_OUT_MOST - 64; /* an answer has a head */
    info->aggsize = KYMO_D_OUT_MOST - 64;
    info->specsize = 32 << 10;
    info->dynvarsize = 1 << 20;
    info->strsize = 256;
    info->memory = 256 << 20;
    info->clock_hz = 1000000000;
}

bool dtrace_control_pay(const void *owner)
{
    (void)owner;
    return true;
}

size_t dtrace_control_paid(void)
{
    return 0;
}

void dtrace_control_refund(const void *owner, size_t bytes)
{
    (void)owner;
    (void)bytes;
}

uint32_t dtrace_control_pid(const void *owner)
{
    (void)owner;
    return (uint32_t)getpid();
}

int dtrace_control_give(const void *owner, void *to, const void *from, size_t bytes)
{
    (void)owner;
    if (bytes) {
        memcpy(to, from, bytes);
    }
    return 0;
}

int dtrace_control_resume(int32_t pid)
{
    return kill(pid, SIGCONT) == 0 ? 0 : -errno;
}

/* Clauses see user addresses of this process only. */
int dtrace_control_process(int32_t pid, struct kymo_d_process *process)
{
    snprintf(process->name, sizeof(process->name), "%s", dtrace_port_execname());
    return pid == getpid() ? 0 : -ESRCH;
}
