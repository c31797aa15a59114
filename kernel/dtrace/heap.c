/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's memory: whole granules from the system, and small blocks within chunks of one
 * page. A chunk is freed with its last block, so that a destroyed consumer leaves no memory in use.
 *
 * D holds at most as much as stays free, so that memory is left for programs, and for the process
 * that reads the buffers. A larger request is refused as if there were no more memory; so is a
 * request for which the account of a consumer's creator has no room (dtrace_heap_pay()), or which
 * would take memory that is reserved for others. Blocks of 1 KB and less are charged as such, not
 * as the pages that they are in. Probes and their names are permanent and charged to no account:
 * the number of probes is bounded.
 *
 * Kernel lock held. Tested by test/board's suite d, and by test/dtrace/sizes.py with any sizes.
 */
#include "kernel/arch/aspace.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/mem/mem.h"
#include "kernel/base/cpu.h"
#include "trace/dtrace/port.h"

#define CHUNK CONFIG_D_CHUNK
#define SMALL_MOST (CHUNK / 4) /* larger blocks are whole granules */
#define SMALL_LEAST 16u
#define CLASSES 7 /* powers of two from SMALL_LEAST to 1 KB, the largest possible SMALL_MOST */
_Static_assert(SMALL_MOST <= SMALL_LEAST << (CLASSES - 1), "a class for each size");
#define HEAP_ALIGN 16u

/* Header of a chunk, which is aligned to its size. */
struct chunk {
    struct list link;   /* [k] chunks of this class with a free block */
    struct block *free; /* [k] */
    unsigned used;      /* [k] number of blocks in use */
} __attribute__((aligned(16)));
struct block {
    struct block *next;
};

static struct list classes[CLASSES]; /* [k] {0}: not used yet */
static size_t held;                  /* [k] bytes taken from the system */

struct dtrace_heap_payer dtrace_heap_payer;

void dtrace_heap_pay(struct quota *quota)
{
    dtrace_heap_payer.quota = quota;
    dtrace_heap_payer.paid = 0;
}

size_t dtrace_heap_paid(void)
{
    dtrace_heap_payer.quota = NULL;
    return dtrace_heap_payer.paid;
}

/* Charges the payer, if it pays; memory that is reserved for others stays free in any case. */
static bool heap_charge(size_t bytes, bool pays)
{
    struct quota *payer = dtrace_heap_payer.quota;
    size_t reserved = payer && !payer->reserve ? quota_reserved(KYMO_LIMIT_TRACE) : 0;

    if (phys_available() < reserved || bytes > phys_available() - reserved) {
        return false;
    }
    if (!payer || !pays) {
        return true;
    }
    if (!quota_charge(payer, KYMO_LIMIT_TRACE, bytes)) {
        return false;
    }
    dtrace_heap_payer.paid += bytes;
    return true;
}

/* The memory freed now may have been allocated before the payer was set. */
static void heap_refund(size_t bytes)
{
    if (dtrace_heap_payer.quota && dtrace_heap_payer.paid >= bytes) {
        quota_release(dtrace_heap_payer.quota, KYMO_LIMIT_TRACE, bytes);
        dtrace_heap_payer.paid -= bytes;
    }
}

size_t dtrace_heap_room(void)
{
    size_t available = phys_available();

    return available > held ? (available - held) / 2 : 0;
}

static void *heap_take(size_t bytes, size_t align)
{
    paddr_t pa = bytes <= dtrace_heap_room() ? phys_alloc(bytes, align) : 0;

    held += pa ? bytes : 0;
    return pa ? arch_phys_to_virt(pa) : NULL;
}

static void heap_give(void *at, size_t bytes)
{
    kernel_assert(held >= bytes);
    held -= bytes;
    phys_free(arch_virt_to_phys(at), bytes);
}

uint32_t dtrace_heap_held(void)
{
    return held < UINT32_MAX ? (uint32_t)held : UINT32_MAX;
}

static unsigned class_of(size_t bytes)
{
    unsigned class = 0;

    while ((SMALL_LEAST << class) < bytes) {
        class ++;
    }
    return class;
}

static struct chunk *chunk_make(unsigned class)
{
    struct chunk *chunk = heap_take(CHUNK, CHUNK);
    size_t size = SMALL_LEAST << class;

    if (!chunk) {
        return NULL;
    }
    for (size_t at = CHUNK - size; at >= sizeof(*chunk); at -= size) {
        struct block *block = (struct block *)((char *)chunk + at);
        block->next = chunk->free;
        chunk->free = block;
    }
    list_push_back(&classes[class], &chunk->link);
    return chunk;
}

static void *small_alloc(unsigned class)
{
    kernel_assert(kernel_locked());
    struct list *list = &classes[class];

    if (!list->next) {
        list_init(list);
    }
    struct chunk *chunk =
        list_empty(list) ? chunk_make(class) : list_entry(list->next, struct chunk, link);
    if (!chunk) {
        return NULL;
    }
    kernel_assert(chunk->free);
    struct block *block = chunk->free;
    chunk->free = block->next;
    chunk->used++;
    if (!chunk->free) {
        list_remove(&chunk->link);
    }
    memset(block, 0, SMALL_LEAST << class);
    kernel_window();
    return block;
}

static void small_free(void *at, unsigned class)
{
    struct chunk *chunk = (struct chunk *)((uintptr_t)at & ~(uintptr_t)(CHUNK - 1));
    struct block *block = at;

    kernel_assert(kernel_locked() && chunk->used > 0);
    if (!chunk->free) {
        list_push_back(&classes[class], &chunk->link);
    }
    block->next = chunk->free;
    chunk->free = block;
    if (--chunk->used == 0) {
        list_remove(&chunk->link);
        heap_give(chunk, CHUNK);
    }
}

/* Returns the size at which a block of this many bytes is counted. */
static size_t heap_size(size_t bytes)
{
    return bytes <= SMALL_MOST ? SMALL_LEAST << class_of(bytes) : bytes;
}

static void *heap_get(size_t bytes, bool pays)
{
    size_t size = heap_size(bytes);

    if (!heap_charge(size, pays)) {
        return NULL;
    }
    void *block = bytes <= SMALL_MOST ? small_alloc(class_of(bytes)) : heap_take(bytes, HEAP_ALIGN);
    if (!block && pays) {
        heap_refund(size);
    }
    return block;
}

void *dtrace_port_alloc(size_t bytes)
{
    return heap_get(bytes, true);
}

void *dtrace_port_keep(size_t bytes)
{
    return heap_get(bytes, false);
}

void dtrace_port_free(void *block, size_t bytes)
{
    if (!block) {
        return;
    }
    if (dtrace_retained_free(block)) {
        return;
    }
    heap_refund(heap_size(bytes));
    if (bytes <= SMALL_MOST) {
        small_free(block, class_of(bytes));
    } else {
        heap_give(block, bytes);
    }
}

enum { NAMES_BLOCK = 256 }; /* bytes of memory for names at a time */
static struct {
    char *at;    /* [k] position for the next name */
    size_t left; /* [k] bytes left there */
} names_room;

/* Probes are permanent, and so are their names' copies. Many names share a block. */
COLD const char *dtrace_name_keep(const char *name)
{
    size_t bytes = strlen(name) + 1;

    if (!dtrace_probe_room()) {
        return NULL;
    }
    if (bytes > names_room.left) { /* a shorter name may still fit if this allocation fails */
        char *block = dtrace_port_keep(NAMES_BLOCK);
        if (!block) {
            return NULL;
        }
        names_room.at = block;
        names_room.left = NAMES_BLOCK;
    }
    char *copy = memcpy(names_room.at, name, bytes);
    names_room.at += bytes;
    names_room.left -= bytes;
    return copy;
}
