/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of sdhci_test.c's controller, in place of apps/diskd/registers.h. */
#ifndef TEST_APPS_DISKD_REGISTERS_H
#define TEST_APPS_DISKD_REGISTERS_H

#include <stdint.h>

void registers_at(uintptr_t address);
uint32_t register_get(unsigned word);
void register_put(unsigned word, uint32_t value);

#endif
