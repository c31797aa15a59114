/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread states: QNX 6.4's numbers and names. The number is also the THREAD event's number in the
 * trace (class PR_TH), so it never changes.
 *
 * X-macro: STATE(number, NAME, "printed name", emitted). emitted is 1 if a Kymo thread can be in
 * that state, 0 if it is included only for printing captures of other kernels.
 */
#ifndef ABI_SYS_STATES_H
#define ABI_SYS_STATES_H

#define THREAD_STATE_LIST(STATE) \
    STATE(0, DEAD, "THDEAD", 1) \
    STATE(1, RUNNING, "THRUNNING", 1) \
    STATE(2, READY, "THREADY", 1) \
    STATE(3, STOPPED, "THSTOPPED", 1) \
    STATE(4, SEND, "THSEND", 1) \
    STATE(5, RECEIVE, "THRECEIVE", 1) \
    STATE(6, REPLY, "THREPLY", 1) \
    STATE(7, STACK, "THSTACK", 0) \
    STATE(8, WAITTHREAD, "THWAITTHREAD", 1) \
    STATE(9, WAITPAGE, "THWAITPAGE", 0) \
    STATE(10, SIGSUSPEND, "THSIGSUSPEND", 0) \
    STATE(11, SIGWAITINFO, "THSIGWAITINFO", 0) \
    STATE(12, NANOSLEEP, "THNANOSLEEP", 1) \
    STATE(13, MUTEX, "THMUTEX", 1) \
    STATE(14, CONDVAR, "THCONDVAR", 1) \
    STATE(15, JOIN, "THJOIN", 1) \
    STATE(16, INTR, "THINTR", 1) \
    STATE(17, SEM, "THSEM", 1) \
    STATE(18, WAITCTX, "THWAITCTX", 1) \
    STATE(19, NET_SEND, "THNET_SEND", 0) \
    STATE(20, NET_REPLY, "THNET_REPLY", 0)

/*
 * Kymo's meaning of states where it differs from QNX's:
 *   STOPPED     created, not yet allowed to run (a spawned process being loaded), or held by
 *               ThreadCtl(_NTO_TCTL_ONE_THREAD_HOLD) and not waiting for anything else
 *   WAITTHREAD  in ProcWait(), until a child process ends
 *   WAITCTX     in TraceEvent(START), until a trace buffer is FREE for the state dump; in a command
 *               for the trace or D, until another one has ended; in SignalKill(), until the process
 *               has ended; a thread that ends its process, until those on other CPUs have ended
 */
enum thread_state {
#define STATE(number, name, text, emitted) STATE_##name = number,
    THREAD_STATE_LIST(STATE)
#undef STATE
        STATE_MAX = 24
};

#endif
