/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects by their POSIX names: docs/app.md says what differs. An object has one size, all
 * of it is mapped at once, and a process has it mapped once at a time. Any thread. -1 (mmap:
 * MAP_FAILED) and errno on failure; which, kernel/object_calls.c and kernel/object.c say.
 */
#ifndef LIB_SYS_MMAN_H
#define LIB_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2   /* ENOTSUP */
#define MAP_FIXED 0x10  /* ENOTSUP */
#define MAP_ANONYMOUS 8 /* memory of the process's own; with MAP_PRIVATE or MAP_SHARED, fd -1 */
#define MAP_FAILED ((void *)-1)

/* "/name", "name" and "/dev/shmem/name" are the same object. oflag: O_RDONLY or O_RDWR, O_CREAT
 * (needs the ability memory), O_EXCL. Its size is 0 until ftruncate(). */
int shm_open(const char *name, int oflag, mode_t mode);
int shm_unlink(const char *name);
/* For fd of shm_open() only. size 0 takes the memory back if nobody has it mapped. */
int ftruncate(int fd, off_t size);
/* fd: may be closed afterwards. offset must be 0, addr is not looked at. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
/* Ends the whole mapping that begins at addr. */
int munmap(void *addr, size_t len);

#endif
