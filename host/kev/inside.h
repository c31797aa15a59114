/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view of a capture that libkev has read, for the command's judge (host/verify/). libkev.so does
 * not export it.
 */
#ifndef HOST_KEV_INSIDE_H
#define HOST_KEV_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct kev;
struct kev_capture;

struct capture_inside {
    const struct kev *kev;
    uint64_t lost; /* events that the LOSS items so far count */
    bool lacks;    /* one of them was of buffers or of an end that is not there */
};

struct capture_inside capture_inside(const struct kev_capture *capture);

#endif
