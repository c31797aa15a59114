/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fails one call of a command, for test/host/fails/check.py (LD_PRELOAD): the n-th allocation,
 * write, flush to the medium, rename or link, or opening of a file to write.
 *
 *   KYMO_FAIL_COUNTS  a file of struct counts, shared with the driver: `kind` and `at` say which
 *                     call fails (at 0: none), `seen` receives how many calls of a kind there were
 *   KYMO_FAIL_TRACE   if set, the stack of the failing call goes to standard error
 *
 * malloc() and its kin take the place of libc's. A write of stdio makes its system call inside
 * libc, where no symbol can be replaced, so a seccomp filter turns the other calls into SIGSYS, and
 * the handler makes them again with a mark in an argument that none of them has. Standard error
 * never fails, because the message of the failure goes there; nor do pipes and sockets. Programs
 * that the command starts inherit the filter, so they have the handler, too, but none of their
 * calls is counted or fails.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define MARK UINT32_C(0x6b796d6f)

enum kind { ALLOCATION, WRITE, FLUSH, NAME, OPEN, KINDS };

struct counts {
    uint64_t kind, at, pid, failed;
    uint64_t seen[KINDS];
};

static struct counts *counts;
static bool traces;

/* True if this call is the one to fail. */
static bool fails(enum kind kind)
{
    static _Thread_local bool inside;
    uint64_t n;

    if (counts == NULL || inside) {
        return false;
    }
    n = __atomic_add_fetch(&counts->seen[kind], 1, __ATOMIC_RELAXED);
    if (counts->kind != kind || counts->at != n) {
        return false;
    }
    counts->failed = 1;
    if (traces) {
        void *frames[24];

        inside = true;
        backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
        inside = false;
    }
    return true;
}

/* ---- allocations ------------------------------------------------------------------- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    if (fails(ALLOCATION)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    if (fails(ALLOCATION)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
    if (fails(ALLOCATION)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(old, bytes);
}

/* ---- system calls ------------------------------------------------------------------ */

#if defined(__x86_64__)
#define CALL_NUMBER(context) ((context)->uc_mcontext.gregs[REG_RAX])
#define CALL_RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
static long argument(const ucontext_t *context, unsigned n)
{
    static const int registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8};

    return (long)context->uc_mcontext.gregs[registers[n]];
}
#elif defined(__aarch64__)
#define CALL_NUMBER(context) ((context)->uc_mcontext.regs[8])
#define CALL_RESULT(context) ((context)->uc_mcontext.regs[0])
static long argument(const ucontext_t *context, unsigned n)
{
    return (long)context->uc_mcontext.regs[n];
}
#endif

static const struct call {
    int number;
    enum kind kind;
    int error;
} calls[] = {
    {SYS_write, WRITE, ENOSPC},   {SYS_writev, WRITE, ENOSPC}, {SYS_pwrite64, WRITE, ENOSPC},
    {SYS_ftruncate, WRITE, EIO},  {SYS_fsync, FLUSH, EIO},     {SYS_fdatasync, FLUSH, EIO},
    {SYS_renameat, NAME, ENOSPC}, {SYS_renameat2, NAME, EIO},  {SYS_linkat, NAME, ENOSPC},
    {SYS_openat, OPEN, ENOSPC},   {SYS_mkdirat, OPEN, ENOSPC},
#ifdef SYS_rename
    {SYS_rename, NAME, EIO},      {SYS_link, NAME, EIO},       {SYS_open, OPEN, ENOSPC},
    {SYS_mkdir, OPEN, ENOSPC},
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static bool is_path_of_files(const char *path)
{
    return strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

/* True if it is a call of which one may fail. */
static bool counts_as(const struct call *call, const ucontext_t *context)
{
    long first = argument(context, 0);
    struct stat st;

    switch (call->kind) {
    case WRITE:
        return first != STDERR_FILENO && fstat((int)first, &st) == 0 &&
               (S_ISREG(st.st_mode) || first == STDOUT_FILENO);
    case OPEN:
        if (call->number == SYS_openat) {
            return (argument(context, 2) & O_ACCMODE) != O_RDONLY &&
                   is_path_of_files((const char *)argument(context, 1));
        }
#ifdef SYS_open
        if (call->number == SYS_open) {
            return (argument(context, 1) & O_ACCMODE) != O_RDONLY &&
                   is_path_of_files((const char *)first);
        }
#endif
        return true;
    default:
        return true;
    }
}

static void on_call(int signo, siginfo_t *info, void *arg)
{
    ucontext_t *context = arg;
    const struct call *call = NULL;
    int saved = errno;
    long result;

    (void)signo;
    (void)info;
    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].number == (int)CALL_NUMBER(context)) {
            call = &calls[i];
        }
    }
    if (call != NULL && counts != NULL && counts_as(call, context) && fails(call->kind)) {
        CALL_RESULT(context) = -call->error;
        errno = saved;
        return;
    }
    result = syscall(CALL_NUMBER(context), argument(context, 0), argument(context, 1),
                     argument(context, 2), argument(context, 3), argument(context, 4), MARK);
    CALL_RESULT(context) = result < 0 ? -errno : result;
    errno = saved;
}

static void filter_add(void)
{
    struct sock_filter program[CALLS + 6];
    size_t n = 0;

    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                offsetof(struct seccomp_data, args[5]));
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, CALLS + 1, 0);
    program[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, (uint8_t)(CALLS - i), 0);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
              &(struct sock_fprog){(unsigned short)n, program}) != 0) {
        _exit(99);
    }
}

__attribute__((constructor)) static void fails_begin(void)
{
    const char *path = getenv("KYMO_FAIL_COUNTS");
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    void *frames[1];

    if (fd >= 0) {
        close(fd);
    }
    if (at == MAP_FAILED || sigaction(SIGSYS, &action, NULL) != 0) {
        _exit(99);
    }
    if (((struct counts *)at)->pid != 0) {
        return; /* a program that the command has started */
    }
    traces = getenv("KYMO_FAIL_TRACE") != NULL;
    if (traces) {
        backtrace(frames, 1); /* its own library is loaded with the first call */
    }
    ((struct counts *)at)->pid = (uint64_t)getpid();
    filter_add();
    counts = at;
}
