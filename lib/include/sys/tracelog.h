/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/tracelog.h>: a program records the kernel's events by itself, without the process
 * tracelogger, and is given the capture byte by byte. The names are libtracelog's (QNX 7.1 and
 * later), of which only the names and their use are public: what is said here is Kymo's.
 *
 *     tracelog_instance_t *log;
 *     tracelog_acquire();                         abilities trace and interrupt
 *     tracelog_instance_init(&log);
 *     tracelog_setkbuffers(log, TRACELOG_ANYWHERE, 16, 0, 0);
 *     tracelog_setwriter(log, write_it, NULL, cookie);
 *     TraceEvent(_NTO_TRACE_ADDALLCLASSES);       what is recorded: the program's to say
 *     tracelog_start(log, 1);
 *     ...
 *     tracelog_stop(log);
 *     tracelog_wait();                            all of it has been written
 *     tracelog_instance_destroy(log);
 *     tracelog_release();
 *
 * It is what the tracelogger does: the same buffers, hook, order, exactness of losses and bytes
 * (docs/format.md): a file of what the writer got is read by `kymo print` and all others. There is
 * one recording at a time in the system, a tracelogger's or one of these.
 *
 * All functions return 0 or an error's number; errno means nothing then. They are called by one
 * thread at a time, but for tracelog_stop(), which any thread may call while it records. They take
 * no lock; _start, _stop and _wait may block. EINVAL everywhere: a NULL that isn't allowed.
 *
 * If the program ends while it records, the kernel stops and frees the buffers. If somebody else
 * says TraceEvent(_NTO_TRACE_STOP), or `tracestop` is run, it is as if this program had said
 * tracelog_stop(). While it records it has the name "tracelogger".
 *
 * Memory: an instance takes about 2 KB of heap, and the recording thread a stack as
 * pthread_create() gives it (4 KB of heap on Cortex-M). Proof: test/boot's t_tracelog,
 * test/boot/library.py.
 */
#ifndef LIB_SYS_TRACELOG_H
#define LIB_SYS_TRACELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/include/sys/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tracelog_instance tracelog_instance_t;

/*
 * Is given a capture's bytes, in their order: attributes, system page, then the slots of one buffer
 * after the other, and returns how many it has taken. Less than `bytes`, or -1 and errno, ends the
 * capture: it isn't called again, and what comes is counted as unwritten.
 * Called by tracelog_start(), then by the library's own thread, at the priority of the thread that
 * called tracelog_start(): it must be above what is recorded, or it starves. Never twice at a time.
 * It may block and make any call, of this header only tracelog_stop(); `data` is read-only memory,
 * and is used again when it returns.
 */
typedef ssize_t (*tracelog_write_t)(void *cookie, const char *data, size_t bytes);

#define TRACELOG_ANYWHERE (~(uint64_t)0) /* as 0: where the buffers lie is the kernel's to say */

/* Makes the calling process the one that records by this header. EPERM: it lacks the abilities;
 * EEXIST: there is one, this one too, or a tracelogger records; ENOMEM. */
int tracelog_acquire(void);
/* Gives that up. EBUSY: a recording of this process has not been waited for; EPERM:
 * not acquired. */
int tracelog_release(void);

/* A description of a recording: 8 buffers per CPU, 32 if there is one CPU, linear, no writer.
 * ENOMEM. */
int tracelog_instance_init(tracelog_instance_t **instance);
/* EBUSY: it records, or has not been waited for. */
int tracelog_instance_destroy(tracelog_instance_t *instance);

/* The kernel's buffers of 16 KB, per CPU: 2 to 1024, else EINVAL. ENOTSUP: another place than
 * TRACELOG_ANYWHERE or 0; keep or reuse are not 0 (tracelogger's -P and -R). EBUSY: it records. */
int tracelog_setkbuffers(tracelog_instance_t *instance, uint64_t paddr, int buffers, int keep,
                         int reuse);
/* As tracelogger's -b: nothing is copied here, so it is that many more kernel buffers, spread over
 * the CPUs; 0 to 1024. ENOTSUP: memory of the program's own. EBUSY. */
int tracelog_setbuffers(tracelog_instance_t *instance, void *memory, int buffers);
/* `several`, a writer of several buffers at once, must be NULL: ENOTSUP. EBUSY. */
int tracelog_setwriter(tracelog_instance_t *instance, tracelog_write_t write, void (*several)(void),
                       void *cookie);
/* Kymo's: the newest only, which are written at the stop, oldest first. EBUSY. */
int tracelog_setring(tracelog_instance_t *instance, bool ring);

/*
 * Begins: allocates the buffers, gives the writer the capture's beginning, and records what the
 * filters let through (TraceEvent(); with the classes as somebody has left them, or as they are at
 * first: all off). state: not 0: the processes, threads and names that there are come first
 * (_NTO_TRACE_START); 0: they don't (_NTO_TRACE_STARTNOSTATE).
 * EPERM: not acquired; EINVAL: no writer; EBUSY: one records; EEXIST: a tracelogger does, or some
 * other process has the buffers; ENOMEM: no contiguous memory for so many; EAGAIN: no thread;
 * EIO or the writer's errno: it did not take the beginning. After an error nothing is left.
 */
int tracelog_start(tracelog_instance_t *instance, int state);
/*
 * Ends the recording: what comes now isn't recorded. In a ring the state is recorded once more, if
 * it was at the start. What is in the buffers is being written; tracelog_wait() says when it is. No
 * error if it has ended already. EINVAL: it does not record.
 */
int tracelog_stop(tracelog_instance_t *instance);
/*
 * Until the recording has ended, by whomever, and all of it has been written: the last of it are
 * DROPPED slots for losses that no buffer tells of. Then the buffers are the kernel's again. EIO or
 * the writer's errno: the capture is not complete; EINVAL: there is none; EDEADLK: from the writer.
 */
int tracelog_wait(void);

/* Kymo's: exact figures of the last recording, when it has been waited for: made = whole events
 * that the writer has taken + lost + recycled + unwritten. EBUSY: it records. */
struct tracelog_account {
    uint64_t made;      /* events that the filters let through */
    uint64_t lost;      /* of those; a capture that is complete tells of them by DROPPED slots */
    uint64_t recycled;  /* of those, a ring's, for newer ones */
    uint64_t unwritten; /* of those, in buffers that the writer did not take, or not whole */
    uint64_t bytes;     /* that it has taken */
    uint32_t buffers;   /* written */
    uint32_t zero;
};
int tracelog_account(const tracelog_instance_t *instance, struct tracelog_account *account);

#ifdef __cplusplus
}
#endif

#endif
