/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical memory: first fit over a bitmap of granules (bit set: in use). Kernel lock held, or
 * boot. The bitmap lies in the RAM itself, so the RAM's size is not a build-time setting; the
 * granule is 256 bytes up to 16 MB and grows to 4 KB, so the bitmap is small on every board.
 * Returns 0 on failure. Tested by test/unit_kernel/memory_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/base/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/cpu.h"

#define GRANULES_WANTED 65536u
#define GRANULE_MAX 4096u
#define CLEAR_PIECE 16384u /* bytes between two preemption points */

static struct {
    uint32_t *used;   /* [k] bitmap */
    paddr_t start;    /* [I] address of granule 0, a multiple of the granule */
    size_t granules;  /* [I] */
    unsigned shift;   /* [I] log2 of the granule */
    size_t available; /* [k] granules */
} phys;

static inline bool granule_used(size_t i)
{
    return phys.used[i / 32] >> (i % 32) & 1;
}

/* For assertions: n granules from the first on are all used, or all free. */
static inline bool granules_are(size_t first, size_t n, bool used)
{
    for (size_t i = first; i < first + n; i++) {
        if (granule_used(i) != used) {
            return false;
        }
    }
    return true;
}

static void granules_mark(size_t first, size_t n, bool used)
{
    kernel_assert(first + n <= phys.granules && granules_are(first, n, !used));
    for (size_t i = first; i < first + n; i++) {
        uint32_t bit = 1u << (i % 32);
        phys.used[i / 32] = used ? phys.used[i / 32] | bit : phys.used[i / 32] & ~bit;
    }
    phys.available = used ? phys.available - n : phys.available + n;
}

/* Returns the index after the last used granule of [first, first + n), or first if all are free. */
static size_t granules_last_used(size_t first, size_t n)
{
    for (size_t i = first + n; i > first;) {
        if (i % 32 == 0 && i - first >= 32 && phys.used[i / 32 - 1] == 0) {
            i -= 32;
        } else if (granule_used(i - 1)) {
            return i;
        } else {
            i--;
        }
    }
    return first;
}

void phys_init(paddr_t start, size_t len)
{
    paddr_t end = start + len;

    phys.shift = 8;
    while ((len >> phys.shift) > GRANULES_WANTED && (1u << phys.shift) < GRANULE_MAX) {
        phys.shift++;
    }
    paddr_t mask = ((paddr_t)1 << phys.shift) - 1;
    phys.start = (start + mask) & ~mask;
    phys.granules = ((end & ~mask) - phys.start) >> phys.shift;

    size_t bitmap = (phys.granules + 31) / 32 * sizeof(uint32_t);
    phys.used = arch_phys_to_virt(phys.start);
    memset(phys.used, 0, bitmap);
    phys.available = phys.granules;
    granules_mark(0, (bitmap + mask) >> phys.shift, true);
}

/* Returns the first address at or after granule i with this alignment, as a granule. */
static size_t granule_aligned(size_t i, size_t align)
{
    paddr_t pa = phys.start + ((paddr_t)i << phys.shift);

    pa = (pa + align - 1) & ~((paddr_t)align - 1);
    return (pa - phys.start) >> phys.shift;
}

paddr_t phys_alloc_raw(size_t len, size_t align)
{
    size_t granule = (size_t)1 << phys.shift;

    kernel_assert(kernel_locked());
    kernel_assert((align & (align - 1)) == 0);
    if (len == 0 || len > phys.granules << phys.shift) {
        return 0;
    }
    if (align < granule) {
        align = granule;
    }
    size_t n = (len + granule - 1) >> phys.shift;
    size_t i = granule_aligned(0, align);
    while (i <= phys.granules && n <= phys.granules - i) {
        size_t next = granules_last_used(i, n);
        if (next == i) {
            granules_mark(i, n, true);
            return phys.start + ((paddr_t)i << phys.shift);
        }
        i = granule_aligned(next, align);
    }
    return 0;
}

void phys_clear(paddr_t pa, size_t len)
{
    uint8_t *p = arch_phys_to_virt(pa);

    while (len > CLEAR_PIECE) {
        memset(p, 0, CLEAR_PIECE);
        p += CLEAR_PIECE;
        len -= CLEAR_PIECE;
        arch_irq_window();
    }
    memset(p, 0, len);
}

paddr_t phys_alloc(size_t len, size_t align)
{
    paddr_t pa = phys_alloc_raw(len, align);

    if (pa) {
        phys_clear(pa, len);
    }
    return pa;
}

void phys_free(paddr_t pa, size_t len)
{
    size_t granule = (size_t)1 << phys.shift;

    kernel_assert(kernel_locked());
    kernel_assert(len > 0 && pa >= phys.start && ((pa - phys.start) & (granule - 1)) == 0);
    granules_mark((pa - phys.start) >> phys.shift, (len + granule - 1) >> phys.shift, false);
}

size_t phys_available(void)
{
    return phys.available << phys.shift;
}
