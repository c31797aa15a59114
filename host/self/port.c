/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port of the D machine to this process: what a clause can read and change. Called by the
 * machine while a probe fires, from any thread; nothing here allocates but dtrace_port_alloc().
 */
#include "host/self/self.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than this in one piece is refused, as a board would: sizes are then halved, or an error. */
#define ALLOC_MAX ((size_t)256 << 20)

void *dtrace_port_alloc(size_t bytes)
{
    void *block;

    if (bytes > ALLOC_MAX) {
        return NULL;
    }
    /* Fresh pages are zero and cost nothing until they are touched. */
    block = mmap(NULL, bytes + !bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void *dtrace_port_keep(size_t bytes)
{
    return dtrace_port_alloc(bytes);
}

void dtrace_port_free(void *block, size_t bytes)
{
    if (block) {
        munmap(block, bytes + !bytes);
    }
}

static uint64_t self_port_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t dtrace_port_vtimestamp(void)
{
    return self_port_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t dtrace_port_walltimestamp(void)
{
    return self_port_clock_ns(CLOCK_REALTIME);
}

int32_t dtrace_port_pid(void)
{
    return getpid();
}

int32_t dtrace_port_tid(void)
{
    static _Thread_local int32_t tid;

    if (tid == 0) {
        tid = (int32_t)syscall(SYS_gettid);
    }
    return tid;
}

int32_t dtrace_port_ppid(void)
{
    return getppid();
}

uint32_t dtrace_port_uid(void)
{
    return getuid();
}

uint32_t dtrace_port_gid(void)
{
    return getgid();
}

int32_t dtrace_port_errno(void)
{
    return errno;
}

uint32_t dtrace_port_ipl(void)
{
    return 0;
}

uint64_t dtrace_port_curthread(void)
{
    return (uintptr_t)&self_thread;
}

/* The parent of a process, from the fourth field of its stat; 0: there is none. */
static int32_t self_port_parent_of(int32_t pid)
{
    char path[32], text[512];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    if (fgets(text, sizeof(text), file)) {
        const char *end = strrchr(text, ')');
        if (!end || sscanf(end + 1, " %*c %d", &parent) != 1) {
            parent = 0;
        }
    }
    fclose(file);
    return parent;
}

bool dtrace_port_descends(int32_t pid)
{
    int32_t ancestor = getpid();

    for (unsigned generation = 0; ancestor > 0 && generation < 1000; generation++) {
        if (ancestor == pid) {
            return true;
        }
        ancestor = self_port_parent_of(ancestor);
    }
    return pid == 0;
}

/* Other processes are unknown here. */
const char *dtrace_port_pidname(int32_t pid)
{
    return pid == getpid() ? program_invocation_short_name : "";
}

/* The thread that asks runs; of the others nothing is known here. */
uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word)
{
    bool asks = pid == getpid() && (tid == 0 || tid == dtrace_port_tid());

    switch (word) {
    case DTRACE_LWPINFO_STATE:
        return asks ? 1 : 0;
    case DTRACE_LWPINFO_LIFE:
        return asks ? 6 : 0;
    case DTRACE_LWPINFO_CPU:
        return asks ? dtrace_port_cpu() : 0;
    case DTRACE_LWPINFO_PPID:
        return pid == getpid() ? (uint64_t)getppid() : (uint64_t)self_port_parent_of(pid);
    default:
        return 0;
    }
}

const char *dtrace_port_execname(void)
{
    return program_invocation_short_name;
}

/* The words of the command line, with blanks between them; a long one is cut. */
static char self_port_argument_text[256];

void self_port_init(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n =
        fd >= 0 ? read(fd, self_port_argument_text, sizeof(self_port_argument_text) - 1) : 0;

    for (ssize_t i = 0; i + 1 < n; i++) {
        self_port_argument_text[i] = self_port_argument_text[i] ? self_port_argument_text[i] : ' ';
    }
    if (fd >= 0) {
        close(fd);
    }
}

const char *dtrace_port_execargs(void)
{
    return self_port_argument_text;
}

uint64_t dtrace_port_caller(bool user)
{
    uint64_t frames[2] = {0, 0};

    return dtrace_port_stack(user, frames, 2) == 2 ? frames[1] : 0;
}

bool dtrace_port_register(bool user, unsigned n, uintptr_t *value)
{
    (void)user;
    (void)n;
    (void)value;
    return false;
}

/* The machine's own frames are none of the program's business: the first that isn't one. */
static int self_port_outermost_frame(void *const *frames, int n)
{
    int i = 1;

    while (i < n && frames[i] != self_thread.outside) {
        i++;
    }
    return i < n ? i : 1;
}

/* From the thread in which the probe fires: user and kernel are the same here. */
unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max)
{
    void *frames[DTRACE_PORT_DEPTH_MOST];
    int n = backtrace(frames, DTRACE_PORT_DEPTH_MOST);
    unsigned stored = 0;

    (void)user;
    for (int i = self_port_outermost_frame(frames, n); i < n && stored < max; i++, stored++) {
        if (to) {
            to[stored] = (uintptr_t)frames[i];
        }
    }
    return stored;
}

/* No stack pointers are known here: helpers are for the boards. */
unsigned dtrace_port_frames(void (*found)(void *arg, uint64_t pc, uint64_t sp), void *arg,
                            unsigned max)
{
    uint64_t frames[DTRACE_PORT_DEPTH_MOST];
    unsigned n = dtrace_port_stack(true, frames, max < DTRACE_PORT_DEPTH_MOST ? max : 0);

    for (unsigned i = 0; i < n; i++) {
        found(arg, frames[i], 0);
    }
    return n;
}

void dtrace_port_moved(uint64_t *text, uint64_t *data)
{
    *text = 0;
    *data = 0;
}

/* xorshift64*: good enough for sampling, and no lock. */
uint64_t dtrace_port_random(void)
{
    static _Thread_local uint64_t state;

    if (state == 0) {
        state = (self_port_clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)(uintptr_t)&state << 20) | 1;
    }
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

/* Never called: see DTRACE_PORT_STOPS. */
void dtrace_port_stop_process(void)
{
}

bool dtrace_port_raise(int signal)
{
    return kill(getpid(), signal) == 0;
}

void dtrace_port_panic(void)
{
    static const char text[] = "kymo: panic() was called by a D program\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
        _exit(134);
    }
    abort();
}

/* Programs for it are compiled by this process. */
bool dtrace_port_is_kernel(const uint8_t *id, char *text)
{
    (void)id;
    (void)text;
    return true;
}

/* No event log runs here. */
void dtrace_port_logstop(void)
{
}

/* No debugger is attached to `self`: breakpoint() continues without one. */
void dtrace_port_breakpoint(void)
{
}

void dtrace_port_chill(uint64_t ns)
{
    uint64_t until = dtrace_port_timestamp() + ns;

    while (dtrace_port_timestamp() < until) {
    }
}
