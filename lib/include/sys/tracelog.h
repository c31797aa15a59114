/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/tracelog.h>: lets a program record the kernel's events by itself, without the process
 * tracelogger, and receive the capture byte by byte. The names are libtracelog's (QNX 7.1 and
 * later), of which only names and usage are public: this description is Kymo's.
 *
 *     tracelog_instance_t *log;
 *     tracelog_acquire();                         abilities trace and interrupt
 *     tracelog_instance_init(&log);
 *     tracelog_setkbuffers(log, TRACELOG_ANYWHERE, 16, 0, 0);
 *     tracelog_setwriter(log, write_it, NULL, cookie);
 *     TraceEvent(_NTO_TRACE_ADDALLCLASSES);       the program selects the events
 *     tracelog_start(log, 1);
 *     ...
 *     tracelog_stop(log);
 *     tracelog_wait();                            all of it has been written
 *     tracelog_instance_destroy(log);
 *     tracelog_release();
 *
 * Works as the tracelogger does, with the same buffers, hook, order, exactness of losses and bytes
 * (docs/reference/format.md): `kymo print` and all other readers read a file of what the writer
 * received. There is one recording at a time in the system, a tracelogger's or one of these.
 *
 * All functions return 0 or an error number and do not set errno. They are called by one thread at
 * a time, except tracelog_stop(), which any thread may call during a recording. They take no lock;
 * _start, _stop and _wait may block. EINVAL everywhere: a NULL that isn't allowed.
 *
 * If the program ends while it records, the kernel stops and frees the buffers.
 * TraceEvent(_NTO_TRACE_STOP) by another process, or `tracestop`, has the effect of
 * tracelog_stop(). While it records, the process has the name "tracelogger".
 *
 * Memory: an instance takes about 2 KB of heap, and the recording thread pthread_create()'s default
 * stack (4 KB of heap on Cortex-M). Tested by test/board's t_tracelog and test/board/library.py.
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
 * The writer: receives a capture's bytes in order: attributes, system page, then the slots of one
 * buffer after the other. Returns how many bytes it has taken. Less than `bytes`, or -1 and errno,
 * ends the capture: the writer isn't called again, and later events are counted as unwritten.
 * Called by tracelog_start(), then by the library's own thread, at the priority of the thread that
 * called tracelog_start(): that must be above the recorded threads, or the writer starves. Calls
 * never overlap. The writer may block and make any call, but of this header only tracelog_stop().
 * `data` is read-only and is reused when the writer returns.
 */
typedef ssize_t (*tracelog_write_t)(void *cookie, const char *data, size_t bytes);

#define TRACELOG_ANYWHERE (~(uint64_t)0) /* same as 0: the kernel places the buffers */

/* Makes the calling process the only one that records through this header. EPERM: it lacks the
 * abilities; EEXIST: another process, this one, or a tracelogger already records; ENOMEM. */
int tracelog_acquire(void);
/* Undoes tracelog_acquire(). EBUSY: tracelog_wait() is still due for a recording of this process;
 * EPERM: not acquired. */
int tracelog_release(void);

/* Makes a description of a recording: 8 buffers per CPU, 32 if there is one CPU, linear, no writer.
 * ENOMEM. */
int tracelog_instance_init(tracelog_instance_t **instance);
/* EBUSY: it records, or tracelog_wait() is still due. */
int tracelog_instance_destroy(tracelog_instance_t *instance);

/* Sets the number of the kernel's buffers, per CPU: 2 to 1024, else EINVAL. ENOTSUP: an
 * address other than TRACELOG_ANYWHERE or 0; keep or reuse are not 0 (tracelogger's -P and -R).
 * EBUSY: it records. */
int tracelog_setkbuffers(tracelog_instance_t *instance, uint64_t paddr, int buffers, int keep,
                         int reuse);
/* Like tracelogger's -b: nothing is copied here, so it adds that many kernel buffers, spread over
 * the CPUs; 0 to 1024. ENOTSUP: memory of the program's own. EBUSY. */
int tracelog_setbuffers(tracelog_instance_t *instance, void *memory, int buffers);
/* `several`, a writer of several buffers at once, must be NULL, else ENOTSUP. EBUSY. */
int tracelog_setwriter(tracelog_instance_t *instance, tracelog_write_t write, void (*several)(void),
                       void *cookie);
/* Kymo's own: records into a ring: keeps only the newest events, which are written at the stop,
 * oldest first. EBUSY. */
int tracelog_setring(tracelog_instance_t *instance, bool ring);

/*
 * Starts recording: allocates the buffers, passes the capture's header to the writer, and records
 * the events that the filters let through (TraceEvent(); the filters are as last set, initially all
 * off). state not 0: existing processes, threads and names are recorded first (_NTO_TRACE_START);
 * 0: they are not (_NTO_TRACE_STARTNOSTATE). EPERM: not acquired; EINVAL: no writer; EBUSY: a
 * recording runs; EEXIST: a tracelogger's runs, or another process owns the buffers; ENOMEM: no
 * contiguous memory for the buffers; EAGAIN: no thread; EIO or the writer's errno: it did not take
 * the header. An error leaves nothing behind.
 */
int tracelog_start(tracelog_instance_t *instance, int state);
/*
 * Stops recording: later events aren't recorded. A ring records the state once more, if it did so
 * at the start. The buffers are then written; tracelog_wait() waits for that. No error if it has
 * ended already. EINVAL: it does not record.
 */
int tracelog_stop(tracelog_instance_t *instance);
/*
 * Waits until the recording has ended, for any reason, and all of it has been written; DROPPED
 * slots for losses not yet in any buffer come last. Then the buffers return to the kernel. EIO or
 * the writer's errno: the capture is not complete; EINVAL: there is none; EDEADLK: called by the
 * writer.
 */
int tracelog_wait(void);

/* Kymo's own: exact figures of the last recording, valid after tracelog_wait(): made = whole events
 * that the writer has taken + lost + recycled + unwritten. EBUSY: it records. */
struct tracelog_account {
    uint64_t made;      /* events that the filters let through */
    uint64_t lost;      /* of those; a complete capture reports them as DROPPED slots */
    uint64_t recycled;  /* of those, in a ring, overwritten by newer ones */
    uint64_t unwritten; /* of those, in buffers that the writer took only in part or not at all */
    uint64_t bytes;     /* that the writer has taken */
    uint32_t buffers;   /* written */
    uint32_t zero;
};
int tracelog_account(const tracelog_instance_t *instance, struct tracelog_account *account);

#ifdef __cplusplus
}
#endif

#endif
