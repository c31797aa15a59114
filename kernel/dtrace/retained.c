/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retained memory for D (abi/retain.h): consumers whose buffers survive a restart of the kernel.
 * Their blocks are allocated downwards from the window's end, beyond the event log's ring; a
 * directory at a fixed offset lists the consumers.
 *
 * Kernel lock held, or boot. Errors: -EBUSY while an earlier boot's data is in the window. Tested
 * by test/board/dretain.py.
 */
#include "abi/errno.h"
#include "abi/retain.h"
#include "kernel/arch/aspace.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/mem/mem.h"
#include "kernel/observe/observe.h"
#include "kernel/base/cpu.h"
#include "trace/crc32c.h"
#include "trace/dtrace/port.h"

#define RETAINED_ALIGN 64u
#define BLOCKS (KYMO_RETAIN_D_MOST * (2 * CONFIG_CPUS + 4))

static struct {
    struct {
        uint32_t at, bytes; /* [k] offset in the window; bytes 0: none */
    } block[BLOCKS];
    uint32_t ids;                    /* [k] ids assigned so far */
    struct kymo_retain_d *directory; /* [k] KYMO_RETAIN_D_MOST entries; NULL: not this boot's */
} retained;

/* ---- blocks ------------------------------------------------------------------------ */

uint32_t dtrace_retained_ceiling(void)
{
    uint32_t ceiling = CONFIG_RETAIN_BYTES;

    for (unsigned i = 0; i < BLOCKS; i++) {
        if (retained.block[i].bytes && retained.block[i].at < ceiling) {
            ceiling = retained.block[i].at;
        }
    }
    return ceiling;
}

/* Returns the block that overlaps [at, at + bytes), or -1. */
static int in_the_way(uint32_t at, uint32_t bytes)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint32_t from = retained.block[i].at, n = retained.block[i].bytes;
        if (n && from < at + bytes && at < from + n) {
            return (int)i;
        }
    }
    return -1;
}

/* Returns the highest free offset for a block, or 0. Each iteration continues below another
 * block. */
static uint32_t place_for(uint32_t bytes, uint32_t floor)
{
    uint32_t end = CONFIG_RETAIN_BYTES;

    for (unsigned turns = 0; turns <= BLOCKS && bytes <= end && end - bytes >= floor; turns++) {
        int other = in_the_way(end - bytes, bytes);
        if (other < 0) {
            return end - bytes;
        }
        end = retained.block[other].at;
    }
    return 0;
}

static int free_block(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (!retained.block[i].bytes) {
            return (int)i;
        }
    }
    return -1;
}

int dtrace_port_retaining(void)
{
    uint8_t *window;
    uint32_t floor, boots;

    return retain_window(&window, &floor, &boots);
}

void *dtrace_port_retain(size_t bytes)
{
    kernel_assert(kernel_locked());
    uint8_t *window;
    uint32_t floor, boots;
    int n = free_block();

    if (retain_window(&window, &floor, &boots) || n < 0 || bytes == 0 ||
        bytes > CONFIG_RETAIN_BYTES) {
        return NULL;
    }
    uint32_t rounded = ((uint32_t)bytes + RETAINED_ALIGN - 1) & ~(RETAINED_ALIGN - 1);
    uint32_t at = place_for(rounded, floor);
    if (!at) {
        return NULL;
    }
    retained.block[n].at = at;
    retained.block[n].bytes = rounded;
    phys_clear(arch_virt_to_phys(window + at), rounded);
    return window + at;
}

bool dtrace_retained_free(void *block)
{
    uint32_t at = dtrace_port_retained_at(block);

    for (unsigned i = 0; i < BLOCKS && at < CONFIG_RETAIN_BYTES; i++) {
        if (retained.block[i].bytes && retained.block[i].at == at) {
            retained.block[i].bytes = 0;
            return true;
        }
    }
    return false;
}

uint32_t dtrace_port_retained_at(const void *block)
{
    uint8_t *window;
    uint32_t floor, boots;
    uintptr_t at;

    retain_window(&window, &floor, &boots);
    at = (uintptr_t)block - (uintptr_t)window;
    return at < CONFIG_RETAIN_BYTES ? (uint32_t)at : UINT32_MAX;
}

/* ---- the directory ----------------------------------------------------------------- */

static uint32_t crc_of(const struct kymo_retain_d *d)
{
    return trace_crc(&d->boots, sizeof(*d) - offsetof(struct kymo_retain_d, boots));
}

static void retained_forget(struct kymo_retain_d *d)
{
    *(volatile uint32_t *)&d->magic = 0;
    arch_cache_clean(d, sizeof(*d));
}

/* A directory entry that is neither free nor right is a program, too: its reader says that it is
 * damaged. */
bool dtrace_retained_found(const struct kymo_retain_d *directory, uint32_t boots)
{
    for (unsigned i = 0; i < KYMO_RETAIN_D_MOST; i++) {
        const struct kymo_retain_d *d = &directory[i];
        if (d->magic != 0 && (d->boots == boots || d->crc != crc_of(d))) {
            return true;
        }
    }
    return false;
}

void dtrace_retained_begin(struct kymo_retain_d *directory)
{
    retained.directory = directory;
    for (unsigned i = 0; i < KYMO_RETAIN_D_MOST; i++) {
        retained_forget(&directory[i]);
    }
}

/* Returns the consumer's directory entry, or a free one, or NULL. */
static struct kymo_retain_d *retained_place_of(const struct kymo_retain_d *is)
{
    struct kymo_retain_d *place = NULL;

    for (unsigned i = 0; i < KYMO_RETAIN_D_MOST; i++) {
        struct kymo_retain_d *d = &retained.directory[i];
        if (is->id && d->magic == KYMO_RETAIN_MAGIC && d->id == is->id) {
            return d;
        }
        place = !place && d->magic != KYMO_RETAIN_MAGIC ? d : place;
    }
    return is->id ? NULL : place;
}

/* A reset during this call leaves no entry, or a complete one. */
int dtrace_port_retained_put(struct kymo_retain_d *is)
{
    kernel_assert(kernel_locked());
    uint8_t *window;
    uint32_t floor;
    struct kymo_retain_d now = *is;
    int error = retain_window(&window, &floor, &now.boots);
    struct kymo_retain_d *to = error ? NULL : retained_place_of(is);

    if (!to) {
        return error ? error : -ENOSPC;
    }
    /* The log's handles never have such a number: trace/dtrace/control.c. */
    now.id = is->id ? is->id : ++retained.ids << 8 | 0xff;
    now.magic = 0;
    now.tables_crc =
        retain_sum(window + is->tables, (is->records + is->aggregations) * sizeof(uint32_t));
    now.notes_crc = retain_sum(window + is->notes, is->notes_bytes);
    now.crc = crc_of(&now);
    retained_forget(to);
    *to = now;
    arch_cache_clean(to, sizeof(*to));
    *(volatile uint32_t *)&to->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(to, sizeof(*to));
    is->id = now.id;
    return 0;
}

void dtrace_port_retained_drop(const struct kymo_retain_d *is)
{
    uint8_t *window;
    uint32_t floor, boots;

    if (is->id && retain_window(&window, &floor, &boots) == 0) {
        struct kymo_retain_d *d = retained_place_of(is);
        if (d) {
            retained_forget(d);
        }
    }
}
