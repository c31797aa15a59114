/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls under their own names, for a newlib that is built without them (scripts/newlib):
 * ARM's libc.a has them. Each calls the function with the underscore (syscalls.c).
 */
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#define PLAIN(type, name, parameters, arguments) \
    type _##name parameters; /* syscalls.c */ \
    type name parameters \
    { \
        return _##name arguments; \
    }

int _write(int fd, const void *buffer, size_t bytes);
int _read(int fd, void *buffer, size_t bytes);
void *_sbrk(ptrdiff_t change);
int _open(const char *path, int flags, int mode);
int _gettimeofday(struct timeval *now, void *zone);

PLAIN(int, close, (int fd), (fd))
PLAIN(off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence))
PLAIN(int, fstat, (int fd, struct stat *st), (fd, st))
PLAIN(int, stat, (const char *restrict path, struct stat *restrict st), (path, st))
PLAIN(int, isatty, (int fd), (fd))
PLAIN(int, kill, (pid_t pid, int signo), (pid, signo))
PLAIN(pid_t, getpid, (void), ())
PLAIN(clock_t, times, (struct tms * times), (times))
PLAIN(int, unlink, (const char *path), (path))
PLAIN(int, link, (const char *from, const char *to), (from, to))

_READ_WRITE_RETURN_TYPE write(int fd, const void *buffer, size_t bytes)
{
    return _write(fd, buffer, bytes);
}

_READ_WRITE_RETURN_TYPE read(int fd, void *buffer, size_t bytes)
{
    return _read(fd, buffer, bytes);
}

int open(const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return _open(path, flags, mode);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    return _gettimeofday(now, zone);
}

void *sbrk(ptrdiff_t change)
{
    return _sbrk(change);
}
