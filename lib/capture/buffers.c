/* SPDX-License-Identifier: BSD-2-Clause */
/* See buffers.h. Tested by every recording of test/board. */
#include "lib/capture/buffers.h"

#include <stdbool.h>
#include <stddef.h>

#include "abi/sys/kymo.h"

int capture_buffers_map(struct capture_buffers *buffers)
{
    struct kymo_map request = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    if (MemMap(&request) < 0) {
        return -1;
    }
    buffers->block = (const uint8_t *)(uintptr_t)request.vaddr;
    buffers->bytes = request.len;
    return 0;
}

void capture_buffers_unmap(struct capture_buffers *buffers)
{
    if (buffers->block) {
        MemUnmap((void *)(uintptr_t)buffers->block, (size_t)buffers->bytes);
        buffers->block = NULL;
    }
}

const struct trace_slot *capture_buffers_slots(const struct capture_buffers *buffers,
                                               const struct kymo_trace_buffer *taken)
{
    uint64_t end = ((uint64_t)taken->index + 1) * TRACE_BUFFER_BYTES;
    bool possible = end <= buffers->bytes && taken->slots <= TRACE_BUFFER_SLOTS &&
                    taken->slots > 0 && taken->cpu < CAPTURE_CPUS_MAX;

    return possible ? (const void *)(buffers->block + end - TRACE_BUFFER_BYTES) : NULL;
}
