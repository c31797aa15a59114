/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of the kernel and ConsoleWrite(): written to the board's console at once, and the newest
 * of it kept for ConsoleRead(), through which the console server shows it to a remote host.
 * Writing: any context, no lock (text of two CPUs may mix, also in the kept copy). Calls: kernel
 * lock held; ConsoleRead() is EPERM without ABILITY_DEVICE, because the text concerns other
 * processes. After a panic only the board's own console works. Tested by test/boot's suites console
 * and crashes.
 *
 * A crash report (crash.c) has the console to itself from its first character to its last one.
 * Meanwhile ConsoleWrite() waits, and what the kernel prints is kept back.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/console.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/entry/crash.h"
#include "kernel/proc/proc.h"

#define KEPT 2048u /* bytes, a power of 2 */
#define PIECE 128u /* of one ConsoleRead() */
#define BACK 256u  /* bytes that are kept back during a report */
#define STEP 32u   /* bytes of a ConsoleWrite() between two preemption points */

static char kept[KEPT];
static uint32_t printed; /* [a] total of bytes */

static volatile bool given; /* [a] a report has the console */
static char back[BACK];     /* what others have printed meanwhile */
static uint32_t held_back;  /* [a] total of these, including what there was no room for */

static uint64_t stuck_from; /* [k] the device takes nothing since then; 0: it does */
static bool stuck;          /* [k] for CONSOLE_STUCK_MS */

static void console_keep(char c)
{
    kept[__atomic_fetch_add(&printed, 1, __ATOMIC_RELAXED) % KEPT] = c;
}

static void console_emit(char c)
{
    if (c == '\n') {
        arch_console_putc('\r');
    }
    arch_console_putc(c);
    console_keep(c);
}

void console_put(char c)
{
    if (!given) {
        console_emit(c);
        return;
    }
    uint32_t at = __atomic_fetch_add(&held_back, 1, __ATOMIC_RELAXED);
    if (at < BACK) {
        back[at] = c;
    }
}

static bool console_ready(void)
{
    if (arch_console_ready()) {
        stuck_from = 0;
        stuck = false;
        return true;
    }
    uint64_t now = arch_cycles();
    stuck_from = stuck_from ? stuck_from : now;
    stuck = now - stuck_from > (uint64_t)arch_clock_hz() / 1000 * CONSOLE_STUCK_MS;
    return stuck;
}

size_t console_write(const char *text, size_t n)
{
    size_t done = 0;

    kernel_assert(kernel_locked());
    for (; done < n && console_ready(); done++) {
        if (stuck) {
            console_keep(text[done]);
        } else {
            console_emit(text[done]);
        }
    }
    return done;
}

void console_give(void)
{
    given = true;
}

void console_take_back(void)
{
    given = false;
    uint32_t n = __atomic_exchange_n(&held_back, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < BACK; i++) {
        console_emit(back[i]);
    }
    if (n > BACK) {
        kprintf("\n%u characters of the kernel's output were lost behind a report\n",
                (unsigned)(n - BACK));
    }
}

/* step: bytes written so far, and 1 */
long ker_console_write(struct thread *self, const uintptr_t *args)
{
    if (args[1] > INT32_MAX) {
        return -EINVAL;
    }
    if (self->step == 0) {
        if (!vm_user_ok(self->proc, args[0], args[1], KYMO_PROT_READ)) {
            return -EFAULT;
        }
        self->step = 1;
    }
    if (crash_printing()) {
        return crash_wait(self);
    }
    size_t done = self->step - 1, left = args[1] - done, n = left < STEP ? left : STEP;
    const char *text = n ? vm_user_span(self->proc, args[0] + done, &n, KYMO_PROT_READ) : "";
    if (!text) {
        return (long)done; /* unmapped meanwhile */
    }
    done += console_write(text, n);
    self->step = (uint32_t)done + 1;
    return done == args[1] ? (long)done : KER_AGAIN;
}

long ker_console_read(struct thread *self, const uintptr_t *args)
{
    uint32_t end = __atomic_load_n(&printed, __ATOMIC_RELAXED);
    uint32_t oldest = end > KEPT ? end - KEPT : 0, count = 0;
    uint64_t position;
    char piece[PIECE];

    if (!process_able(self->proc, ABILITY_DEVICE)) {
        return -EPERM;
    }
    if (copy_in(self->proc, &position, args[2], sizeof(position))) {
        return -EFAULT;
    }
    uint32_t at = position < oldest || position > end ? oldest : (uint32_t)position;
    while (count < PIECE && count < args[1] && at != end) {
        piece[count++] = kept[at++ % KEPT];
    }
    position = at;
    if (copy_out(self->proc, args[0], piece, count) ||
        copy_out(self->proc, args[2], &position, sizeof(position))) {
        return -EFAULT;
    }
    return (long)count;
}
