/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MsgReplyv as a port's entry code calls it that has its words in registers: see msg_entry.c. The
 * caller continues, so the entry code doesn't save its callee-saved registers: these functions
 * preserve them. If the fast path doesn't handle the call, nothing has been done but to store its
 * words.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/entry/msg_held.h"

/* Reads the values that need no lock. Returns false to leave the call to kernel_call(). */
HELD bool reply_words(struct thread *self, const uintptr_t *args, struct replying *call)
{
    call->rcvid = args[0];
    call->slot = rcvid_slot(call->rcvid);
    return call->slot && part_direct(args[REPLY_ARG_SMSG], args[REPLY_ARG_SMSG + 1],
                                     &self->out_cache, MSG_SMALL, &call->s);
}

struct thread *kernel_call_reply(uintptr_t rcvid, uintptr_t status, uintptr_t smsg,
                                 uintptr_t sparts, uintptr_t unused, struct thread *self)
{
    const uintptr_t args[] = {rcvid, status, smsg, sparts};
    enum otherwise otherwise;
    struct replying call;

    (void)unused;
    for (unsigned i = 0; i < sizeof(args) / sizeof(*args); i++) {
        self->args[i] = args[i];
    }
    self->call = KER_MSG_REPLYV;
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter) || TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return NULL;
    }
    if (unlikely(!reply_words(self, args, &call))) {
        return NULL;
    }
    const struct here here = is_here();
    if (unlikely(!kernel_lock_try_at(here.lock))) {
        return NULL;
    }
    if (unlikely(!reply_plain(self, &call, here.cpu, false, &otherwise))) {
        kernel_unlock_at(here.lock);
        return NULL;
    }
    arch_context_set_result(call.slot, (long)status, 0);
    kernel_unlock_at(here.lock);
    return exit_to(self);
}
