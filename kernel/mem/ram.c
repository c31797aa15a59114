/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RAM of processes and of memory objects: physical memory that is charged to an account. Kernel
 * lock held. Refuses what the account or one around it has no room for, and what would leave less
 * free than is reserved to an account that may not take that. Proved by test/unit_kernel
 * (memory_test, object_test) and test/boot/programs/t_quota.c.
 *
 * Not charged: page tables (at most two pages a mapping), the event log's and D's buffers, which
 * take an ability.
 */
#include "kernel/arch/aspace.h"
#include "kernel/base/cpu.h"
#include "kernel/base/quota.h"
#include "kernel/mem/mem.h"

paddr_t ram_alloc(struct quota *quota, size_t len, size_t align)
{
    size_t reserved = quota->reserve ? 0 : quota_reserved(KYMO_LIMIT_RAM);
    size_t available = phys_available();

    kernel_assert(kernel_locked());
    if (available < reserved || len > available - reserved ||
        !quota_charge(quota, KYMO_LIMIT_RAM, len)) {
        return 0;
    }
    paddr_t pa = phys_alloc_raw(len, align);
    if (!pa) {
        quota_release(quota, KYMO_LIMIT_RAM, len);
    }
    return pa;
}

void ram_free(struct quota *quota, paddr_t pa, size_t len)
{
    quota_release(quota, KYMO_LIMIT_RAM, len);
    phys_free(pa, len);
}
