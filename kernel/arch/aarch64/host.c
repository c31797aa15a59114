/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host files through semihosting (an emulator or a debug probe). Kernel context; the caller has
 * checked every pointer and bounds lengths. Returns -ENOSYS where there is no host.
 */
#include "abi/errno.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/host.h"

#define SYS_OPEN 0x01
#define SYS_CLOSE 0x02
#define SYS_WRITE 0x05
#define SYS_TIME 0x11
#define SYS_ERRNO 0x13
#define SYS_EXIT_EXTENDED 0x20
#define ADP_APPLICATION_EXIT 0x20026

#define HOST_PATH_MAX 256

/* Host errno values that are meaningful on Kymo have the same low numbers; the others become
 * EIO. */
static long host_host_error(void)
{
    struct a64_semihost_result r = a64_semihost_call(SYS_ERRNO, NULL);
    return r.value > 0 && r.value <= EPIPE ? -r.value : -EIO;
}

long arch_host_open(const char *path, size_t len, int mode)
{
    kernel_assert(kernel_holds_lock());
    static const uint8_t modes[] = {1 /* rb */, 5 /* wb */, 9 /* ab */};
    char name[HOST_PATH_MAX];
    uint64_t block[3] = {(uintptr_t)name, 0, len};
    struct a64_semihost_result r;

    if (len >= sizeof(name)) {
        return -ENAMETOOLONG;
    }
    if (mode < 0 || mode >= (int)sizeof(modes)) {
        return -EINVAL;
    }
    for (size_t i = 0; i < len; i++) {
        name[i] = path[i];
    }
    name[len] = '\0';
    block[1] = modes[mode];
    r = a64_semihost_call(SYS_OPEN, block);
    if (r.absent) {
        return -ENOSYS;
    }
    return r.value < 0 ? host_host_error() : r.value;
}

long arch_host_write(int handle, const void *buf, size_t len)
{
    kernel_assert(kernel_holds_lock());
    const uint64_t block[3] = {(uint64_t)handle, (uintptr_t)buf, len};
    struct a64_semihost_result r = a64_semihost_call(SYS_WRITE, block);

    if (r.absent) {
        return -ENOSYS;
    }
    if (r.value < 0 || (size_t)r.value > len) {
        return host_host_error();
    }
    /* Writing nothing returns 0, not an error: the host's errno may be left over from an earlier
     * call. */
    return (long)len - r.value;
}

long arch_host_close(int handle)
{
    const uint64_t block[1] = {(uint64_t)handle};
    struct a64_semihost_result r = a64_semihost_call(SYS_CLOSE, block);

    if (r.absent) {
        return -ENOSYS;
    }
    return r.value < 0 ? host_host_error() : 0;
}

long arch_host_time(void)
{
    struct a64_semihost_result r = a64_semihost_call(SYS_TIME, NULL);

    return r.absent ? -ENOSYS : r.value;
}

void a64_host_exit(int status)
{
    const uint64_t block[2] = {ADP_APPLICATION_EXIT, (uint64_t)status};

    a64_semihost_call(SYS_EXIT_EXTENDED, block);
}
