/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The areas of this board's window of retained memory (abi/retain.h): consecutive, of the sizes
 * that board.mk sets, otherwise of those of a large window. Included by the kernel only: readers
 * use the window's header.
 */
#ifndef KERNEL_OBSERVE_RETAIN_LAYOUT_H
#define KERNEL_OBSERVE_RETAIN_LAYOUT_H

#include "abi/retain.h"

#ifndef CONFIG_RETAIN_LIVE
#define CONFIG_RETAIN_HEADER_BYTES 0x1000u
#define CONFIG_RETAIN_PANIC_BYTES 0x800u
#define CONFIG_RETAIN_BOOTS_BYTES 0x800u
#define CONFIG_RETAIN_FROZEN_BYTES 0x3000u
#define CONFIG_RETAIN_D_BYTES 0x3000u /* D's directory, not its buffers */
#define CONFIG_RETAIN_LIVE_BYTES 0x8000u
#define CONFIG_RETAIN_PAGE_BYTES 0x10000u
#define CONFIG_RETAIN_NOTES_BYTES 0x10000u
/* Each slot of the kernel's tables of processes and threads has an entry of its own, and spare
 * entries keep those that have ended; at least the number that small tables have always had. */
#define RETAIN_NAMES_WANTED ((unsigned)CONFIG_PROCESSES + (unsigned)CONFIG_THREADS + 76u)
#define CONFIG_RETAIN_NAMES_BYTES ((RETAIN_NAMES_WANTED > 160u ? RETAIN_NAMES_WANTED : 160u) * 96u)
#define CONFIG_RETAIN_LIVE 0x8000u /* offset, as in ldscripts/kernel.ld */
#endif

enum retain_layout {
    RETAIN_PANIC = CONFIG_RETAIN_HEADER_BYTES,
    RETAIN_BOOTS = RETAIN_PANIC + CONFIG_RETAIN_PANIC_BYTES,
    RETAIN_FROZEN = RETAIN_BOOTS + CONFIG_RETAIN_BOOTS_BYTES,
    RETAIN_D = RETAIN_FROZEN + CONFIG_RETAIN_FROZEN_BYTES,
    RETAIN_LIVE = RETAIN_D + CONFIG_RETAIN_D_BYTES,
    RETAIN_PAGE = RETAIN_LIVE + CONFIG_RETAIN_LIVE_BYTES,
    RETAIN_NOTES = RETAIN_PAGE + CONFIG_RETAIN_PAGE_BYTES,
    RETAIN_NAMES = RETAIN_NOTES + CONFIG_RETAIN_NOTES_BYTES,
    RETAIN_FREE = RETAIN_NAMES + CONFIG_RETAIN_NAMES_BYTES,
};

/* Bytes used by the copied cursors and losses of this kernel's CPUs. */
#define RETAIN_FROZEN_USED \
    ((uint32_t)(offsetof(struct kymo_retain_frozen, cpu) + \
                CONFIG_CPUS * sizeof(struct kymo_retain_cpu)))
/* Bytes used by D's directory, and by the names. */
#define RETAIN_D_USED \
    (CONFIG_RETAIN_D_BYTES ? KYMO_RETAIN_D_MOST * sizeof(struct kymo_retain_d) : 0)
#define RETAIN_NAMES_MOST (CONFIG_RETAIN_NAMES_BYTES / sizeof(struct kymo_retain_name))
#define RETAIN_NAMES_USED (RETAIN_NAMES_MOST * sizeof(struct kymo_retain_name))

#endif
