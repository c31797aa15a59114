/* SPDX-License-Identifier: BSD-2-Clause */
/* pid_places() of Cortex-M: places.h. */
#ifndef HOST_PID_THUMB_H
#define HOST_PID_THUMB_H

#include "host/pid/places.h"

void pid_thumb_places(const struct pid_code *, void (*fn)(void *arg, const struct pid_place *),
                      void *arg);

#endif
