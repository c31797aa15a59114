/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actions of D, as the compiler tells them apart. Internal to host/d's back end.
 */
#ifndef HOST_D_ACTION_H
#define HOST_D_ACTION_H

enum d_action_name {
    D_DO_NOTHING,
#define ACTION(name, number) number,
#include "host/d/actions.def"
};

#endif
