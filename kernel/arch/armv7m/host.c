/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: semihosting, `bkpt 0xab`. Kernel lock held. Without an emulator or debugger the
 * breakpoint is a fault of the kernel, which the fixup table turns into -ENOSYS. Source: Arm's
 * semihosting specification 2.0.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/board.h"
#include "kernel/arch/host.h"

#define SYS_OPEN 0x01
#define SYS_CLOSE 0x02
#define SYS_WRITE 0x05
#define SYS_TIME 0x11
#define SYS_ERRNO 0x13
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026

#define NOT_HERE (-0x7fff)
#define PATH_BYTES 256

/* Fixed registers: the operation in r0, its parameter in r1, the result in r0. */
long armv7m_semihost(long operation, const void *parameter);

static long host_error(void)
{
    long error = armv7m_semihost(SYS_ERRNO, NULL);
    if (error == NOT_HERE) {
        return -ENOSYS;
    }
    /* Host errno values up to ERANGE are the same on all systems. */
    return error > 0 && error <= ERANGE ? -error : -EIO;
}

static char path_buffer[PATH_BYTES]; /* [k] */

long arch_host_open(const char *path, size_t len, int mode)
{
    kernel_assert(kernel_holds_lock());
    static const uint32_t modes[] = {1, 5, 9}; /* "rb", "wb", "ab" */
    if (len >= PATH_BYTES) {
        return -ENAMETOOLONG;
    }
    if (len == 0 || mode < 0 || mode > 2) {
        return -EINVAL;
    }
    for (size_t i = 0; i < len; i++) {
        path_buffer[i] = path[i];
    }
    path_buffer[len] = 0;
    uint32_t block[3] = {(uint32_t)path_buffer, modes[mode], len};
    long handle = armv7m_semihost(SYS_OPEN, block);
    return handle == NOT_HERE ? -ENOSYS : handle < 0 ? host_error() : handle;
}

long arch_host_write(int handle, const void *buf, size_t len)
{
    uint32_t block[3] = {(uint32_t)handle, (uint32_t)buf, len};
    long left = armv7m_semihost(SYS_WRITE, block); /* bytes not written */
    if (left == NOT_HERE) {
        return -ENOSYS;
    }
    if (left < 0 || (size_t)left > len) {
        return host_error();
    }
    /* Writing nothing returns 0, not an error: the host's errno may be left over from an earlier
     * call. */
    return (long)len - left;
}

long arch_host_close(int handle)
{
    uint32_t block[1] = {(uint32_t)handle};
    long result = armv7m_semihost(SYS_CLOSE, block);
    return result == NOT_HERE ? -ENOSYS : result < 0 ? host_error() : 0;
}

long arch_host_time(void)
{
    long seconds = armv7m_semihost(SYS_TIME, NULL);

    return seconds == NOT_HERE ? -ENOSYS : (long)(uint32_t)seconds;
}

/* A board without a host can only stop the CPU. */
void arch_shutdown(int status)
{
    uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
    armv7m_semihost(SYS_EXIT_EXTENDED, block);
    __asm__ volatile("cpsid i" ::: "memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}
