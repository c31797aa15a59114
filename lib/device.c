/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/mman.h>: a device's registers, by MemMap(). With an MMU the first page's part before
 * `physical` is also mapped; munmap_device_memory() finds the mapping by its page. Tested by
 * test/board/programs/t_port.c; I/O ports by test/board/x86_64/t_x86_64.c.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "abi/sys/kymo.h"
#include "lib/machine.h"

#define PAGE (sizeof(void *) == 8 ? 4096u : 1u) /* an MPU has none */

void *mmap_device_memory(void *addr, size_t len, int prot, int flags, uint64_t physical)
{
    uint64_t offset = physical % PAGE;
    struct kymo_map map = {
        .phys = physical - offset,
        .len = len + offset,
        .flags = KYMO_MAP_DEVICE | ((uint32_t)prot & ~(uint32_t)PROT_NOCACHE),
    };

    (void)addr;
    if (len == 0 || (flags & MAP_FIXED) || (prot & ~(PROT_READ | PROT_WRITE | PROT_NOCACHE))) {
        errno = flags & MAP_FIXED ? ENOTSUP : EINVAL;
        return MAP_FAILED;
    }
    return MemMap(&map) < 0 ? MAP_FAILED : (void *)(uintptr_t)(map.vaddr + offset);
}

int munmap_device_memory(void *addr, size_t len)
{
    if (len == 0) {
        errno = EINVAL;
        return -1;
    }
    return MemUnmap((void *)((uintptr_t)addr - (uintptr_t)addr % PAGE), 0);
}

static bool is_ports(size_t len, uint64_t first)
{
    return len != 0 && len <= KYMO_IO_PORTS && first <= KYMO_IO_PORTS - len;
}

/* Ports need no mapping: ThreadCtl(_NTO_TCTL_IO) gives a thread access. */
uintptr_t mmap_device_io(size_t len, uint64_t physical)
{
    if (is_ports(len, physical)) {
        return (uintptr_t)physical;
    }
    return (uintptr_t)mmap_device_memory(NULL, len, PROT_READ | PROT_WRITE, 0, physical);
}

int munmap_device_io(uintptr_t io, size_t len)
{
    return is_ports(len, io) ? 0 : munmap_device_memory((void *)io, len);
}
