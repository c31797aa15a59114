/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of the kernel and ConsoleWrite(): written to the board's console at once, and the newest
 * of it kept for ConsoleRead(), through which the console server shows it to a remote host.
 * Writing: any context, no lock (text of two CPUs may mix, also in the kept copy). ConsoleRead():
 * kernel lock held; EPERM without ABILITY_DEVICE, because the text concerns other processes. After
 * a panic only the board's own console works. Tested by test/boot's suite console.
 */
#include "kernel/arch/board.h"
#include "kernel/base/console.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

#define KEPT 1024u /* bytes, a power of 2 */
#define PIECE 128u /* of one ConsoleRead() */

static char kept[KEPT];
static uint32_t printed; /* [a] total of bytes */

void console_put(char c)
{
    if (c == '\n') {
        arch_console_putc('\r');
    }
    arch_console_putc(c);
    kept[__atomic_fetch_add(&printed, 1, __ATOMIC_RELAXED) % KEPT] = c;
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
