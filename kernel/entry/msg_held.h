/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of each fast-path message call (msg_direct.c, which has the rules) that runs with the
 * lock, after the reads that need none. Each function releases the lock. Compiled for calls whose
 * words are in memory (msg_direct.c) and for those whose words are in registers
 * (registers/msg_entry.c).
 */
#ifndef KERNEL_ENTRY_MSG_HELD_H
#define KERNEL_ENTRY_MSG_HELD_H

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_direct.h"
#include "kernel/entry/msg_plain.h"

/* This CPU and the address of the lock's word, each looked up once. */
struct here {
    struct cpu *cpu;
    volatile uint32_t *lock;
};

HELD struct here is_here(void)
{
    return (struct here){arch_cpu(), kernel_lock_at()};
}

HELD struct thread *send_held(struct thread *self, const struct sending *call, struct here here)
{
    enum otherwise otherwise = BY_WIDE;
    uint32_t above = 0;
    struct thread *next = send_plain(self, call, here.cpu, &otherwise, &above);

    if (next) {
        send_says(self, call);
        return send_leave(self, next, above, here.lock);
    }
    return otherwise == BY_SLOW ? kercall_held(self, KER_MSG_SENDV)
                                : msg_wide_send(self, KER_MSG_SENDV);
}

HELD struct thread *receive_held(struct thread *self, const struct receiving *call,
                                 struct here here)
{
    uint32_t above = 0;
    struct thread *next = receive_plain(self, call, here.cpu, false, &above);

    return next ? msg_direct_leave(next, above, here.lock) : kercall_held(self, KER_MSG_RECEIVEV);
}

HELD struct thread *reply_held(struct thread *self, const struct replying *call, uintptr_t status,
                               struct here here)
{
    enum otherwise otherwise = BY_WIDE;

    if (reply_plain(self, call, here.cpu, true, &otherwise)) {
        arch_context_set_result(call->slot, (long)status, 0);
        return reply_leave(self, call->slot, here.lock);
    }
    return otherwise == BY_SLOW ? kercall_held(self, KER_MSG_REPLYV)
                                : msg_wide_reply(self, KER_MSG_REPLYV);
}

#endif
