/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes: there is one. ND_LOCAL_NODE is in <sys/neutrino.h>. */
#ifndef LIB_SYS_NETMGR_H
#define LIB_SYS_NETMGR_H

#include "abi/sys/neutrino.h"

#define ND_NODE_CMP(a, b) ((int)((a) - (b))) /* 0: the same node */

#endif
