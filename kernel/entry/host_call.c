/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HostCall(): files on the host, through semihosting. Kernel lock held. There are five operations,
 * each of which needs ABILITY_HOST; a handle belongs to the process that opened it and is closed
 * when the process ends.
 *
 * Errors are EPERM: the caller lacks the ability; EINVAL: unknown operation or mode, empty path,
 * NUL in it; ENAMETOOLONG: 128 bytes or more; EFAULT; EBADF: not a handle of the caller's; EMFILE:
 * too many are open; otherwise the error of the board's semihosting (ENOSYS: the board has none).
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/board.h"
#include "kernel/arch/host.h"
#include "kernel/entry/host_call.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

#define PATH_MOST 128
#define FILES 8
#define MODES 3

static struct {
    struct process *proc; /* [k] NULL: free */
    int handle;           /* [k] the host's */
} files[FILES];

static int file_find(const struct process *proc, int handle)
{
    for (int i = 0; i < FILES; i++) {
        if (files[i].proc == proc && (!proc || files[i].handle == handle)) {
            return i;
        }
    }
    return -EBADF;
}

static int path_copy(struct process *proc, char path[PATH_MOST], uintptr_t src, size_t len)
{
    if (len == 0) {
        return -EINVAL;
    }
    if (len >= PATH_MOST) {
        return -ENAMETOOLONG;
    }
    if (copy_in(proc, path, src, len)) {
        return -EFAULT;
    }
    path[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        if (path[i] == '\0') {
            return -EINVAL;
        }
    }
    return 0;
}

static long host_open(struct process *proc, uintptr_t src, size_t len, uintptr_t mode)
{
    char path[PATH_MOST];
    int i = file_find(NULL, 0);
    int error = path_copy(proc, path, src, len);

    if (error || mode >= MODES) {
        return error ? error : -EINVAL;
    }
    if (i < 0) {
        return -EMFILE;
    }
    long handle = arch_host_open(path, len, (int)mode);
    if (handle >= 0) {
        files[i].proc = proc;
        files[i].handle = (int)handle;
    }
    return handle;
}

/* Writes one piece of contiguous memory at a time; stops at the first piece that is not written
 * completely. */
static long host_write(struct process *proc, uintptr_t src, size_t len, int handle)
{
    size_t done = 0;

    if (file_find(proc, handle) < 0) {
        return -EBADF;
    }
    if (len > INT32_MAX) {
        return -EINVAL;
    }
    if (!vm_user_ok(proc, src, len, KYMO_PROT_READ)) {
        return -EFAULT;
    }
    while (done < len) {
        size_t n = len - done;
        const void *from = vm_user_span(proc, src + done, &n, KYMO_PROT_READ);
        long wrote = arch_host_write(handle, from, n);
        if (wrote < 0) {
            return done ? (long)done : wrote;
        }
        done += (size_t)wrote;
        if ((size_t)wrote < n) {
            break;
        }
    }
    return (long)done;
}

static long host_close(struct process *proc, int handle)
{
    int i = file_find(proc, handle);

    if (i < 0) {
        return i;
    }
    files[i].proc = NULL;
    return arch_host_close(handle);
}

long ker_host_call(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;

    if (!process_able(proc, ABILITY_HOST)) {
        return -EPERM;
    }
    switch (args[0]) {
    case KYMO_HOST_OPEN:
        return host_open(proc, args[1], args[2], args[3]);
    case KYMO_HOST_WRITE:
        return host_write(proc, args[1], args[2], (int)args[3]);
    case KYMO_HOST_CLOSE:
        return host_close(proc, (int)args[3]);
    case KYMO_HOST_TIME:
        return arch_host_time();
    case KYMO_HOST_EXIT:
        if (!process_able(proc, ABILITY_RESET)) {
            return -EPERM;
        }
        arch_shutdown((int)args[3]);
    default:
        return -EINVAL;
    }
}

bool host_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked());
    for (int i = 0; i < FILES; i++) {
        if (files[i].proc == proc) {
            files[i].proc = NULL;
            arch_host_close(files[i].handle);
        }
    }
    return false;
}
