/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kind of wait of each state in which threads are blocked (struct wait_kind,
 * kernel/thread/thread.h): a new way to block is a new kind in the room that blocks, and its line
 * here. The table is constant, so it may be read in any context.
 */
#include "kernel/ipc/ipc.h"
#include "kernel/sync/sync.h"

const struct wait_kind *const wait_kinds[STATE_MAX] = {
    [STATE_SEND] = &msg_wait_send,
    [STATE_RECEIVE] = &msg_wait_receive,
    [STATE_REPLY] = &msg_wait_reply,
    [STATE_MUTEX] = &sync_wait,
    [STATE_CONDVAR] = &sync_wait_cond,
    [STATE_SEM] = &sync_wait,
    [STATE_JOIN] = &thread_wait_join,
    [STATE_WAITCTX] = &thread_wait_context,
    [STATE_NANOSLEEP] = &thread_wait_unqueued,  /* its timer finds it */
    [STATE_WAITTHREAD] = &thread_wait_unqueued, /* the end of a child finds it */
    /* its attachments refer to it; later events are counted */
    [STATE_INTR] = &thread_wait_unqueued,
};
