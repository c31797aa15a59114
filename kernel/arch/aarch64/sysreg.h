/* SPDX-License-Identifier: BSD-2-Clause */
/* System registers and barriers. Any context. */
#ifndef KERNEL_ARCH_AARCH64_SYSREG_H
#define KERNEL_ARCH_AARCH64_SYSREG_H

#include <stdint.h>

#define a64_read_sysreg(name) \
    __extension__({ \
        uint64_t value_; \
        __asm__ volatile("mrs %0, " #name : "=r"(value_)); \
        value_; \
    })
#define a64_write_sysreg(name, value) \
    __asm__ volatile("msr " #name ", %x0" ::"rZ"((uint64_t)(value)))

#define a64_isb() __asm__ volatile("isb" ::: "memory")
#define a64_dsb(domain) __asm__ volatile("dsb " #domain ::: "memory")
#define a64_dmb(domain) __asm__ volatile("dmb " #domain ::: "memory")

#endif
