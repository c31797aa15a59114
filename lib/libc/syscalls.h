/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base of the C libraries' ports: POSIX calls under names of their own, because newlib requires
 * them as _write() and so on and picolibc as write(). Return -1 and errno on failure. Any thread.
 */
#ifndef LIB_LIBC_SYSCALLS_H
#define LIB_LIBC_SYSCALLS_H

#include <stddef.h>
#include <sys/types.h>

struct stat;

ssize_t kymo_write(int fd, const void *buffer, size_t bytes);
ssize_t kymo_read(int fd, void *buffer, size_t bytes);
int kymo_open(const char *path, int flags);
int kymo_close(int fd);
off_t kymo_lseek(int fd, off_t offset, int whence);
int kymo_fstat(int fd, struct stat *st);
int kymo_stat(const char *path, struct stat *st);
int kymo_isatty(int fd);
void *kymo_sbrk(ptrdiff_t change);
int kymo_kill(int pid, int signo);
int kymo_getpid(void);

/* lib/io.c: returns whether kymo_open() or crt0 made fd. set: -1 only queries. */
int kymo_fd_known(int fd, int set);

/* Descriptors from here on are memory objects: lib/shm.c. */
#define KYMO_OBJECT_FD 0x200

#endif
