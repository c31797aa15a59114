/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kymo's own kernel calls (numbers 100-127), for services that QNX provides through messages to
 * procnto. Same conventions as sys/neutrino.h. All sizes in bytes.
 */
#ifndef ABI_SYS_KYMO_H
#define ABI_SYS_KYMO_H

#include <stddef.h>
#include <stdint.h>

#include "abi/sys/quota.h"

#define KYMO_NAME_MAX 48 /* program names, registered names; with the NUL */
#define KYMO_ARG_MAX 512 /* bytes of all argument strings of a program, NULs included */

/* ---- processes --------------------------------------------------------------------- */

struct kymo_spawn {              /* ProcSpawn() */
    char program[KYMO_NAME_MAX]; /* file in the boot image */
    int32_t priority;            /* 1..255; 0: the caller's */
    int32_t policy;              /* SCHED_*; SCHED_NOCHANGE: the caller's */
    uint32_t ability;            /* a subset of the caller's */
    uint32_t runmask;            /* CPUs; 0: all */
    /* of the main thread; 0: the default (4 KB on Cortex-M, otherwise 64 KB) */
    uint32_t stack_size;
    uint32_t heap_size; /* 0: the default (16 KB on Cortex-M, otherwise 1 MB) */
    uint32_t flags;     /* KYMO_SPAWN_* */
    uint32_t argc;
    uint32_t arg_bytes; /* length of args: argc strings, each ended by NUL */
    /* The limits that limit[] sets, 1 << KYMO_LIMIT_*; all others are the board's defaults, or the
     * parent's own if those are lower. */
    uint32_t limits;
    /* 0: at most the parent's. With KYMO_SPAWN_GROUP the limits of the group, of any size. */
    uint64_t limit[KYMO_LIMITS];
    char args[KYMO_ARG_MAX];
};

/* The process is complete but executes nothing until it gets SIGCONT. It ends with its parent. */
#define KYMO_SPAWN_HOLD 1
/* The limits apply to a group: to the process and all its descendants together. */
#define KYMO_SPAWN_GROUP 2

/* Status of an ended process, as ProcWait() stores it. */
#define KYMO_STATUS_EXITED(s) (((s)&0x7f) == 0)
#define KYMO_STATUS_CODE(s) (((s) >> 8) & 0xff)
#define KYMO_STATUS_SIGNAL(s) ((s)&0x7f)
#define KYMO_WAIT_NOHANG 1
#define KYMO_WAIT_DISOWN 0x100 /* returns at once: the caller is no longer the child's parent */

/* Signals: QNX's numbers. All end the process (there are no handlers) except SIGCONT, which starts
 * a held process (KYMO_SPAWN_HOLD) and has no effect on others. 0 only checks that the process
 * exists. */
#define KYMO_SIGILL 4
#define KYMO_SIGABRT 6
#define KYMO_SIGFPE 8
#define KYMO_SIGKILL 9
#define KYMO_SIGBUS 10
#define KYMO_SIGSEGV 11
#define KYMO_SIGTERM 15
#define KYMO_SIGCONT 25

/*
 * Start-up data of a program. The main thread is entered at the ELF's entry point with the address
 * of this struct, in its own writable memory, as its only argument.
 */
struct kymo_probe_site;
struct kymo_startup {
    uint32_t size; /* of this struct */
    uint32_t argc;
    char **argv; /* argc pointers and a NULL, in the process's memory */
    void *heap_start;
    void *heap_end;
    void *stack_low;
    void *stack_high;
    int32_t pid;
    int32_t ppid;
    uint32_t ability;
    uint32_t ncpu; /* CPUs are numbered below this; `cpus` are those that run */
    uint64_t cycles_per_sec;
    /* The static probes of the library and of drivers (sys/trace.h). The program writes the
     * location of its sites before it reads `system_probes`; the kernel writes `system_probes`,
     * whenever it changes, before it reads the location. So a program registers its sites with the
     * kernel only while they are wanted. */
    const struct kymo_probe_site *sites;
    uint32_t nsites;
    uint32_t system_probes; /* 1: they are wanted */
    uint32_t cpus;          /* that run, one bit per CPU */
};

struct kymo_proc_info { /* ProcInfo(pid, 0, …) and the head of each pidin entry */
    int32_t pid, ppid;
    int32_t status_or_zero;
    uint32_t ability;
    uint32_t nthreads, nchannels, nconnections, nmaps, ntimers;
    uint64_t memory; /* bytes of RAM that the process owns */
    char name[KYMO_NAME_MAX];
};

struct kymo_thread_info { /* ThreadInfo(pid, tid, …) */
    int32_t pid, tid;
    int32_t state; /* STATE_* */
    int32_t priority, base_priority, policy;
    int32_t cpu; /* the CPU that it runs or last ran on */
    uint32_t runmask;
    uint64_t run_ns; /* CPU time */
    uint64_t
        blocked_on; /* SEND, REPLY: pid<<32 | chid; RECEIVE: chid; MUTEX…: address; JOIN: tid */
    uint64_t ip;    /* saved instruction pointer */
    /* between the saved stack pointer and the stack's end; for an idle thread the high-water mark
     * of its CPU's kernel stack. 0: unknown */
    uint32_t stack_used;
    uint32_t stack_bytes; /* size of that stack; 0: unknown */
    char name[16];
};

/* ---- memory ------------------------------------------------------------------------ */

#define KYMO_PROT_READ 1
#define KYMO_PROT_WRITE 2
#define KYMO_PROT_EXEC 4
#define KYMO_MAP_DEVICE 0x10 /* phys is device memory; needs ABILITY_DEVICE */
#define KYMO_MAP_TRACE 0x20  /* the trace buffers, read-only; needs ABILITY_TRACE */
#define KYMO_MAP_STACK 0x40  /* with an unmapped guard below, where there is an MMU */
#define KYMO_MAP_OBJECT 0x80 /* phys is the id of an open memory object; all of it is mapped */
struct kymo_map {            /* MemMap(): in and out */
    /* in: DEVICE, OBJECT. Out: physical address of RAM, with ABILITY_DEVICE: for DMA */
    uint64_t phys;
    uint64_t vaddr; /* out */
    uint64_t len;   /* in: requested; out: mapped (rounded up) */
    uint32_t flags;
    uint32_t reserved;
};

/* ---- memory objects: lib/include/sys/mman.h is the usual way to them --------------- */

#define KYMO_OBJECT_WRITE 1     /* ObjectOpen(): for writing, too */
#define KYMO_OBJECT_CREATE 2    /* creates it if it does not exist; needs ABILITY_MEMORY */
#define KYMO_OBJECT_EXCLUSIVE 4 /* with CREATE: EEXIST if it exists */
/* In mode: processes with these abilities are the group; without it, processes that have all
 * abilities of the creator. */
#define KYMO_OBJECT_ABLE(abilities) ((unsigned)(abilities) << 16)
#define KYMO_OBJECT_AT 0x1000 /* ObjectInfo(): + n: object number n, or the next one */
#define KYMO_OBJECT_NAMED 1   /* flags: not unlinked */
#define KYMO_OBJECT_TRACING 2 /* the event log's buffers */
struct kymo_object_info {     /* ObjectInfo() */
    uint64_t size;            /* as last set by ObjectSize() */
    uint64_t memory;          /* bytes of RAM, as mapped; 0: it has no size yet */
    int32_t creator;          /* pid; 0: it has ended */
    uint32_t mode;            /* like a file's: creator; group (by ability); others */
    uint32_t opens, maps;
    uint32_t flags, reserved;
    char name[KYMO_NAME_MAX];
};

/* ---- names ------------------------------------------------------------------------- */

struct kymo_name { /* NameLookup(): out */
    int32_t pid;
    int32_t chid;
};

/* ---- host files (semihosting), needs ABILITY_HOST ---------------------------------- */

#define KYMO_HOST_OPEN \
    1 /* a: path (bytes in b, no NUL inside), c: 0 read 1 create/truncate 2 append */
#define KYMO_HOST_WRITE \
    2 /* a: buffer, b: bytes, c: handle; returns bytes written (short: disk full) */
#define KYMO_HOST_CLOSE 3 /* c: handle */
#define KYMO_HOST_EXIT 4  /* c: exit status of the emulator; needs ABILITY_RESET too */
#define KYMO_HOST_TIME 5  /* returns the host's seconds since 1970 */

/* ---- system ------------------------------------------------------------------------ */

/* value: exit status for the emulator, where there is one; 0: the status set by
 * KYMO_SYSTEM_STATUS */
#define KYMO_SYSTEM_SHUTDOWN 1
#define KYMO_SYSTEM_RESET 2
#define KYMO_SYSTEM_PANIC 3
#define KYMO_SYSTEM_ON_PANIC 4 /* action at the end of a panic; value: KYMO_PANIC_STOPS, … */
/* value: milliseconds after which the watchdog expires unless it is armed again; 0: off. ENOSYS:
 * the board has none; EINVAL: above its range. */
#define KYMO_SYSTEM_WATCHDOG 5
/* value: exit status, 0 to 255, of a later shutdown with value 0; init sets it to 1 when a program
 * of the start script fails. EINVAL: more than 255. */
#define KYMO_SYSTEM_STATUS 6
#define KYMO_PANIC_STOPS 0  /* the emulator exits with status 101; a board hangs */
#define KYMO_PANIC_RESETS 1 /* for products */

/* Image files: ImageRead(name, offset, buffer, bytes) returns the number of bytes read, 0 at the
 * end. */

#ifndef KYMO_KERNEL
/* For all calls: EFAULT is a bad pointer, EINVAL an invalid argument. */

/* Starts a process and returns its pid. ENOENT: no such program; ENOEXEC: not a program for this
 * machine; ENOMEM, EAGAIN: no room; EPERM: without ABILITY_SPAWN, or abilities, priority or limits
 * that the caller may not give. */
int ProcSpawn(const struct kymo_spawn *spawn);
void ProcExit(int status) __attribute__((noreturn)); /* 0..255 */
/* Waits until a child ends (pid 0: any child); returns its pid. KYMO_WAIT_NOHANG: returns 0 if none
 * has ended. KYMO_WAIT_DISOWN: disowns the child, which may have ended: it continues without a
 * parent, and its end is not reported; a held child ends. ECHILD: no such child, or another thread
 * of the caller has collected or disowned the last one; EINTR: cancelled. */
int ProcWait(int pid, int *status, int options);
/* Report the process with the lowest pid >= pid, or in a process (0: the caller's) the thread with
 * the lowest tid >= tid; return its id. ESRCH: there is none. */
int ProcInfo(int pid, struct kymo_proc_info *info);
int ThreadInfo(int pid, int tid, struct kymo_thread_info *info);
int ProcSelf(int *tid, int *ppid); /* returns the pid; either pointer may be NULL */
/* Reports the use and the limits of process pid (0: the caller), of a group around it, or of the
 * system: see struct kymo_quota. Returns the pid. ESRCH: no such process; EINVAL: no such level. */
int ProcLimits(int pid, unsigned level, struct kymo_quota *quota);
/* Returns 0. New RAM is zeroed. EPERM: DEVICE or TRACE without the ability, or a device that the
 * kernel uses; ENXIO: no trace buffers; ENOMEM, EAGAIN; for an object the errors of mmap(). */
int MemMap(struct kymo_map *map);
/* len 0: the mapping that begins at addr. EINVAL: not exactly one mapping; EBUSY: it contains
 * LibWord()'s word. */
int MemUnmap(void *addr, size_t len);
/* Sets the rights (KYMO_PROT_*) of the whole mapping that begins at addr. EINVAL: no such mapping
 * or rights; EACCES: not the process's own memory; EBUSY: it contains LibWord()'s word. */
int MemProtect(void *addr, size_t len, unsigned prot);
/* See <sys/mman.h>: shm_open(), close(), ftruncate(), shm_unlink(). */
int ObjectOpen(const char *name, unsigned flags, unsigned mode); /* returns the id */
int ObjectClose(int id);
int ObjectSize(int id, size_t bytes);
/* returns its number among all objects. EBADF, ENOENT */
int ObjectInfo(int id, struct kymo_object_info *info);
int ObjectUnlink(const char *name);
/* Registers a name for a channel of the caller; returns the name's id. EEXIST: the name is taken;
 * EBADF: no such channel; EAGAIN: the table of names is full; ENAMETOOLONG. */
int NameAttach(const char *name, int chid);
int NameDetach(int id);                                  /* EINVAL: not an id of the caller's */
int NameLookup(const char *name, struct kymo_name *out); /* ENOENT: not registered */
/* Reads bytes of a file of the boot image; returns their number, 0 at the end. ENOENT,
 * ENAMETOOLONG. */
long ImageRead(const char *name, size_t offset, void *buffer, size_t bytes);
/* EPERM: without ABILITY_HOST; EBADF: not a handle of the caller's; EMFILE: too many open;
 * ENAMETOOLONG: a path of 128 bytes or more; ENOSYS: the board has no semihosting. */
long HostCall(int op, const void *a, size_t b, int c);
int SystemCtl(int what, int value); /* EPERM: without ABILITY_RESET */
/* Reads bytes of the system page (abi/syspage.h); returns their number, 0 at the end. */
long SyspageRead(size_t offset, void *buffer, size_t bytes);
/* Cortex-M: see struct _thread_attr.tls. The word's value at this call becomes the calling thread's
 * tls, because the main thread starts without one. */
int LibWord(void *address_of_word);
/* Writes to the kernel's own console, which is polled; returns the number of bytes written. Needs
 * no ability. */
long ConsoleWrite(const void *text, size_t bytes);
/* Reads the output of the kernel and ConsoleWrite(), from *position on (0: since boot) or from the
 * oldest byte kept, and advances *position. Returns the number of bytes, at most 128; 0: no new
 * output. EPERM without ABILITY_DEVICE, EFAULT. */
long ConsoleRead(void *text, size_t bytes, uint64_t *position);
#endif

#endif
