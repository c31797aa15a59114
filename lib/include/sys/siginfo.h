/* SPDX-License-Identifier: BSD-2-Clause */
/* struct sigevent, union sigval and SIGEV_*_INIT where QNX has them; they are
 * in <sys/neutrino.h>. */
#ifndef LIB_SYS_SIGINFO_H
#define LIB_SYS_SIGINFO_H

#include "abi/sys/neutrino.h"

#endif
