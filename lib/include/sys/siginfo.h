/* SPDX-License-Identifier: BSD-2-Clause */
/* struct sigevent, union sigval and SIGEV_*_INIT at QNX's location; defined in <sys/neutrino.h>. */
#ifndef LIB_SYS_SIGINFO_H
#define LIB_SYS_SIGINFO_H

#include "abi/sys/neutrino.h"

#endif
