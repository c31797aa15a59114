/* SPDX-License-Identifier: BSD-2-Clause */
/* See guard.h. */
#include "test/host/dtrace/replay/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CPU_SECONDS = 60, CALLS_MOST = 10000000 };

enum kind { FORBIDDEN, OPEN, OPENAT, WRITE };

static const struct call {
    long number;
    const char *name;
    enum kind kind;
} calls[] = {
#define NO(name) \
    { \
        SYS_##name, #name, FORBIDDEN \
    }
    NO(execve),
    NO(execveat),
    NO(clone),
    NO(clone3),
    NO(openat2),
    NO(unlinkat),
    NO(renameat),
    NO(renameat2),
    NO(mkdirat),
    NO(symlinkat),
    NO(linkat),
    NO(truncate),
    NO(ftruncate),
    NO(fchmod),
    NO(fchmodat),
    NO(fchown),
    NO(fchownat),
    NO(mknodat),
    NO(utimensat),
    NO(socket),
    NO(connect),
    NO(bind),
    NO(chdir),
    NO(fchdir),
    NO(chroot),
    NO(mount),
    NO(kill),
    NO(ptrace),
    NO(setxattr),
    NO(fsetxattr),
    NO(fallocate),
    NO(sendfile),
    NO(copy_file_range),
    NO(io_uring_setup),
    NO(process_vm_writev),
    NO(setrlimit),
    NO(memfd_create),
#ifdef SYS_fork /* the old calls, where an architecture has them */
    NO(fork),
    NO(vfork),
    NO(unlink),
    NO(rename),
    NO(mkdir),
    NO(rmdir),
    NO(symlink),
    NO(link),
    NO(creat),
    NO(chmod),
    NO(chown),
    NO(mknod),
    NO(utime),
    NO(utimes),
    {SYS_open, "open", OPEN},
#endif
#undef NO
    {SYS_openat, "openat", OPENAT},
    {SYS_write, "write", WRITE},
    {SYS_writev, "writev", WRITE},
    {SYS_pwrite64, "pwrite64", WRITE},
    {SYS_pwritev, "pwritev", WRITE},
    {SYS_pwritev2, "pwritev2", WRITE},
};

/* What the C library and the sanitizers open by themselves. */
static const char *const system_files[] = {"/proc/self/",
                                           "/proc/sys/vm/",
                                           "/etc/localtime",
                                           "/usr/share/zoneinfo/",
                                           "/usr/lib/locale/",
                                           "/etc/nsswitch.conf",
                                           "/etc/services",
                                           "/etc/ld.so.cache",
                                           "/lib/",
                                           "/usr/lib/",
                                           "/sys/devices/system/cpu/",
                                           NULL};

static void read_text(pid_t child, uint64_t from, char *to, size_t room)
{
    size_t n = 0;

    while (n + 1 < room) {
        struct iovec here = {to + n, 1}, there = {(void *)(uintptr_t)(from + n), 1};
        if (process_vm_readv(child, &here, 1, &there, 1, 0) != 1 || to[n] == '\0') {
            break;
        }
        n++;
    }
    to[n] = '\0';
}

static bool may_read(const char *path, const char *const *readable)
{
    for (; *readable; readable++) {
        if (strcmp(path, *readable) == 0) {
            return true;
        }
    }
    for (const char *const *s = system_files; *s; s++) {
        if (strncmp(path, *s, strlen(*s)) == 0 && !strstr(path, "/../")) {
            return true;
        }
    }
    return false;
}

static bool is_broken(pid_t child, const struct call *call, const uint64_t *args,
                      const char *const *readable, char *what, size_t room)
{
    char path[256];
    uint64_t flags;

    switch (call->kind) {
    case WRITE:
        snprintf(what, room, "%s() to file %llu", call->name, (unsigned long long)args[0]);
        return args[0] != 1 && args[0] != 2;
    case OPEN:
    case OPENAT:
        read_text(child, args[call->kind == OPENAT], path, sizeof(path));
        flags = args[call->kind == OPENAT ? 2 : 1];
        snprintf(what, room, "%s(\"%s\", 0%llo)", call->name, path, (unsigned long long)flags);
        return (flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)) != O_RDONLY ||
               !may_read(path, readable);
    default:
        snprintf(what, room, "%s()", call->name);
        return true;
    }
}

/* At the entry to a system call: false: it is forbidden. */
static bool look(pid_t child, const char *const *readable, struct guard_result *r)
{
    struct __ptrace_syscall_info info = {0};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY) {
        return true;
    }
    r->calls++;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if ((long)info.entry.nr == calls[i].number &&
            is_broken(child, &calls[i], info.entry.args, readable, r->what, sizeof(r->what))) {
            r->broken = true;
            return false;
        }
    }
    return r->calls < CALLS_MOST;
}

static void be_child(int (*fn)(void *arg), void *arg)
{
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS});
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        perror("the guard needs ptrace()");
        _exit(255);
    }
    raise(SIGSTOP);
    _exit(fn(arg) & 0xff);
}

struct guard_result guard_run(int (*fn)(void *arg), void *arg, const char *const *readable)
{
    struct guard_result r = {.status = -1};
    int status, signal = 0;
    bool begun = false;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        be_child(fn, arg);
    }
    while (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int stop = WSTOPSIG(status);
        signal = 0;
        if (!begun) {
            ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
            begun = true;
        } else if (stop == (SIGTRAP | 0x80)) {
            if (!look(child, readable, &r)) {
                kill(child, SIGKILL);
            }
        } else {
            signal = stop;
        }
        ptrace(PTRACE_SYSCALL, child, NULL, (void *)(intptr_t)signal);
    }
    if (WIFEXITED(status)) {
        r.status = WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        r.signal = WTERMSIG(status);
    }
    return r;
}
