/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of each room that are called when a thread or a process ends. thread_end()
 * (kernel/thread/thread_end.c) and process_end_step() (kernel/proc/process.c) call these lists, so
 * these files depend on no room to the right of theirs. Kernel lock held. Tested by test/kernel,
 * which links this file, and by test/board: death in every blocked state.
 */
#include "kernel/dtrace/dtrace.h"
#include "kernel/entry/crash.h"
#include "kernel/entry/host_call.h"
#include "kernel/intr/intr.h"
#include "kernel/entry/entry.h"
#include "kernel/ipc/ipc.h"
#include "kernel/observe/observe.h"
#include "kernel/program/program.h"
#include "kernel/sync/sync.h"

/* First t's own time limit and unfinished work, then the objects by which other threads refer to t.
 * Threads of equal priority that these calls wake run in this order. */
thread_gone_call *const thread_gone[] = {
    timeout_disarm,   spawn_abandon,    crash_abandon, msg_thread_gone,
    sync_thread_gone, intr_thread_gone, NULL,
};

/* The first function uses the thread's position. */
thread_gone_piece *const thread_gone_pieces[] = {msg_thread_gone_piece, sync_thread_gone_piece,
                                                 NULL};

/* Called right after t's THDEAD event, before THDESTROY. */
thread_gone_call *const thread_killed[] = {kercall_trace_aborted, NULL};

/* The pulse to channels is sent last, so that its event follows all events that it reports. */
thread_gone_call *const thread_ended[] = {observe_thread_ended, channel_thread_gone, NULL};

/*
 * Timers, interrupts and signals go first: their pulses leave the queues of channels, which go
 * later. Names go before the channels that they name. Channels go before connections: clients are
 * notified of the end before servers are. The three in between are not known to depend on their
 * order.
 */
process_gone_call *const process_gone[] = {
    timer_process_gone,      intr_process_gone,
    event_process_gone,      name_process_gone,
    trace_process_gone,      dtrace_process_gone,
    host_process_gone,       channel_process_gone,
    connection_process_gone, NULL,
};

process_ended_call *const process_ended[] = {retain_process_ended, NULL};
process_ended_call *const process_forgotten[] = {trace_process_forgotten, NULL};
