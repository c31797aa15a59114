/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ImageRead, ConsoleWrite, SystemCtl. Kernel lock held. Any process may read the boot image and
 * write to the console; SystemCtl needs ABILITY_RESET. A negative result means that nothing was
 * written.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/console.h"
#include "kernel/program/program.h"
#include "kernel/base/kercall.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"

#define READ_MOST 16384u  /* bytes of one ImageRead(): the caller calls again */
#define READ_PIECE 4096u  /* of these, between two interrupt windows */
#define CONSOLE_STEP 128u /* bytes between two preemption points */

static int read_out(struct process *proc, uintptr_t to, const uint8_t *from, size_t n)
{
    for (size_t done = 0; done < n; done += READ_PIECE) { /* READ_MOST / READ_PIECE at most */
        size_t piece = n - done < READ_PIECE ? n - done : READ_PIECE;

        if (copy_out(proc, to + done, from + done, piece)) {
            return -EFAULT;
        }
        arch_irq_window();
    }
    return 0;
}

long ker_image_read(struct thread *self, const uintptr_t *args)
{
    char name[KYMO_NAME_MAX];
    struct cpio_file file;
    const void *image;
    size_t image_len, offset = args[1], n = args[3];
    long len = copy_in_string(self->proc, name, args[0], sizeof(name));

    if (len < 0) {
        return len;
    }
    arch_boot_image(&image, &image_len);
    if (!cpio_find(image, image_len, name, &file)) {
        return -ENOENT;
    }
    if (offset >= file.len || n == 0) {
        return 0;
    }
    if (n > file.len - offset) {
        n = file.len - offset;
    }
    if (n > READ_MOST) {
        n = READ_MOST;
    }
    int error = read_out(self->proc, args[2], (const uint8_t *)file.data + offset, n);
    return error ? error : (long)n;
}

/* step: bytes written so far. */
long ker_console_write(struct thread *self, const uintptr_t *args)
{
    size_t left = args[1] - self->step;
    size_t n = left < CONSOLE_STEP ? left : CONSOLE_STEP;

    if (args[1] > INT32_MAX) {
        return -EINVAL;
    }
    if (self->step == 0 && !vm_user_ok(self->proc, args[0], args[1], KYMO_PROT_READ)) {
        return -EFAULT;
    }
    const char *text = n ? vm_user_span(self->proc, args[0] + self->step, &n, KYMO_PROT_READ) : "";
    if (!text) {
        return (long)self->step; /* unmapped meanwhile */
    }
    for (size_t i = 0; i < n; i++) {
        console_put(text[i]);
    }
    self->step += (uint32_t)n;
    return self->step == args[1] ? (long)args[1] : KER_AGAIN;
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
