/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: semihosting, files of the machine that runs the emulator or the debugger. buf
 * is kernel-accessible and contiguous. The functions return -errno, or the result of HostCall();
 * -ENOSYS: there is no host. kernel/arch/cpu.h explains the marks.
 */
#ifndef KERNEL_ARCH_HOST_H
#define KERNEL_ARCH_HOST_H

#include <stddef.h>

/* [cpu, stub] */
long arch_host_open(const char *path, size_t len, int mode);
long arch_host_write(int handle, const void *buf, size_t len); /* returns bytes written; 0: none */
long arch_host_close(int handle);
long arch_host_time(void); /* seconds since 1970 on the host */

#endif
