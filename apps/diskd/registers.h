/* SPDX-License-Identifier: BSD-2-Clause */
/* A controller's registers as the driver sees them; test/apps/diskd/sdhci_test.c has others. */
#ifndef APPS_DISKD_REGISTERS_H
#define APPS_DISKD_REGISTERS_H

#include <stdint.h>

static volatile uint32_t *registers;

static inline void registers_at(uintptr_t address)
{
    registers = (volatile uint32_t *)address;
}

/* The register at this word. */
static inline uint32_t register_get(unsigned word)
{
    return registers[word];
}

static inline void register_put(unsigned word, uint32_t value)
{
    registers[word] = value;
}

#endif
