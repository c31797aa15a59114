/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel API: types, flags and calls, with the names and meanings QNX Neutrino documents.
 *
 * Shared by kernel and user programs; independent of any C library. Sizes are the target's own (int
 * is 32 bits; pointers and size_t are 32 on Cortex-M, 64 on AArch64 and x86-64).
 *
 * Every call returns -1 and sets errno on failure unless it says otherwise; its `_r` twin returns
 * the negative errno instead. All calls may be made from any thread, never from an interrupt.
 * Numbers, arguments and traced words of each call: abi/kercalls.def; its errors: abi/errors.def.
 * Both are in docs/reference/kercalls.md.
 */
#ifndef ABI_SYS_NEUTRINO_H
#define ABI_SYS_NEUTRINO_H

#include <stddef.h>
#include <stdint.h>

/* ---- input/output vectors ---------------------------------------------------------- */

/* A part of a message in the caller's memory. */
struct kymo_iov {
    void *iov_base;
    size_t iov_len; /* bytes */
};
typedef struct kymo_iov iov_t;
#define SETIOV(iov, addr, len) ((iov)->iov_base = (void *)(addr), (iov)->iov_len = (len))
#define GETIOVBASE(iov) ((iov)->iov_base)
#define GETIOVLEN(iov) ((iov)->iov_len)

/* Most parts that one call accepts; more is EOVERFLOW. */
#define KYMO_IOV_MAX 64

/* ---- pulses and events ------------------------------------------------------------- */

union sigval {
    int sival_int;
    void *sival_ptr;
};

/* A pulse, delivered by MsgReceive() when it returns 0. */
struct _pulse {
    uint16_t type;    /* _PULSE_TYPE */
    uint16_t subtype; /* _PULSE_SUBTYPE */
    int8_t code;      /* negative: the kernel's, _PULSE_CODE_*; 0..127: the program's */
    uint8_t zero[3];
    union sigval value;
    int32_t scoid; /* server connection id of the sender, 0 for the kernel's */
};
#define _PULSE_TYPE 0
#define _PULSE_SUBTYPE 0
#define _PULSE_CODE_UNBLOCK (-32)
#define _PULSE_CODE_DISCONNECT (-33)
#define _PULSE_CODE_THREADDEATH (-34)
#define _PULSE_CODE_COIDDEATH (-35)
#define _PULSE_CODE_MINAVAIL 0
#define _PULSE_CODE_MAXAVAIL 127

/* struct sigevent: QNX's kinds that Kymo delivers. */
struct sigevent {
    int sigev_notify; /* SIGEV_* */
    union {
        int sigev_coid;  /* SIGEV_PULSE: connection to send on */
        int sigev_signo; /* SIGEV_SIGNAL*: signal */
    };
    union sigval sigev_value; /* SIGEV_PULSE: value */
    int16_t sigev_code;       /* SIGEV_PULSE: code 0..127 */
    int16_t sigev_priority;   /* SIGEV_PULSE: 1..255, or SIGEV_PULSE_PRIO_INHERIT */
};
#define SIGEV_NONE 0
#define SIGEV_SIGNAL 1
#define SIGEV_PULSE 4
#define SIGEV_UNBLOCK 5 /* only for TimerTimeout(): the blocked call returns ETIMEDOUT */
#define SIGEV_INTR 6    /* wakes InterruptWait() of the thread that attached it */
#define SIGEV_PULSE_PRIO_INHERIT (-1)
/* value: an integer or a pointer; all of sigev_value is set. */
#define SIGEV_PULSE_INIT(e, coid, prio, code, value) \
    ((e)->sigev_notify = SIGEV_PULSE, (e)->sigev_coid = (coid), \
     (e)->sigev_priority = (int16_t)(prio), (e)->sigev_code = (int16_t)(code), \
     (e)->sigev_value.sival_ptr = (void *)(uintptr_t)(value))
#define SIGEV_PULSE_INT_INIT(e, coid, prio, code, value) \
    SIGEV_PULSE_INIT(e, coid, prio, code, (int)(value))
#define SIGEV_PULSE_PTR_INIT(e, coid, prio, code, value) \
    SIGEV_PULSE_INIT(e, coid, prio, code, value)
/* A signal ends the process; there are no handlers, so code and value appear in the trace only. */
#define SIGEV_SIGNAL_INIT(e, signo) SIGEV_SIGNAL_CODE_INIT(e, signo, 0, 0)
#define SIGEV_SIGNAL_CODE_INIT(e, signo, value, code) \
    ((e)->sigev_notify = SIGEV_SIGNAL, (e)->sigev_signo = (signo), (e)->sigev_priority = 0, \
     (e)->sigev_code = (int16_t)(code), (e)->sigev_value.sival_ptr = (void *)(uintptr_t)(value))
#define SIGEV_INTR_INIT(e) ((e)->sigev_notify = SIGEV_INTR)
#define SIGEV_UNBLOCK_INIT(e) ((e)->sigev_notify = SIGEV_UNBLOCK)
#define SIGEV_NONE_INIT(e) ((e)->sigev_notify = SIGEV_NONE)

/* ---- channels and connections ------------------------------------------------------ */

#define _NTO_CHF_FIXED_PRIORITY 0x0001  /* receivers don't inherit the sender's priority */
#define _NTO_CHF_UNBLOCK 0x0002         /* pulse when a REPLY-blocked client wants to unblock */
#define _NTO_CHF_THREAD_DEATH 0x0004    /* pulse when a thread of this process ends */
#define _NTO_CHF_DISCONNECT 0x0008      /* pulse when a client's last connection is detached */
#define _NTO_CHF_SENDER_LEN 0x0020      /* accepted; msg_info always includes the lengths */
#define _NTO_CHF_COID_DISCONNECT 0x0040 /* pulse when a server used by this process ends */
#define _NTO_CHF_REPLY_LEN 0x0080       /* accepted */

/* The only node; ConnectAttach() and SignalKill() refuse any other (ESRCH, EINVAL). */
#define ND_LOCAL_NODE 0
#define _NTO_SIDE_CHANNEL 0x40000000
#define _NTO_COF_CLOEXEC 0x0001
/* Kymo: servers of this process may deliver events over the connection, although it leads to
 * another process's channel: see MsgDeliverEvent(). */
#define KYMO_COF_EVENTS 0x0100
#define KYMO_COF_ALL (_NTO_COF_CLOEXEC | KYMO_COF_EVENTS)

/* Written by MsgReceive() and MsgInfo(); 13 words in the trace's wide form. */
struct _msg_info {
    uint32_t nd;    /* node of the sender: ND_LOCAL_NODE */
    uint32_t srcnd; /* ND_LOCAL_NODE */
    int32_t pid;    /* sender */
    int32_t tid;    /* sender, from 1 */
    int32_t chid;
    int32_t scoid;      /* server connection id */
    int32_t coid;       /* the sender's connection id */
    uint32_t msglen;    /* bytes received by the MsgReceive() */
    uint32_t srcmsglen; /* bytes sent */
    uint32_t dstmsglen; /* room for the reply in bytes */
    int16_t priority;
    int16_t flags; /* _NTO_MI_* */
    uint32_t reserved;
};
/* The sender's byte order and word size; on Kymo always the receiver's. */
#define _NTO_MI_ENDIAN_BIG 0x0001
#define _NTO_MI_ENDIAN_DIFF 0x0002
/* MsgInfo(): the client wants to unblock, which an UNBLOCK pulse has reported: _NTO_CHF_UNBLOCK. */
#define _NTO_MI_UNBLOCK_REQ 0x0100
#define _NTO_MI_NET_CRED_DIRTY 0x0200 /* never */
#define _NTO_MI_BITS_64 0x1000        /* pointers of 64 bits */
#define _NTO_MI_BITS_DIFF 0x2000      /* never */

struct _server_info { /* ConnectServerInfo() */
    uint32_t nd;      /* ND_LOCAL_NODE */
    int32_t pid;      /* 0, like chid: the server has ended */
    int32_t chid;
    int32_t scoid;
    uint32_t flags; /* _NTO_COF_* */
};

/* There are no users: the ids are 0 for a process that has every ability, otherwise 1. Abilities
 * define the rights of a client. */
#define KYMO_CRED_GROUPS 8
struct _cred_info {
    uint32_t ruid, euid, suid;
    uint32_t rgid, egid, sgid;
    uint32_t ngroups; /* 0 */
    uint32_t grouplist[KYMO_CRED_GROUPS];
};

struct _client_info { /* ConnectClientInfo() */
    uint32_t nd;      /* ND_LOCAL_NODE */
    int32_t pid;
    int32_t sid; /* session: the same for all, 0 */
    uint32_t flags;
    struct _cred_info cred;
    uint32_t ability; /* Kymo: ABILITY_* of the client */
};

/* ---- threads and scheduling -------------------------------------------------------- */

#define SCHED_NOCHANGE 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_OTHER 3 /* same as SCHED_RR */

#define PRIORITY_MIN 1   /* 0 is the idle thread's */
#define PRIORITY_MAX 255 /* above 63 needs ABILITY_PRIORITY */
#define PRIORITY_UNPRIVILEGED_MAX 63

struct sched_param_kymo {
    int32_t sched_priority;    /* base priority */
    int32_t sched_curpriority; /* including inheritance */
    int32_t policy;
};

struct sched_info_kymo { /* SchedInfo() */
    int32_t priority_min, priority_max, priority_unprivileged_max;
    uint64_t interval_ns; /* round-robin quantum */
};

/* ThreadCreate(): attributes. A zero field means the caller's value or the default. */
struct _thread_attr {
    uint32_t flags;         /* PTHREAD_CREATE_DETACHED */
    int32_t priority;       /* 0: the creator's */
    int32_t policy;         /* SCHED_NOCHANGE: the creator's */
    uint32_t runmask;       /* 0: the creator's */
    void *stackaddr;        /* lowest address; required on Kymo (lib/ allocates it) */
    size_t stacksize;       /* bytes */
    void (*exitfunc)(void); /* return address of func */
    void *tls; /* AArch64 TPIDR_EL0; on Cortex-M the per-thread word (see KYMO_LIB_WORD) */
};
#define KYMO_THREAD_DETACHED 0x01
#define KYMO_TID_MAX 0x7fff /* no tid is greater */

#define _NTO_TCTL_IO 1           /* 0 with ABILITY_DEVICE or ABILITY_INTERRUPT, otherwise EPERM */
#define _NTO_TCTL_THREADS_HOLD 2 /* the process's other threads stop; data: NULL */
#define _NTO_TCTL_THREADS_CONT 3 /* they continue */
#define _NTO_TCTL_RUNMASK 4      /* data: uint32_t mask of CPUs, by value */
/* data: uint32_t *: in: the new mask (0: query only), out: the old one */
#define _NTO_TCTL_RUNMASK_GET_AND_SET 6
#define _NTO_TCTL_ONE_THREAD_HOLD 8 /* one thread stops; data: its tid, by value */
#define _NTO_TCTL_ONE_THREAD_CONT 9 /* it continues */
#define _NTO_TCTL_NAME 11           /* data: struct _thread_name * */
#define KYMO_TCTL_NAME_OF(tid) (_NTO_TCTL_NAME | (tid) << 16) /* of this thread; 0: the caller */
#define _NTO_TCTL_RUNMASK_GET 100                             /* Kymo: data: uint32_t * */
#define _NTO_TCTL_SIGNAL_EVENT 101 /* Kymo: data: struct _signal_event * */
/* Signals (bit 1 << number) delivered to the process as a pulse, whose value is the number, instead
 * of ending it; none: all end it again. Never KYMO_SIGKILL (EINVAL). */
struct _signal_event {
    uint64_t signals;
    struct sigevent event; /* SIGEV_PULSE */
};
struct _thread_name {
    int32_t new_name_len; /* bytes with NUL, -1: only read the name */
    int32_t name_buf_len;
    char *name_buf;
};
#define KYMO_THREAD_NAME_MAX 16

/* ---- synchronisation --------------------------------------------------------------- */

/*
 * A synchronization object in user memory. An uncontended mutex is locked and unlocked by a
 * compare-and-swap of `owner` alone; the kernel is called only when SYNC_WAITING is or must be set.
 */
typedef struct kymo_sync {
    volatile int32_t count;  /* semaphore: value; recursive mutex: depth - 1 | flags */
    volatile uint32_t owner; /* mutex: tid | SYNC_WAITING; 0 free. Others: SYNC_OWNER_* */
} sync_t;
#define SYNC_WAITING 0x80000000u
#define SYNC_OWNER_DEAD 0x7ffffffeu /* QNX: _NTO_SYNC_DEAD */
#define SYNC_OWNER_DESTROYED 0x7fffffffu
#define SYNC_OWNER_COND 0x7ffffffdu
#define SYNC_OWNER_SEM 0x7ffffffcu
#define SYNC_TID_MASK 0x0000ffffu
#define SYNC_MUTEX_FREE 0
#define SYNC_SEM 1
#define SYNC_COND 2
/* QNX's names for these; the values are Kymo's. */
#define _NTO_SYNC_MUTEX_FREE SYNC_MUTEX_FREE
#define _NTO_SYNC_SEM SYNC_SEM
#define _NTO_SYNC_COND SYNC_COND
#define SYNC_SEM_VALUE_MAX 0x7fffffff
/* count of a mutex: flags, which the kernel ignores, and the number of times its owner has locked
 * it beyond the first. */
#define SYNC_COUNT_RECURSIVE 0x40000000
#define SYNC_COUNT_ROBUST 0x20000000
#define SYNC_COUNT_OWNER_DIED 0x10000000 /* robust, and not made consistent since */
#define SYNC_COUNT_LOST 0x08000000       /* robust, and not recoverable */
#define SYNC_COUNT_DEPTH 0x07ffffff

/* ---- clocks and timers ------------------------------------------------------------- */

/* The C libraries use other numbers for these names: lib/include/time.h gives programs these. */
#define CLOCK_REALTIME 0
#define CLOCK_SOFTTIME 1
#define CLOCK_MONOTONIC 2

struct _clockperiod {
    uint32_t nsec;
    int32_t fract;
};
struct _clockadjust {
    uint32_t tick_count;
    int32_t tick_nsec_inc;
};
struct _itimer { /* nanoseconds */
    uint64_t nsec;
    uint64_t interval_nsec;
};
struct _timer_info {
    struct _itimer itime; /* time left; interval */
    struct _itimer otime; /* as set */
    uint32_t flags;
    int32_t tid;
    int32_t notify;
    int32_t clockid;
    uint32_t overruns;
    struct sigevent event;
};
#define TIMER_ABSTIME 0x80000000u
#define _NTO_TIMER_SEARCH 0x1         /* TimerInfo(): the first timer with this id or above */
#define _NTO_TIMER_RESET_OVERRUNS 0x2 /* TimerInfo(): overruns are 0 afterwards */

/* TimerTimeout(): the blocking states to which the timeout applies: 1 << STATE_*. */
#define _NTO_TIMEOUT_STATE(state) (1u << (state))
#define _NTO_TIMEOUT_SEND (1u << 4)
#define _NTO_TIMEOUT_RECEIVE (1u << 5)
#define _NTO_TIMEOUT_REPLY (1u << 6)
#define _NTO_TIMEOUT_NANOSLEEP (1u << 12)
#define _NTO_TIMEOUT_MUTEX (1u << 13)
#define _NTO_TIMEOUT_CONDVAR (1u << 14)
#define _NTO_TIMEOUT_JOIN (1u << 15)
#define _NTO_TIMEOUT_INTR (1u << 16)
#define _NTO_TIMEOUT_SEM (1u << 17)

/* ---- interrupts -------------------------------------------------------------------- */

#define _NTO_INTR_CLASS_EXTERNAL 0x00000000u
#define _NTO_INTR_CLASS_SYNTHETIC 0x7fff0000u
#define _NTO_HOOK_TRACE \
    0x7fff0000u /* a trace buffer is READY; pulse value = index<<13 | seq&0x7ff */
#define _NTO_HOOK_IDLE 0x7fff0001u /* reserved: ENOTSUP */
#define _NTO_INTR_FLAGS_TRK_MSK 0x08
#define _NTO_INTR_FLAGS_END 0x01
#define _NTO_INTR_FLAGS_PROCESS 0x04

/* ---- the calls --------------------------------------------------------------------- */
#ifndef KYMO_KERNEL /* the kernel uses only the types */

int ChannelCreate(unsigned flags);
int ChannelDestroy(int chid);
int ConnectAttach(uint32_t nd, int pid, int chid, unsigned index, int flags);
int ConnectDetach(int coid);
int ConnectServerInfo(int pid, int coid, struct _server_info *info);
int ConnectClientInfo(int scoid, struct _client_info *info, int ngroups);
int ConnectFlags(int pid, int coid, unsigned mask, unsigned bits);

long MsgSend(int coid, const void *smsg, size_t sbytes, void *rmsg, size_t rbytes);
long MsgSendnc(int coid, const void *smsg, size_t sbytes, void *rmsg, size_t rbytes);
long MsgSendv(int coid, const iov_t *siov, size_t sparts, const iov_t *riov, size_t rparts);
long MsgSendvnc(int coid, const iov_t *siov, size_t sparts, const iov_t *riov, size_t rparts);
long MsgSendsv(int coid, const void *smsg, size_t sbytes, const iov_t *riov, size_t rparts);
long MsgSendsvnc(int coid, const void *smsg, size_t sbytes, const iov_t *riov, size_t rparts);
long MsgSendvs(int coid, const iov_t *siov, size_t sparts, void *rmsg, size_t rbytes);
long MsgSendvsnc(int coid, const iov_t *siov, size_t sparts, void *rmsg, size_t rbytes);
int MsgReceive(int chid, void *msg, size_t bytes, struct _msg_info *info);
int MsgReceivev(int chid, const iov_t *riov, size_t rparts, struct _msg_info *info);
int MsgReceivePulse(int chid, void *pulse, size_t bytes, struct _msg_info *info);
int MsgReceivePulsev(int chid, const iov_t *piov, size_t parts, struct _msg_info *info);
int MsgReply(int rcvid, long status, const void *msg, size_t bytes);
int MsgReplyv(int rcvid, long status, const iov_t *riov, size_t rparts);
int MsgError(int rcvid, int error);
long MsgRead(int rcvid, void *msg, size_t bytes, size_t offset);
long MsgReadv(int rcvid, const iov_t *riov, size_t rparts, size_t offset);
long MsgWrite(int rcvid, const void *msg, size_t bytes, size_t offset);
long MsgWritev(int rcvid, const iov_t *iov, size_t parts, size_t offset);
int MsgInfo(int rcvid, struct _msg_info *info);
int MsgCurrent(int rcvid);
int MsgSendPulse(int coid, int priority, int code, int value);
int MsgDeliverEvent(int rcvid, const struct sigevent *event);

int ThreadCreate(int pid, void *(*func)(void *), void *arg, const struct _thread_attr *attr);
int ThreadDestroy(int tid, int priority, void *status);
int ThreadDetach(int tid);
int ThreadJoin(int tid, void **status);
int ThreadCancel(int tid, void (*canstub)(void));
int ThreadCtl(int cmd, void *data);

int SchedGet(int pid, int tid, struct sched_param_kymo *param);
int SchedSet(int pid, int tid, int policy, const struct sched_param_kymo *param);
int SchedInfo(int pid, int policy, struct sched_info_kymo *info);
int SchedYield(void);

int SyncTypeCreate(unsigned type, sync_t *sync, const void *attr);
int SyncDestroy(sync_t *sync);
int SyncCtl(int cmd, sync_t *sync, void *data);
int SyncMutexLock(sync_t *sync);
int SyncMutexUnlock(sync_t *sync);
/* Makes the caller the owner of a mutex whose owner has ended. EINVAL: its owner lives, or it has
 * none. */
int SyncMutexRevive(sync_t *sync);
int SyncCondvarWait(sync_t *sync, sync_t *mutex);
int SyncCondvarSignal(sync_t *sync, int broadcast);
int SyncSemPost(sync_t *sync);
int SyncSemWait(sync_t *sync, int try_only);

int ClockTime(int id, const uint64_t *new_ns, uint64_t *old_ns);
int ClockAdjust(int id, const struct _clockadjust *new_adj, struct _clockadjust *old_adj);
int ClockPeriod(int id, const struct _clockperiod *new_period, struct _clockperiod *old_period);
int ClockId(int pid, int tid);
uint64_t ClockCycles(void);
int TimerCreate(int clockid, const struct sigevent *event);
int TimerDestroy(int id);
int TimerSettime(int id, int flags, const struct _itimer *itime, struct _itimer *oitime);
int TimerInfo(int pid, int id, int flags, struct _timer_info *info);
int TimerAlarm(int clockid, const struct _itimer *itime, struct _itimer *oitime);
int TimerTimeout(int clockid, unsigned flags, const struct sigevent *notify, const uint64_t *ntime,
                 uint64_t *otime);

int InterruptAttachEvent(int intr, const struct sigevent *event, unsigned flags);
int InterruptDetach(int id);
int InterruptWait(int flags, const uint64_t *reserved);
int InterruptMask(int intr, int id);
int InterruptUnmask(int intr, int id);

/* Sends a signal. If it ends another process, returns when that process has ended. */
int SignalKill(uint32_t nd, int pid, int tid, int signo, int code, int value);

int TraceEvent(int cmd, ...); /* sys/trace.h */

#endif /* KYMO_KERNEL */
#endif
