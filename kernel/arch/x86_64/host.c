/* SPDX-License-Identifier: BSD-2-Clause */
/* No semihosting: this CPU's emulators have none. Files go to the host by the link. */
#include "abi/errno.h"
#include "kernel/arch/host.h"

long arch_host_open(const char *path, size_t len, int mode)
{
    (void)path;
    (void)len;
    (void)mode;
    return -ENOSYS;
}

long arch_host_write(int handle, const void *buf, size_t len)
{
    (void)handle;
    (void)buf;
    (void)len;
    return -ENOSYS;
}

long arch_host_close(int handle)
{
    (void)handle;
    return -ENOSYS;
}

long arch_host_time(void)
{
    return -ENOSYS;
}
