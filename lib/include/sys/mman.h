/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects by their POSIX names: docs/app.md says what differs. An object has one size, all
 * of it is mapped at once, and a process has it mapped once at a time. Any thread. -1 (mmap:
 * MAP_FAILED) and errno on failure; EBADF: not a descriptor of shm_open(). Over
 * kernel/mem/object.c; proved by test/boot/programs/t_object.c.
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
 * (needs the ability memory), O_EXCL. Its size is 0 until ftruncate(). ENOENT: there is none, and
 * no O_CREAT; EEXIST: there is, and O_EXCL; EACCES: its mode is not for the caller; EPERM: making
 * one without the ability; EAGAIN: as many as there may be; EMFILE: this process has as many open;
 * EINVAL: O_WRONLY, O_TRUNC, or an empty name;
 * ENAMETOOLONG: more than 47 characters.
 */
int shm_open(const char *name, int oflag, mode_t mode);
/* The name goes, the memory with its last user. ENOENT; EACCES: neither its maker, nor one who has
 * all that the maker may. */
int shm_unlink(const char *name);
/* Bytes. The first gives it memory, zeroed; later ones move its size within that (beyond: EBUSY). 0
 * takes the memory back, if nobody has it mapped: else EBUSY. EINVAL: opened to read, or more than
 * 1 GB; ENOMEM: no contiguous piece of RAM. */
int ftruncate(int fd, off_t size);
/*
 * len: bytes, at most the object's; prot: PROT_READ, with PROT_WRITE. fd may be closed afterwards.
 * offset must be 0 (EINVAL), addr is not looked at. EACCES: to write, and opened to read; ENXIO: it
 * has no memory, or less; EBUSY: the process has it mapped; ENOMEM: no mapping is left.
 */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
/*
 * Registers of a device: `physical` is where they lie. prot as for mmap(), PROT_NOCACHE changes
 * nothing: they are never cached. addr is not looked at. On an MPU a mapping's length is a power of
 * two, and physical a multiple of it. EPERM: without the ability device, or a device that is the
 * kernel's; EINVAL: no length, physical not aligned; ENOTSUP: MAP_FIXED; ENOMEM, EAGAIN: no mapping
 * is left.
 */
#define PROT_NOCACHE 0x800
#define MAP_DEVICE_FAILED ((uintptr_t)-1)
void *mmap_device_memory(void *addr, size_t len, int prot, int flags, uint64_t physical);
int munmap_device_memory(void *addr, size_t len);
/* The same for in8() and its kin (<hw/inout.h>): ports are memory here. MAP_DEVICE_FAILED. */
uintptr_t mmap_device_io(size_t len, uint64_t physical);
int munmap_device_io(uintptr_t io, size_t len);

/* Ends the whole mapping that begins at addr; len: not 0. EINVAL: there is none. */
int munmap(void *addr, size_t len);
/*
 * The rights of a whole mapping of MAP_ANONYMOUS: PROT_READ, with PROT_WRITE or PROT_EXEC. EINVAL:
 * no mapping begins at addr or len is not its length; ENOTSUP: PROT_NONE; EACCES: a device, an
 * object, or the program's text; EBUSY: the C library's data. A thread that does what it may not
 * any more ends the process.
 */
int mprotect(void *addr, size_t len, int prot);

#endif
