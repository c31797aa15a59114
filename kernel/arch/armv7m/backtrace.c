/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: backtrace of a user thread by scanning its stack for return addresses: there is no frame
 * pointer. A word counts if it is odd, lies in text of the process, and the instruction before it
 * is a call. Stale words can add lines that are not callers. Kernel lock held.
 */
#include "kernel/arch/armv7m/private.h"

#define SCAN_WORDS 2048
#define OVERFLOW_BYTES 1024 /* how far below its stack a thread that has overflowed it may be */

/* The instruction that ends at address `next`: BL, or BLX of a register. */
static bool call_before(const struct thread *t, uintptr_t next)
{
    const uint16_t *code = kernel_user_ptr(t, next - 4, 4, KYMO_PROT_EXEC);
    if (!code) {
        return false;
    }
    bool bl = (code[0] & 0xf800) == 0xf000 && (code[1] & 0xd000) == 0xd000;
    return bl || (code[1] & 0xff87) == 0x4780;
}

static bool return_address(const struct thread *t, uint32_t word)
{
    return (word & 1) != 0 && word > 4 && call_before(t, word & ~1u);
}

struct scan {
    const struct thread *t;
    uintptr_t from; /* first word of the stack to look at */
    uint32_t lr;    /* seen already; 0: none. Its own copy on the stack is not told again. */
};

/* After a stack overflow there is no frame, but the whole stack is full of what led there. */
static struct scan scan_from(const struct thread *t)
{
    const struct frame *f = context_frame(t, KYMO_PROT_READ);
    struct scan scan = {.t = t, .from = arch_context_sp(t)};
    if (f) {
        scan.lr = return_address(t, f->lr) ? f->lr : 0;
        return scan;
    }
    uintptr_t low, high;
    kernel_thread_stack(t, &low, &high);
    scan.from = low - scan.from <= OVERFLOW_BYTES ? low : 0;
    return scan;
}

void arch_backtrace(const struct thread *t, int max, void (*found)(uintptr_t ip, void *arg),
                    void *arg)
{
    struct scan scan = scan_from(t);
    int n = 0;
    if (scan.lr != 0 && max > 0) {
        found(scan.lr & ~1u, arg);
        n++;
    }
    for (unsigned i = 0; i < SCAN_WORDS && n < max; i++) {
        const uint32_t *word = kernel_user_ptr(t, scan.from + 4 * i, 4, KYMO_PROT_READ);
        if (!word) {
            break;
        }
        if (*word == scan.lr) {
            scan.lr = 0;
        } else if (return_address(t, *word)) {
            found(*word & ~1u, arg);
            n++;
        }
    }
}
