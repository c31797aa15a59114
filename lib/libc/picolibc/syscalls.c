/* SPDX-License-Identifier: BSD-2-Clause */
/* picolibc's system calls: the POSIX names themselves. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/include/signal.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/syscalls.h"

ssize_t write(int fd, const void *buffer, size_t bytes)
{
    return kymo_write(fd, buffer, bytes);
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
    return kymo_read(fd, buffer, bytes);
}

int open(const char *path, int flags, ...)
{
    return kymo_open(path, flags);
}

int close(int fd)
{
    return kymo_close(fd);
}

off_t lseek(int fd, off_t offset, int whence)
{
    return kymo_lseek(fd, offset, whence);
}

int fstat(int fd, struct stat *st)
{
    return kymo_fstat(fd, st);
}

int stat(const char *restrict path, struct stat *restrict st)
{
    return kymo_stat(path, st);
}

int isatty(int fd)
{
    return kymo_isatty(fd);
}

void *sbrk(ptrdiff_t change)
{
    return kymo_sbrk(change);
}

int kill(pid_t pid, int signo)
{
    return kymo_kill(pid, signo);
}

int raise(int signo)
{
    return kymo_kill(kymo_getpid(), signo);
}

pid_t getpid(void)
{
    return kymo_getpid();
}

void _exit(int status)
{
    ProcExit(status & 0xff);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    return kymo_gettimeofday(now);
}

int unlink(const char *path)
{
    (void)path;
    errno = EPERM;
    return -1;
}

/* libgcc calls this for the CPU's features to choose atomics: Kymo's programs are built for one
 * CPU. */
unsigned long __getauxval(unsigned long type);
unsigned long __getauxval(unsigned long type)
{
    (void)type;
    return 0;
}
