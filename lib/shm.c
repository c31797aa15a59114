/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects (sys/mman.h) by ObjectOpen() and related kernel calls. A descriptor of one is the
 * kernel's id + KYMO_OBJECT_FD, above all descriptors that are connections; close() and fstat()
 * handle it (lib/open.c). Any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/sys/kymo.h"
#include "lib/libc/syscalls.h"

static int shm_fail_invalid(int error)
{
    errno = error;
    return -1;
}

static const char *plain_name(const char *name)
{
    static const char directory[] = "/dev/shmem/";

    if (strncmp(name, directory, sizeof(directory) - 1) == 0) {
        return name + sizeof(directory) - 1;
    }
    return *name == '/' ? name + 1 : name;
}

int shm_open(const char *name, int oflag, mode_t mode)
{
    unsigned flags = 0;

    if ((oflag & O_ACCMODE) == O_WRONLY || (oflag & O_TRUNC)) {
        return shm_fail_invalid(EINVAL);
    }
    flags |= (oflag & O_ACCMODE) == O_RDWR ? KYMO_OBJECT_WRITE : 0;
    flags |= oflag & O_CREAT ? KYMO_OBJECT_CREATE : 0;
    flags |= oflag & O_EXCL ? KYMO_OBJECT_EXCLUSIVE : 0;
    int id = ObjectOpen(plain_name(name), flags, (unsigned)mode & 0666);
    return id < 0 ? -1 : id + KYMO_OBJECT_FD;
}

int shm_unlink(const char *name)
{
    return ObjectUnlink(plain_name(name));
}

int ftruncate(int fd, off_t size)
{
    if (fd < KYMO_OBJECT_FD) {
        return shm_fail_invalid(EBADF);
    }
    if (size < 0 || (off_t)(size_t)size != size) {
        return shm_fail_invalid(EINVAL);
    }
    return ObjectSize(fd - KYMO_OBJECT_FD, (size_t)size);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    struct kymo_map map = {.len = len, .flags = (uint32_t)prot};

    (void)addr;
    if ((flags & MAP_FIXED) || (!(flags & MAP_ANONYMOUS) && !(flags & MAP_SHARED))) {
        shm_fail_invalid(ENOTSUP);
        return MAP_FAILED;
    }
    if (len == 0 || offset != 0) {
        shm_fail_invalid(EINVAL);
        return MAP_FAILED;
    }
    if (!(flags & MAP_ANONYMOUS)) {
        map.flags |= KYMO_MAP_OBJECT;
        map.phys = fd < KYMO_OBJECT_FD ? UINT32_MAX : (uint32_t)(fd - KYMO_OBJECT_FD);
    }
    return MemMap(&map) < 0 ? MAP_FAILED : (void *)(uintptr_t)map.vaddr;
}

int mprotect(void *addr, size_t len, int prot)
{
    return prot == PROT_NONE ? shm_fail_invalid(ENOTSUP) : MemProtect(addr, len, (unsigned)prot);
}

int munmap(void *addr, size_t len)
{
    return len == 0 ? shm_fail_invalid(EINVAL) : MemUnmap(addr, 0);
}
