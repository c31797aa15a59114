/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/linkd/line.h"

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

volatile uint32_t *line_registers(uintptr_t phys, size_t len)
{
    struct kymo_map map = {
        .phys = phys,
        .len = len,
        .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE,
    };

    return MemMap(&map) < 0 ? NULL : (volatile uint32_t *)(uintptr_t)map.vaddr;
}

int line_attach(int irq, int coid, int code)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, code, irq);
    return InterruptAttachEvent(irq, &event, 0);
}
