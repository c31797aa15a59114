/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel calls' numbers under QNX's names: the argument of ADDEVENT and its kin for
 * the classes KERCALL*. Generated from abi/kercalls.def by `make docs`
 * (host/gen/gen_kercalls_h.c), with the calls that only QNX has.
 */
#ifndef ABI_SYS_KERCALLS_H
#define ABI_SYS_KERCALLS_H

/* clang-format off */
#define __KER_NOP 0
#define __KER_TRACE_EVENT 1
#define __KER_RING0 2
#define __KER_SYS_CPUPAGE_GET 7
#define __KER_SYS_CPUPAGE_SET 8
#define __KER_MSG_CURRENT 10
#define __KER_MSG_SENDV 11
#define __KER_MSG_SENDVNC 12
#define __KER_MSG_ERROR 13
#define __KER_MSG_RECEIVEV 14
#define __KER_MSG_REPLYV 15
#define __KER_MSG_READV 16
#define __KER_MSG_WRITEV 17
#define __KER_MSG_READWRITEV 18
#define __KER_MSG_INFO 19
#define __KER_MSG_SEND_PULSE 20
#define __KER_MSG_DELIVER_EVENT 21
#define __KER_MSG_KEYDATA 22
#define __KER_MSG_READIOV 23
#define __KER_MSG_RECEIVEPULSEV 24
#define __KER_MSG_VERIFY_EVENT 25
#define __KER_SIGNAL_KILL 26
#define __KER_SIGNAL_RETURN 27
#define __KER_SIGNAL_FAULT 28
#define __KER_SIGNAL_ACTION 29
#define __KER_SIGNAL_PROCMASK 30
#define __KER_SIGNAL_SUSPEND 31
#define __KER_SIGNAL_WAITINFO 32
#define __KER_CHANNEL_CREATE 35
#define __KER_CHANNEL_DESTROY 36
#define __KER_CHANCON_ATTR 37
#define __KER_CONNECT_ATTACH 39
#define __KER_CONNECT_DETACH 40
#define __KER_CONNECT_SERVER_INFO 41
#define __KER_CONNECT_CLIENT_INFO 42
#define __KER_CONNECT_FLAGS 43
#define __KER_THREAD_CREATE 46
#define __KER_THREAD_DESTROY 47
#define __KER_THREAD_DESTROYALL 48
#define __KER_THREAD_DETACH 49
#define __KER_THREAD_JOIN 50
#define __KER_THREAD_CANCEL 51
#define __KER_THREAD_CTL 52
#define __KER_INTERRUPT_ATTACH 55
#define __KER_INTERRUPT_DETACH_FUNC 56
#define __KER_INTERRUPT_DETACH 57
#define __KER_INTERRUPT_WAIT 58
#define __KER_INTERRUPT_MASK 59
#define __KER_INTERRUPT_UNMASK 60
#define __KER_CLOCK_TIME 65
#define __KER_CLOCK_ADJUST 66
#define __KER_CLOCK_PERIOD 67
#define __KER_CLOCK_ID 68
#define __KER_TIMER_CREATE 70
#define __KER_TIMER_DESTROY 71
#define __KER_TIMER_SETTIME 72
#define __KER_TIMER_INFO 73
#define __KER_TIMER_ALARM 74
#define __KER_TIMER_TIMEOUT 75
#define __KER_SYNC_CREATE 78
#define __KER_SYNC_DESTROY 79
#define __KER_SYNC_MUTEX_LOCK 80
#define __KER_SYNC_MUTEX_UNLOCK 81
#define __KER_SYNC_CONDVAR_WAIT 82
#define __KER_SYNC_CONDVAR_SIGNAL 83
#define __KER_SYNC_SEM_POST 84
#define __KER_SYNC_SEM_WAIT 85
#define __KER_SYNC_CTL 86
#define __KER_SYNC_MUTEX_REVIVE 87
#define __KER_SCHED_GET 88
#define __KER_SCHED_SET 89
#define __KER_SCHED_YIELD 90
#define __KER_SCHED_INFO 91
#define __KER_SCHED_CTL 92
#define __KER_NET_CRED 93
#define __KER_NET_VTID 94
#define __KER_NET_UNBLOCK 95
#define __KER_NET_INFOSCOID 96
#define __KER_NET_SIGNAL_KILL 97
/* clang-format on */

#endif
