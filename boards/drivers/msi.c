/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupt lines that are messages: see msi.h. */
#include "boards/drivers/msi.h"

#include <stdint.h>

enum { MSI_OPEN = 1, MSI_KEPT = 2 };

static uint32_t states[MSI_LINES]; /* [a] 0: masked */

void msi_mask(unsigned line)
{
    __atomic_fetch_and(&states[line], ~(uint32_t)MSI_OPEN, __ATOMIC_SEQ_CST);
}

bool msi_unmask(unsigned line)
{
    return __atomic_exchange_n(&states[line], MSI_OPEN, __ATOMIC_SEQ_CST) & MSI_KEPT;
}

bool msi_take(unsigned line)
{
    uint32_t state = __atomic_load_n(&states[line], __ATOMIC_SEQ_CST);

    while (!(state & MSI_OPEN)) {
        if (__atomic_compare_exchange_n(&states[line], &state, state | MSI_KEPT, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            return false;
        }
    }
    return true;
}
