/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that can't fault: the kernel copies from this process to itself and says if it could not.
 * Where process_vm_readv() is forbidden, /proc/self/mem does the same. Any thread.
 */
#include "host/self/self.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static int memory_file = -1;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void self_peek_memory_open(void)
{
    memory_file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

static bool peek_file(void *to, uint64_t address, size_t bytes)
{
    pthread_once(&memory_once, self_peek_memory_open);
    if (memory_file < 0 || (int64_t)address < 0) {
        return false;
    }
    return pread(memory_file, to, bytes, (off_t)address) == (ssize_t)bytes;
}

/* Keeps errno: a clause must not change what its own process sees. */
bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    int saved = errno;
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    bool ok = got == (ssize_t)bytes;

    (void)user;
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) {
        ok = peek_file(to, address, bytes);
    }
    errno = saved;
    return ok;
}

bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)user;
    return address < 4096 || address + bytes < address;
}

bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    struct iovec here = {(void *)(uintptr_t)from, bytes};
    struct iovec there = {(void *)(uintptr_t)address, bytes};
    int saved = errno;
    bool ok = process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;

    errno = saved;
    return ok;
}
