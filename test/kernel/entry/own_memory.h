/* SPDX-License-Identifier: BSD-2-Clause */
/* For direct_test.c: what the fast path of messages reads of its program before it has the lock. */
#ifndef TEST_KERNEL_ENTRY_OWN_MEMORY_H
#define TEST_KERNEL_ENTRY_OWN_MEMORY_H

#include <stdbool.h>
#include <string.h>

#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "kernel/mem/mem.h"

static bool is_there(const struct thread *t)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        if (thread_by_index(i) == t) {
            return true;
        }
    }
    return false;
}

/* What a call reads of its program before it has the lock: an iov_t for each buffer, or a limit. */
struct own {
    uint64_t words[2 * 2];
};

static struct own own_memory(const struct thread *t, unsigned number, const uintptr_t args[6])
{
    const unsigned buffers[2] = {number == KER_MSG_REPLYV ? REPLY_ARG_SMSG : SEND_ARG_SMSG,
                                 number == KER_MSG_SENDV ? SEND_ARG_RMSG : SEND_ARG_SMSG};
    struct own own;

    _Static_assert(RECEIVE_ARG_RMSG == SEND_ARG_SMSG, "buffers");
    memset(&own, 0x5a, sizeof(own)); /* so that memory of zeros that is gone does differ */
    if (!is_there(t)) {
        return own;
    }
    if (number == KER_TIMER_TIMEOUT) {
        copy_in(t->proc, own.words, args[3], sizeof(uint64_t));
        return own;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (args[buffers[i] + 1] == 1) {
            copy_in(t->proc, &own.words[2 * i], args[buffers[i]], sizeof(iov_t));
        }
    }
    return own;
}

#endif
