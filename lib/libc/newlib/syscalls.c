/* SPDX-License-Identifier: BSD-2-Clause */
/* Newlib's system calls: the names with an underscore that libc.a leaves open. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/syscalls.h"

int _write(int fd, const void *buffer, size_t bytes);
int _read(int fd, void *buffer, size_t bytes);
int _open(const char *path, int flags, int mode);
int _close(int fd);
off_t _lseek(int fd, off_t offset, int whence);
int _fstat(int fd, struct stat *st);
int _stat(const char *path, struct stat *st);
int _isatty(int fd);
void *_sbrk(ptrdiff_t change);
int _kill(int pid, int signo);
int _getpid(void);
void _exit(int status) __attribute__((noreturn));
int _gettimeofday(struct timeval *now, void *zone);
clock_t _times(struct tms *times);
int _unlink(const char *path);
int _link(const char *from, const char *to);

int _write(int fd, const void *buffer, size_t bytes)
{
    return (int)kymo_write(fd, buffer, bytes);
}

int _read(int fd, void *buffer, size_t bytes)
{
    return (int)kymo_read(fd, buffer, bytes);
}

int _open(const char *path, int flags, int mode)
{
    (void)mode;
    return kymo_open(path, flags);
}

int _close(int fd)
{
    return kymo_close(fd);
}

off_t _lseek(int fd, off_t offset, int whence)
{
    return kymo_lseek(fd, offset, whence);
}

int _fstat(int fd, struct stat *st)
{
    return kymo_fstat(fd, st);
}

int _stat(const char *path, struct stat *st)
{
    return kymo_stat(path, st);
}

int _isatty(int fd)
{
    return kymo_isatty(fd);
}

void *_sbrk(ptrdiff_t change)
{
    return kymo_sbrk(change);
}

int _kill(int pid, int signo)
{
    return kymo_kill(pid, signo);
}

int _getpid(void)
{
    return kymo_getpid();
}

void _exit(int status)
{
    ProcExit(status & 0xff);
}

int _gettimeofday(struct timeval *now, void *zone)
{
    (void)zone;
    return kymo_gettimeofday(now);
}

clock_t _times(struct tms *times)
{
    (void)times;
    errno = ENOSYS;
    return (clock_t)-1;
}

int _unlink(const char *path)
{
    (void)path;
    errno = EPERM;
    return -1;
}

int _link(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EPERM;
    return -1;
}
