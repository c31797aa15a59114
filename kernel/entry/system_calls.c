/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ImageRead, SystemCtl. Kernel lock held. Any process may read the boot image; SystemCtl needs
 * ABILITY_RESET. A negative result means that nothing was written.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/program/program.h"
#include "kernel/base/kercall.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"

#define READ_MOST 16384u /* bytes of one ImageRead(): the caller calls again */
#define READ_STEP 4096u  /* bytes copied between two preemption points */

/* Indices in args[] of an ImageRead(), valid from its first piece on. */
#define READ_BYTES 3 /* bytes that the call will copy: up to the file's end */
#define READ_FROM 4  /* their offset in the boot image */

/* Finds the bytes that the call is to copy, and checks that the caller's memory has room for them.
 * Returns their number, or a negative errno. */
static long image_read_begin(struct thread *self)
{
    char name[KYMO_NAME_MAX];
    struct cpio_file file;
    size_t offset = self->args[1], n = self->args[READ_BYTES];
    long len = copy_in_string(self->proc, name, self->args[0], sizeof(name));

    if (len < 0) {
        return len;
    }
    if (!boot_file(name, &file)) {
        return -ENOENT;
    }
    if (offset >= file.len) {
        return 0;
    }
    n = n < file.len - offset ? n : file.len - offset;
    n = n < READ_MOST ? n : READ_MOST;
    self->args[READ_BYTES] = n;
    self->args[READ_FROM] = (uintptr_t)file.data + offset;
    return vm_user_ok(self->proc, self->args[2], n, KYMO_PROT_WRITE) ? (long)n : -EFAULT;
}

/* step: bytes copied so far. If the memory is unmapped meanwhile, the call ends with fewer
 * bytes. */
long ker_image_read(struct thread *self, const uintptr_t *args)
{
    long bytes = self->step ? (long)args[READ_BYTES] : image_read_begin(self);

    if (bytes <= 0) {
        return bytes;
    }
    size_t left = (size_t)bytes - self->step, n = left < READ_STEP ? left : READ_STEP;
    const char *from = (const char *)args[READ_FROM] + self->step;
    if (copy_out(self->proc, args[2] + self->step, from, n)) {
        return (long)self->step;
    }
    self->step += (uint32_t)n;
    return n == left ? bytes : KER_AGAIN;
}

static int shutdown_status; /* [k] status for a shutdown that requests 0 */

static long set_shutdown_status(uintptr_t status)
{
    if (status > 255) {
        return -EINVAL;
    }
    shutdown_status = (int)status;
    return 0;
}

long ker_system_ctl(struct thread *self, const uintptr_t *args)
{
    if (!process_able(self->proc, ABILITY_RESET)) {
        return -EPERM;
    }
    switch (args[0]) {
    case KYMO_SYSTEM_SHUTDOWN:
        arch_shutdown(args[1] ? (int)args[1] : shutdown_status);
    case KYMO_SYSTEM_RESET:
        arch_reset();
    case KYMO_SYSTEM_PANIC:
        kernel_panic("SystemCtl() by process %d (%s)", (int)self->proc->pid, self->proc->name);
    case KYMO_SYSTEM_ON_PANIC:
        return panic_then(args[1]);
    case KYMO_SYSTEM_WATCHDOG:
        return args[1] <= INT32_MAX ? arch_watchdog_set((unsigned)args[1]) : -EINVAL;
    case KYMO_SYSTEM_STATUS:
        return set_shutdown_status(args[1]);
    default:
        return -EINVAL;
    }
}
