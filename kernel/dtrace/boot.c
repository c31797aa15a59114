/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BOOT_D: starts the boot image's program boot.dif before the first process. Boot, on one CPU. A
 * program that is refused only causes a message on the console, which says how to fix it; the boot
 * continues. A program that retains starts after an earlier boot's data is saved. Tested by
 * test/board/dlog.py.
 */
#include "abi/errno.h"
#include "kernel/arch/board.h"
#include "kernel/arch/panic.h"
#include "kernel/program/program.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/base/cpu.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/port.h"

static const char *boot_remedy(int error)
{
    switch (error) {
    case -ENOMEM:
    case -E2BIG:
    case -ENOSPC:
        return "smaller sizes (#pragma D option bufsize, aggsize, dynvarsize), fewer probes";
    case -EPERM:
        return "#pragma D option destructive";
    default:
        return "compile it again: make image BOOT_D=file.d";
    }
}

/* Prints the position of the program's error: both numbers as in `kymo dtrace -S`. */
static void say_where(const struct dtrace_refusal *why)
{
    if (why->object != UINT32_MAX) {
        kprintf(" (object %u", (unsigned)why->object);
        if (why->offset != UINT32_MAX) {
            kprintf(", instruction %u", (unsigned)why->offset);
        }
        kprintf(")");
    }
}

static void boot_refused(int error, const struct dtrace_refusal *why)
{
    kprintf("boot.dif is refused: %s", dtrace_refusal_text(why));
    say_where(why);
    kprintf("\nboot.dif: not started. Remedy: %s\n", boot_remedy(error));
}

static void *image; /* [k] aligned, and kept for the program that claims it */
static bool waits;  /* [k] it waits for retained memory to become free */

void dtrace_boot_program(void)
{
    kernel_assert(kernel_locked());
    struct dtrace_refusal why = {
        .reason = DTRACE_REASON_NO_SPACE, .object = UINT32_MAX, .offset = UINT32_MAX};
    struct cpio_file file;

    if (!boot_file("boot.dif", &file)) {
        return;
    }
    int error = -ENOMEM;

    image = image ? image : dtrace_port_alloc(file.len);
    if (image) {
        kernel_assert(((uintptr_t)image & 7) == 0);
        dtrace_copy_long(image, file.data, file.len);
        error = dtrace_control_boot(image, file.len, &why);
    }
    waits = error == -EBUSY;
    if (waits) {
        kprintf("boot.dif: waits until the retained data is saved\n");
    } else if (error) {
        boot_refused(error, &why);
    }
}

void dtrace_boot_again(void)
{
    if (waits) {
        dtrace_boot_program();
        dtrace_clean_from_now_on();
    }
}
