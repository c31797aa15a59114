/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picolibc: per-thread data (errno and the rest) is ELF thread-local storage. Each thread has one
 * block: tcb, padding, thread pointer, then .tdata copied and .tbss cleared.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arch/tls.h"
#include "lib/startup.h"
#include "lib/thread.h"

_Thread_local struct kymo_tcb *kymo_self_tcb;
static struct kymo_tcb picolibc_main_tcb = {.tid = 1};

static size_t tls_bytes(void)
{
    return (size_t)(__tls_end - __tls_base);
}

static size_t picolibc_tls_alignment(void)
{
    size_t align = (size_t)__tls_align;

    return align > 16 ? align : 16;
}

/* Returns the block's size: room for a thread pointer anywhere in it, and the data belonging to
 * it. */
static size_t block_bytes(void)
{
    return picolibc_tls_alignment() + kymo_tls_offset() + tls_bytes();
}

/* Returns the first thread pointer at or above `from` with which thread-local variables are
 * aligned. */
static char *picolibc_place_tls(void *from, struct kymo_tcb *tcb)
{
    uintptr_t align = picolibc_tls_alignment();
    char *tp = (char *)(((uintptr_t)from + align - 1) & ~(align - 1));
    char *data = tp + kymo_tls_offset();
    size_t copied = (size_t)__tdata_size;

    memcpy(data, __tdata_source, copied);
    memset(data + copied, 0, tls_bytes() - copied);
    struct kymo_tcb **own =
        (struct kymo_tcb **)(data + ((char *)&kymo_self_tcb - (char *)__builtin_thread_pointer() -
                                     kymo_tls_offset()));
    *own = tcb;
    return tp;
}

int kymo_tls_main(struct kymo_startup *startup)
{
    void *block = kymo_heap_carve(block_bytes(), picolibc_tls_alignment());

    (void)startup;
    return block ? kymo_tls_set(picolibc_place_tls(block, &picolibc_main_tcb)) : -1;
}

struct kymo_tcb *kymo_tls_new(struct kymo_tcb *again, void **tls)
{
    struct kymo_tcb *tcb = again ? again : malloc(sizeof(*tcb) + block_bytes());

    if (tcb) {
        memset(tcb, 0, sizeof(*tcb));
        tcb->block = tcb;
        *tls = picolibc_place_tls(tcb + 1, tcb);
    }
    return tcb;
}

void kymo_tls_end(struct kymo_tcb *self)
{
    (void)self;
}
