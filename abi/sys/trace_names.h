/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QNX's names of events, the argument of ADDEVENT and its kin. Generated from
 * trace/events.def by `make docs` (host/gen/gen_trace_names_h.c). ADDEVENT answers
 * ENOTSUP to events that only QNX has; docs/reference/events.md has Kymo's own.
 */
#ifndef ABI_SYS_TRACE_NAMES_H
#define ABI_SYS_TRACE_NAMES_H

/* clang-format off */
/* _NTO_TRACE_THREAD: masks, several may be or-ed */
#define _NTO_TRACE_THDEAD 0x1
#define _NTO_TRACE_THRUNNING 0x2
#define _NTO_TRACE_THREADY 0x4
#define _NTO_TRACE_THSTOPPED 0x8
#define _NTO_TRACE_THSEND 0x10
#define _NTO_TRACE_THRECEIVE 0x20
#define _NTO_TRACE_THREPLY 0x40
#define _NTO_TRACE_THSTACK 0x80
#define _NTO_TRACE_THWAITTHREAD 0x100
#define _NTO_TRACE_THWAITPAGE 0x200
#define _NTO_TRACE_THSIGSUSPEND 0x400
#define _NTO_TRACE_THSIGWAITINFO 0x800
#define _NTO_TRACE_THNANOSLEEP 0x1000
#define _NTO_TRACE_THMUTEX 0x2000
#define _NTO_TRACE_THCONDVAR 0x4000
#define _NTO_TRACE_THJOIN 0x8000
#define _NTO_TRACE_THINTR 0x10000
#define _NTO_TRACE_THSEM 0x20000
#define _NTO_TRACE_THWAITCTX 0x40000
#define _NTO_TRACE_THNET_SEND 0x80000
#define _NTO_TRACE_THNET_REPLY 0x100000

/* and a thread's beginning and end */
#define _NTO_TRACE_THCREATE 0x1000000
#define _NTO_TRACE_THDESTROY 0x2000000

/* _NTO_TRACE_PROCESS: masks */
#define _NTO_TRACE_PROCDESTROY 0x2
#define _NTO_TRACE_PROCCREATE_NAME 0x4
#define _NTO_TRACE_PROCTHREAD_NAME 0x10
#define _NTO_TRACE_PROCCREATE 0x1
#define _NTO_TRACE_PROCDESTROY_NAME 0x8

/* _NTO_TRACE_SYSTEM: numbers */
#define _NTO_TRACE_SYS_PATHMGR 0x2
#define _NTO_TRACE_SYS_MMAP 0x6
#define _NTO_TRACE_SYS_MUNMAP 0x7
#define _NTO_TRACE_SYS_MAPNAME 0x8
#define _NTO_TRACE_SYS_ADDRESS 0x9
#define _NTO_TRACE_SYS_FUNC_ENTER 0xa
#define _NTO_TRACE_SYS_FUNC_EXIT 0xb
#define _NTO_TRACE_SYS_SLOG 0xc
#define _NTO_TRACE_SYS_APS_NAME 0x3
#define _NTO_TRACE_SYS_APS_BUDGETS 0x4
#define _NTO_TRACE_SYS_APS_BNKR 0x5

/* _NTO_TRACE_COMM: numbers */
#define _NTO_TRACE_COMM_SMSG 0x0
#define _NTO_TRACE_COMM_SPULSE 0x1
#define _NTO_TRACE_COMM_RMSG 0x2
#define _NTO_TRACE_COMM_RPULSE 0x3
#define _NTO_TRACE_COMM_SPULSE_EXE 0x4
#define _NTO_TRACE_COMM_SPULSE_DIS 0x5
#define _NTO_TRACE_COMM_SPULSE_DEA 0x6
#define _NTO_TRACE_COMM_SPULSE_UN 0x7
#define _NTO_TRACE_COMM_SIGNAL 0x9
#define _NTO_TRACE_COMM_REPLY 0xa
#define _NTO_TRACE_COMM_ERROR 0xb
#define _NTO_TRACE_COMM_SPULSE_QUN 0x8
/* clang-format on */

#endif
