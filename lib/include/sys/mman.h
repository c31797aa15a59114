/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects by their POSIX names: docs/guide/app.md lists the differences. An object has one
 * size, is always mapped as a whole, and at most once at a time in each process. Any thread. Return
 * -1 (mmap: MAP_FAILED) and errno on failure; EBADF: not a descriptor of shm_open(). Over
 * kernel/mem/object.c; proved by test/board/programs/t_object.c.
 */
#ifndef LIB_SYS_MMAN_H
#define LIB_SYS_MMAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2   /* ENOTSUP */
#define MAP_FIXED 0x10  /* ENOTSUP */
#define MAP_ANONYMOUS 8 /* memory of the process's own; with MAP_PRIVATE or MAP_SHARED, fd -1 */
#define MAP_ANON MAP_ANONYMOUS
#define NOFD (-1) /* QNX's: its file descriptor */
#define MAP_FAILED ((void *)-1)

/*
 * "/name", "name" and "/dev/shmem/name" are the same object. oflag: O_RDONLY or O_RDWR, O_CREAT
 * (needs the ability memory), O_EXCL. Its size is 0 until ftruncate(). ENOENT: it does not exist,
 * and no O_CREAT; EEXIST: it exists, and O_EXCL; EACCES: its mode does not permit the caller;
 * EPERM: creating it without the ability; EAGAIN: the table of objects is full; EMFILE: this
 * process has too many open; EINVAL: O_WRONLY, O_TRUNC, or an empty name; ENAMETOOLONG: more than
 * 47 characters.
 */
int shm_open(const char *name, int oflag, mode_t mode);
/* Removes the name; the memory is freed with its last user. ENOENT; EACCES: the caller is neither
 * the creator nor has all of the creator's abilities. */
int shm_unlink(const char *name);
/* Sets the size in bytes. The first call allocates memory, zeroed; later ones change the size
 * within it (beyond: EBUSY). 0 frees the memory, if the object isn't mapped: else EBUSY. EINVAL:
 * opened read-only, or more than 1 GB; ENOMEM: no contiguous RAM. */
int ftruncate(int fd, off_t size);
/*
 * len: bytes, at most the object's; prot: PROT_READ, with PROT_WRITE. fd may be closed afterwards.
 * offset must be 0 (EINVAL), addr is ignored. EACCES: writing an object opened read-only; ENXIO: it
 * has no memory, or less; EBUSY: the process has it mapped; ENOMEM: no mapping is left.
 */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
/*
 * Maps registers of a device at address `physical`. prot as for mmap(); PROT_NOCACHE has no effect:
 * registers are never cached. addr is ignored. On an MPU a mapping's length is a power of two, and
 * physical a multiple of it. EPERM: without the ability device, or a device that the kernel uses;
 * EINVAL: no length, physical not aligned; ENOTSUP: MAP_FIXED; ENOMEM, EAGAIN: no mapping is left.
 */
#define PROT_NOCACHE 0x800
#define MAP_DEVICE_FAILED ((uintptr_t)-1)
void *mmap_device_memory(void *addr, size_t len, int prot, int flags, uint64_t physical);
int munmap_device_memory(void *addr, size_t len);
/* mmap_device_memory() for in8() and the other functions of <hw/inout.h>. On x86-64, numbers of I/O
 * ports are returned unchanged: ThreadCtl(_NTO_TCTL_IO) gives them to the thread. Returns
 * MAP_DEVICE_FAILED on failure. */
uintptr_t mmap_device_io(size_t len, uint64_t physical);
int munmap_device_io(uintptr_t io, size_t len);

/* Unmaps the whole mapping that begins at addr; len: not 0. EINVAL: there is none. */
int munmap(void *addr, size_t len);
/*
 * Changes the rights of a whole mapping of MAP_ANONYMOUS: PROT_READ, with PROT_WRITE or PROT_EXEC.
 * EINVAL: no mapping begins at addr or len is not its length; ENOTSUP: PROT_NONE; EACCES: a device,
 * an object, or the program's text; EBUSY: the C library's data. A thread that violates the new
 * rights ends the process.
 */
int mprotect(void *addr, size_t len, int prot);

#endif
