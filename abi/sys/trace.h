/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent(): commands, classes, and the structures of Kymo's own commands.
 *
 * A command word is argument-count<<28 | number, the count including the command itself; numbers
 * and counts are QNX's (QNX 6.4's, in the numbers' order); Kymo's own start at 0x1000. Control
 * commands need ABILITY_TRACE (EPERM); any program may use INSERT*USEREVENT, and INSERT*CLASSEVENT
 * for events about itself (below). Common errors: ECANCELED no buffers or wrong mode, EFAULT bad
 * pointer or no buffers, EINVAL, ENOMEM, ENOTSUP unknown class, event or command.
 * docs/reference/traceevent.md has a table of all commands and their errors.
 *
 * SET*PID and SET*TID limit a class or one of its events to a process or thread: classes KERCALL*,
 * THREAD (the thread that the event describes), VTHREAD, SYSTEM and COMM (the thread running on the
 * CPU); others ENOTSUP. EINVAL: pid not above 0. Either CLR command removes both.
 *
 * *HANDLER: no function of a program runs inside Kymo's kernel; a D predicate is the dynamic filter
 * (tracelogger -x).
 */
#ifndef ABI_SYS_TRACE_H
#define ABI_SYS_TRACE_H

#include <stdint.h>

#include "abi/sys/kercalls.h"
#include "abi/sys/trace_names.h"

#define _NTO_TRACE_CMD(args, number) (((args) << 28) | (number))
#define _NTO_TRACE_GET_COUNT(cmd) (((cmd) >> 28) & 7)
#define _NTO_TRACE_GET_FLAG(cmd) ((cmd)&0x0fffffff)

#define _NTO_TRACE_ADDALLCLASSES _NTO_TRACE_CMD(1, 1)
#define _NTO_TRACE_DELALLCLASSES _NTO_TRACE_CMD(1, 2)
#define _NTO_TRACE_ADDCLASS _NTO_TRACE_CMD(2, 3)
#define _NTO_TRACE_DELCLASS _NTO_TRACE_CMD(2, 4)
#define _NTO_TRACE_ADDEVENT _NTO_TRACE_CMD(3, 5)
#define _NTO_TRACE_DELEVENT _NTO_TRACE_CMD(3, 6)
#define _NTO_TRACE_ADDEVENTHANDLER _NTO_TRACE_CMD(5, 7) /* ENOTSUP, like 8, 36, 37: see above */
#define _NTO_TRACE_DELEVENTHANDLER _NTO_TRACE_CMD(3, 8)
#define _NTO_TRACE_INSERTEVENT _NTO_TRACE_CMD(5, 9) /* header, time (ignored), d1, d2 */
#define _NTO_TRACE_START _NTO_TRACE_CMD(1, 10)
#define _NTO_TRACE_STOP _NTO_TRACE_CMD(1, 11)
#define _NTO_TRACE_ALLOCBUFFER _NTO_TRACE_CMD(3, 12) /* count per CPU, uint64_t *paddr */
#define _NTO_TRACE_DEALLOCBUFFER _NTO_TRACE_CMD(1, 13)
#define _NTO_TRACE_FLUSHBUFFER _NTO_TRACE_CMD(1, 14)
#define _NTO_TRACE_QUERYEVENTS _NTO_TRACE_CMD(1, 15)
#define _NTO_TRACE_SETALLCLASSESFAST _NTO_TRACE_CMD(1, 16)
#define _NTO_TRACE_SETALLCLASSESWIDE _NTO_TRACE_CMD(1, 17)
#define _NTO_TRACE_SETCLASSFAST _NTO_TRACE_CMD(2, 18)
#define _NTO_TRACE_SETCLASSWIDE _NTO_TRACE_CMD(2, 19)
#define _NTO_TRACE_SETEVENTFAST _NTO_TRACE_CMD(3, 20)
#define _NTO_TRACE_SETEVENTWIDE _NTO_TRACE_CMD(3, 21)
#define _NTO_TRACE_SETCLASSPID _NTO_TRACE_CMD(3, 22)       /* class, pid */
#define _NTO_TRACE_SETCLASSTID _NTO_TRACE_CMD(4, 23)       /* class, pid, tid from 1; 0: any */
#define _NTO_TRACE_SETEVENTPID _NTO_TRACE_CMD(4, 24)       /* class, event, pid */
#define _NTO_TRACE_SETEVENTTID _NTO_TRACE_CMD(5, 25)       /* class, event, pid, tid */
#define _NTO_TRACE_CLRCLASSPID _NTO_TRACE_CMD(2, 26)       /* class */
#define _NTO_TRACE_CLRCLASSTID _NTO_TRACE_CMD(2, 27)       /* class */
#define _NTO_TRACE_CLREVENTPID _NTO_TRACE_CMD(3, 28)       /* class, event */
#define _NTO_TRACE_CLREVENTTID _NTO_TRACE_CMD(3, 29)       /* class, event */
#define _NTO_TRACE_INSERTSUSEREVENT _NTO_TRACE_CMD(4, 30)  /* event, d1, d2 */
#define _NTO_TRACE_INSERTCUSEREVENT _NTO_TRACE_CMD(4, 31)  /* event, ptr, number of 32-bit words */
#define _NTO_TRACE_INSERTUSRSTREVENT _NTO_TRACE_CMD(3, 32) /* event, char * */
#define _NTO_TRACE_STARTNOSTATE _NTO_TRACE_CMD(1, 33)
#define _NTO_TRACE_SETRINGMODE _NTO_TRACE_CMD(1, 34)
#define _NTO_TRACE_SETLINEARMODE _NTO_TRACE_CMD(1, 35)
#define _NTO_TRACE_ADDCLASSEVHANDLER _NTO_TRACE_CMD(4, 36)
#define _NTO_TRACE_DELCLASSEVHANDLER _NTO_TRACE_CMD(2, 37)
#define _NTO_TRACE_SKIPBUFFER _NTO_TRACE_CMD(1, 38)
#define _NTO_TRACE_OVERWRITEBUFFER _NTO_TRACE_CMD(1, 39)
#define _NTO_TRACE_QUERYVERSION _NTO_TRACE_CMD(1, 40)
#define _NTO_TRACE_QUERYSUPPORT _NTO_TRACE_CMD(1, 41)
/* class (internal number), event, d1, d2; or class, event, ptr, number of 32-bit words */
#define _NTO_TRACE_INSERTSCLASSEVENT _NTO_TRACE_CMD(5, 42)
#define _NTO_TRACE_INSERTCCLASSEVENT _NTO_TRACE_CMD(5, 43)
/* QNX 8.0's replacement for the hook. Here ENOTSUP; docs/reference/traceevent.md names the
 * alternative. */
#define _NTO_TRACE_SETBUFFER _NTO_TRACE_CMD(3, 44)
#define _NTO_TRACE_LOGGER_ATTACH _NTO_TRACE_CMD(3, 45)
#define _NTO_TRACE_WAITBUFFER _NTO_TRACE_CMD(2, 46)
#define _NTO_TRACE_LOGGER_DETACH _NTO_TRACE_CMD(1, 47)
#define _NTO_TRACE_PMU_CONFIG _NTO_TRACE_CMD(2, 48)
#define _NTO_TRACE_PMU_QUERYEVENTS _NTO_TRACE_CMD(1, 49)
/* Kymo's own */
#define KYMO_TRACE_TAKEBUFFER \
    _NTO_TRACE_CMD(2, 0x1000) /* struct kymo_trace_buffer *; EAGAIN: none */
#define KYMO_TRACE_GIVEBUFFER _NTO_TRACE_CMD(2, 0x1001) /* index from TAKEBUFFER */
#define KYMO_TRACE_SETFILLMODE _NTO_TRACE_CMD(1, 0x1002)
#define KYMO_TRACE_SETHIGHWATER _NTO_TRACE_CMD(2, 0x1003)  /* slots, 16 to a buffer's */
#define KYMO_TRACE_QUERYLOSS _NTO_TRACE_CMD(3, 0x1004)     /* cpu, struct kymo_trace_loss * */
#define KYMO_TRACE_QUERYOWNER _NTO_TRACE_CMD(2, 0x1005)    /* struct kymo_trace_owner * */
#define KYMO_TRACE_CLRALLTHREADS _NTO_TRACE_CMD(1, 0x1006) /* CLR* for every class and event */
/* CPUs 0 to 31 and 32 to 63, one bit each: closes their buffers if others are FREE; a CPU without
 * one closes an empty one. ECANCELED: no linear recording runs. */
#define KYMO_TRACE_FLUSHCPUS _NTO_TRACE_CMD(3, 0x1007)
/* Retained memory (abi/retain.h): docs/guide/flight.md. ALLOCRETAINED is ALLOCBUFFER there; also
 * EBUSY, ENODEV. The others concern an earlier boot's data; ENOENT: there is none. */
#define KYMO_TRACE_ALLOCRETAINED _NTO_TRACE_CMD(3, 0x1020) /* count per CPU, uint64_t *paddr */
#define KYMO_TRACE_QUERYRETAINED _NTO_TRACE_CMD(2, 0x1021) /* struct kymo_retained * */
#define KYMO_TRACE_READRETAINED \
    _NTO_TRACE_CMD(4, 0x1022) /* offset, void *, bytes up to KYMO_TRACE_READ_MOST */
#define KYMO_TRACE_DROPRETAINED _NTO_TRACE_CMD(1, 0x1023) /* its data is saved, or not needed */
#define KYMO_TRACE_READ_MOST 4096
/* ALLOCBUFFER in a memory object (sys/kymo.h) that is open for writing and exactly as long as the
 * buffers: count, uint64_t *paddr, id. Until they are freed, the object can't be mapped for
 * writing. */
#define KYMO_TRACE_ALLOCOBJECT _NTO_TRACE_CMD(4, 0x1030)
/* uint32_t *, or NULL: a word of the caller in which the kernel stores from now on whether user
 * events are wanted: 0 while none would be recorded, otherwise 1. One for each process: the last
 * one counts. Any process may call it. EFAULT: not the caller's writable memory; EINVAL: not
 * 4-aligned. */
#define KYMO_TRACE_USERWORD _NTO_TRACE_CMD(2, 0x1040)
/* const struct kymo_probe_site *, count: registers the sites of the caller's static probes
 * (<kymo_probe.h>), at most KYMO_TRACE_SITES_MOST. From now on the kernel keeps them switched on
 * while user events are wanted. A count of 0 withdraws the table. One table for each process: the
 * last one counts. Any process may call it. E2BIG: too many; EINVAL: not aligned, a site doesn't
 * match the table, or a branch doesn't reach its target; EFAULT: not the caller's memory; ENOTSUP:
 * text that isn't in the process's own RAM: it runs from flash. A count of KYMO_TRACE_SITES_SYSTEM:
 * the table is that in struct kymo_startup, of the library's probes; they are switched on if they
 * are wanted (KYMO_TRACE_SYSTEM_PROBES). */
#define KYMO_TRACE_USERSITES _NTO_TRACE_CMD(3, 0x1041)
#define KYMO_TRACE_SITES_MOST 4096 /* ldscripts/user.ld uses it, too */
#define KYMO_TRACE_SITES_SYSTEM 0x10000u
/* const uint32_t *, count: an event of a system's probe (lib/system_probe/), at most
 * KYMO_TRACE_USER_COMBINE_MAX bytes. The log records it as class USER, number KYMO_LOG_SYSTEM_CODE,
 * if class KYMO_TRACE_SYSTEM_PROBES is on. Any process may call it; errors as for
 * INSERTCUSEREVENT. */
#define KYMO_TRACE_INSERTPROBE _NTO_TRACE_CMD(3, 0x1042)
struct kymo_probe_site {
    uintptr_t site; /* address of the NOP */
    uintptr_t on;   /* target of the branch when it is on */
};
#define KYMO_TRACE_SETGATE _NTO_TRACE_CMD(3, 0x1010)      /* name, struct kymo_trace_refusal * */
#define KYMO_TRACE_QUERYSTOPPED _NTO_TRACE_CMD(3, 0x1011) /* cpu, struct kymo_trace_stopped * */

/* In a slot's header: inserted by a process (8.0). INSERTEVENT accepts and clears it. */
#define _NTO_TRACE_PROCESS_INJECTED 0x00010000

/* External classes: the argument of ADDCLASS and related commands. */
#define _NTO_TRACE_EMPTY 0
#define _NTO_TRACE_CONTROL 1
#define _NTO_TRACE_KERCALL 2 /* pseudo: 3, 4 and 5 */
#define _NTO_TRACE_KERCALLENTER 3
#define _NTO_TRACE_KERCALLEXIT 4
#define _NTO_TRACE_KERCALLINT 5
#define _NTO_TRACE_INT 6 /* pseudo: all interrupt classes */
#define _NTO_TRACE_INTENTER 7
#define _NTO_TRACE_INTEXIT 8
#define _NTO_TRACE_PROCESS 9
#define _NTO_TRACE_THREAD 10
#define _NTO_TRACE_VTHREAD 11
#define _NTO_TRACE_USER 12
#define _NTO_TRACE_SYSTEM 13
#define _NTO_TRACE_COMM 14
#define _NTO_TRACE_INT_HANDLER_ENTER 15
#define _NTO_TRACE_INT_HANDLER_EXIT 16
/* Kymo's own: the static probes of the library and of drivers, all or none of them. Off until the
 * class is added by name: ADDALLCLASSES leaves it out, DELALLCLASSES includes it. */
#define KYMO_TRACE_SYSTEM_PROBES 32

/*
 * Events: sys/trace_names.h has their names, sys/kercalls.h those of the classes KERCALL*; both are
 * generated. Every program may insert events of class SYSTEM from SYS_ADDRESS on; all others, and
 * other classes, need ABILITY_TRACE. ENOTSUP: classes EMPTY and CONTROL, D's class, and events that
 * do not exist.
 */
#define _NTO_TRACE_KERCALLFIRST 0
#define _NTO_TRACE_KERCALLLAST 127
/* interrupts; numbers from 256 on, which no board has, result in ENOTSUP */
#define _NTO_TRACE_INTFIRST 0
#define _NTO_TRACE_INTLAST 0xffffffffu
#define _NTO_TRACE_USERFIRST 0
#define _NTO_TRACE_USERLAST 0x3ff

/* Fields of a slot's header: the class keeps its position in the header. */
#define _NTO_TRACE_GETEVENT(header) ((header)&0x3ff)
#define _NTO_TRACE_GETEVENT_C(header) ((header) & (0x1f << 10))
#define _NTO_TRACE_GETCPU(header) (((header)&0x3f000000) >> 24)
/* The structure (simple or a part of a combine event) keeps its position, too. The next macro
 * assembles a header from its parts, with structure and class in these positions. */
#define _TRACE_GET_STRUCT(header) ((header) & (3u << 30))
#define _TRACE_MAKE_CODE(cpu, structure, eclass, event) \
    ((uint32_t)(cpu) << 24 | (structure) | (eclass) | (event))
/* Added to an event's number for INSERTSCLASSEVENT: d1 and d2 are whole machine words. */
#define _NTO_TRACE_EVENT64 512

/* Most bytes of a user combine or string event; longer ones result in EINVAL. A setting. */
#ifndef KYMO_TRACE_USER_COMBINE_MAX
#define KYMO_TRACE_USER_COMBINE_MAX 256
#endif

/* TAKEBUFFER's answer: one READY buffer, now BUSY and owned by the caller until GIVEBUFFER. */
struct kymo_trace_buffer {
    uint32_t cpu;
    uint32_t index;    /* cpu * N + i: index * TRACE_BUFFER_BYTES into the mapped block */
    uint32_t sequence; /* from 1, per CPU */
    uint32_t slots;    /* valid slots, CONTROL ones included */
};

#define KYMO_TRACE_NAME_MAX 48 /* like KYMO_NAME_MAX: a program's name with its NUL */

/* QUERYOWNER's answer: the owner of the buffers, for example after an EEXIST of ALLOCBUFFER.
 * EFAULT: there are no buffers. */
struct kymo_trace_owner {
    int32_t pid;      /* of the process that allocated them */
    uint32_t gone;    /* 1: it has ended; any process with the ability may stop, take and free */
    uint32_t running; /* 1: between START and STOP */
    uint32_t per_cpu; /* number of buffers of each CPU */
    char name[KYMO_TRACE_NAME_MAX];
    uint32_t triggered; /* 1: a D clause has called logstop() since START; the hook was raised */
};

/* QUERYRETAINED's answer. */
struct kymo_retained {
    uint32_t bytes; /* size of the window; 0: this board has none */
    uint32_t boots; /* number of this boot since the memory last lost power, from 1 */
    uint32_t found; /* number of the boot that left data; 0: none */
    uint32_t ring;  /* buffers per CPU in its recording; 0: there is none */
    uint32_t panic; /* a panic record exists, maybe a damaged one */
    uint32_t zero;
};

#define KYMO_TRACE_CLASSES 16 /* internal classes counted; a power of two above the last */
#define KYMO_TRACE_REASONS 8  /* reasons for which the kernel counts losses; 0 is none */
#define KYMO_DROP_REASONS 9   /* reasons that a capture may contain: likewise */

/* Why events were lost: CONTROL/DROPPED's reason. RECYCLED is no loss and never the kernel's: the
 * tracelogger says so of a ring's events between two runs (docs/reference/format.md §6). */
#define KYMO_DROP_REASON_LIST(R) \
    R(1, OVERWRITTEN, "overwritten", "their READY buffer was reused for newer events") \
    R(2, NOBUFFER, "no buffer", "every other buffer was READY or BUSY") \
    R(3, FILLED, "filled", "the fill policy's space was used up") \
    R(4, RECURSIVE, "recursive", "an event inside the recording of an event") \
    R(5, TOOBIG, "too big", "a combine event larger than a buffer") \
    R(6, DISCARDED, "discarded", "recorded, but given up when the buffers were freed or reset") \
    R(7, UNWRITTEN, "not written", "a medium refused their buffer, or it was damaged there") \
    R(8, RECYCLED, "recycled", "no loss: between two runs of a ring, gave way to newer ones")
enum kymo_drop_reason {
#define R(number, name, text, doc) KYMO_DROP_##name = number,
    KYMO_DROP_REASON_LIST(R)
#undef R
};

/*
 * QUERYLOSS: one CPU's account since ALLOCBUFFER; a mode change keeps it and counts the events it
 * clears as DISCARDED. All counts are events. Always, exactly: made = sum of lost[] + recycled +
 * events in buffers READY, ACTIVE or taken.
 */
struct kymo_trace_loss {
    uint64_t made;                            /* events that passed the filters */
    uint64_t lost[KYMO_TRACE_CLASSES];        /* of those, lost, per internal class */
    uint64_t lost_reason[KYMO_TRACE_REASONS]; /* the same losses, per reason */
    uint64_t pending[KYMO_TRACE_REASONS][KYMO_TRACE_CLASSES]; /* not yet in the stream as DROPPED */
    uint32_t buffers_closed;                                  /* buffers that became READY */
    uint32_t buffers_overwritten;
    uint32_t sequence; /* the latest sequence number */
    /* highest number of buffers READY or BUSY at once, demand included: the -k that would have been
     * needed (estimate: counts the buffers overwritten or missed in the worst run) */
    uint32_t ready_most;
    uint64_t recycled; /* ring policy: events overwritten by newer ones; not lost */
};

/*
 * SETGATE: from now on an event is logged only if a clause of this D program (a file of the boot
 * image, made by `kymo dtrace --compile`) lets it pass. NULL: no gate. Errors: EFAULT no buffers,
 * EEXIST there is a gate, ENOENT no such file, ENOMEM. Three errors also fill in the reason: EPERM
 * the caller lacks the ability dtrace_kernel; ESRCH a description matches no probe; EINVAL the
 * program is not for a gate or not for this machine.
 */
struct kymo_trace_refusal {
    uint32_t reason; /* enum kymo_gate_reason, or below 1000 a number of trace/dtrace/reasons.def */
    uint32_t clause; /* the clause, from 0, if the reason is a gate's own */
    /* DTRACE_REFUSAL_TEXT: the reason in words; "": a gate's own reason, whose text is in
     * KYMO_GATE_REASON_LIST, or errno is sufficient */
    char text[120];
};

#define KYMO_GATE_REASON_LIST(R) \
    R(1001, PROBE, "a clause on probes that are neither sdt's nor syscall's") \
    R(1002, ACTION, "a clause with actions other than logstop()") \
    R(1003, WRITES, "a predicate that writes to a process's memory") \
    R(1004, ABILITY, "a gate is a D program: it needs the ability dtrace_kernel")
enum kymo_gate_reason {
#define R(number, name, text) KYMO_GATE_##name = number,
    KYMO_GATE_REASON_LIST(R)
#undef R
};

/* QUERYSTOPPED: events that the gate has stopped since ALLOCBUFFER; they do not count as made. */
struct kymo_trace_stopped {
    uint64_t events[KYMO_TRACE_CLASSES]; /* per internal class */
};

#endif
