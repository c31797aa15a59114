/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of the kernel and ConsoleWrite(): written to the board's console at once, and the newest
 * part kept for ConsoleRead(), through which the console server shows it to a remote host. Writing
 * by the kernel: any context, no lock (its output may appear in the middle of a line, and text of
 * two CPUs may mix, also in the kept copy). The kernel calls: kernel lock held; ConsoleRead() fails
 * with EPERM without ABILITY_DEVICE, because the text concerns other processes. After a panic only
 * the board's own console works. Tested by test/kernel/entry/console_test.c, and test/board's
 * suites console and crashes.
 *
 * A line that one ConsoleWrite() writes is one piece, if it has up to LINE_WHOLE characters: its
 * thread owns the console (a call_lock) from the line's first character to its last, or to the
 * call's end. A crash report (crash.c) has the console to itself from its first character to its
 * last one. Meanwhile ConsoleWrite() waits, and the kernel's own output is held back.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/console.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

#define PIECE 128u /* of one ConsoleRead() */
#define BACK 256u  /* bytes that are held back during a report */
#define STEP 32u   /* bytes of a ConsoleWrite() between two preemption points */
#define LINE_WHOLE 256u

static char kept[CONFIG_CONSOLE_KEPT];
static uint32_t printed; /* [a] total of bytes written */

static volatile bool given; /* [a] a report has the console */
static char back[BACK];     /* [a] the text that others have printed meanwhile */
static uint32_t held_back;  /* [a] total of these bytes, including those that didn't fit */
static uint32_t moved;      /* [k] the number of these that console_kept() has moved */

static struct call_lock owner; /* of the console */
static uint32_t in_line;       /* [k] characters of the line that the owner has begun */

/* [k] since then the device has accepted nothing; 0: it accepts characters */
static uint64_t stuck_from;
static bool stuck; /* [k] for CONSOLE_STUCK_MS */

static void console_keep(char c)
{
    kept[__atomic_fetch_add(&printed, 1, __ATOMIC_RELAXED) % CONFIG_CONSOLE_KEPT] = c;
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
        __atomic_store_n(&back[at], c, __ATOMIC_RELEASE);
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

/* Stops before a character that its CPU has not stored yet. */
bool console_kept(char *text, size_t room)
{
    uint32_t end = __atomic_load_n(&held_back, __ATOMIC_RELAXED), before = moved;
    size_t n = 0;

    kernel_assert(kernel_locked() && given);
    for (; n + 1 < room && moved < end && moved < BACK; n++, moved++) {
        text[n] = __atomic_exchange_n(&back[moved], '\0', __ATOMIC_ACQUIRE);
        if (!text[n]) {
            break;
        }
    }
    text[n] = '\0';
    return moved != before;
}

void console_take_back(void)
{
    given = false;
    uint32_t n = __atomic_exchange_n(&held_back, 0, __ATOMIC_RELAXED);
    for (uint32_t i = moved; i < n && i < BACK; i++) {
        console_emit(back[i]);
        back[i] = '\0';
    }
    moved = 0;
    if (n > BACK) {
        kprintf("\n%u characters of the kernel's output were lost during a report\n",
                (unsigned)(n - BACK));
    }
}

long console_take(struct thread *self)
{
    if (owner.owner != self) {
        long wait = call_lock_take(&owner, self);
        if (wait) {
            return wait; /* in_line belongs to the owner */
        }
        in_line = 0;
    }
    return 0;
}

void console_release(void)
{
    call_lock_release(&owner);
}

/* Returns the length of the piece of n characters that ends with its last newline, or n if there is
 * none. */
static size_t console_lines(const char *text, size_t n)
{
    size_t end = n;

    while (end > 0 && text[end - 1] != '\n') {
        end--;
    }
    return end ? end : n;
}

/* Writes a piece of text for self, which owns the console, and keeps the console if the text ends
 * in the middle of a line. */
static size_t console_write_piece(const char *text, size_t n, bool last)
{
    size_t done = console_write(text, n);

    in_line += (uint32_t)done;
    if ((last && done == n) || (done && text[done - 1] == '\n') || in_line >= LINE_WHOLE) {
        console_release();
    }
    return done;
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
    long wait = console_take(self);
    if (wait) {
        return wait;
    }
    size_t done = self->step - 1, left = args[1] - done, n = left < STEP ? left : STEP;
    const char *text = n ? vm_user_span(self->proc, args[0] + done, &n, KYMO_PROT_READ) : "";
    if (!text) {
        console_release();
        return (long)done; /* unmapped meanwhile */
    }
    n = console_lines(text, n);
    done += console_write_piece(text, n, done + n == args[1]);
    self->step = (uint32_t)done + 1;
    return done == args[1] ? (long)done : KER_AGAIN;
}

long ker_console_read(struct thread *self, const uintptr_t *args)
{
    uint32_t end = __atomic_load_n(&printed, __ATOMIC_RELAXED);
    uint32_t oldest = end > CONFIG_CONSOLE_KEPT ? end - CONFIG_CONSOLE_KEPT : 0, count = 0;
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
        piece[count++] = kept[at++ % CONFIG_CONSOLE_KEPT];
    }
    position = at;
    if (copy_out(self->proc, args[0], piece, count) ||
        copy_out(self->proc, args[2], &position, sizeof(position))) {
        return -EFAULT;
    }
    return (long)count;
}
