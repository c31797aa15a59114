/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device of the link; one file per kind (line_cmsdk.c, line_virtio.c). The board's LINK_LINE
 * lists its kinds in the order in which they are probed. One thread: linkd's loop.
 */
#ifndef APPS_LINKD_LINE_H
#define APPS_LINKD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_state { LINE_STEADY, LINE_PLUGGED, LINE_UNPLUGGED };

struct line_driver {
    const char *name;
    /* Maps the device and attaches its interrupts, which come as pulses `code` on `coid`. 0, or -1
     * and errno; ENODEV: this machine has none, so the next kind may be tried. A polling driver
     * sends itself these pulses. */
    int (*open)(int coid, int code);
    /* Handles an interrupt; returns PLUGGED or UNPLUGGED if the host came or went, where the device
     * reports that. NULL: the device needs no acknowledgement and doesn't report it. */
    enum line_state (*interrupt)(void);
    /* Enables the next interrupt, after all data was read and written. */
    void (*rearm)(void);
    /* Reads received bytes, at most `room`; 0: none. */
    size_t (*read)(uint8_t *bytes, size_t room);
    /* Writes as many bytes as there is room for; if not all, an interrupt comes when there is more
     * room. */
    size_t (*write)(const uint8_t *bytes, size_t count);
    /* Sends bytes that write() may have kept. NULL: it keeps none. */
    void (*flush)(void);
};

extern const struct line_driver line_16550, line_bcm2835_aux, line_cadence, line_cmsdk, line_rtt,
    line_stm32, line_virtio;

/* ---- what drivers share (line.c) --------------------------------------------------- */

/* Maps a device's registers. Returns NULL, and errno, if it can't. */
volatile uint32_t *line_registers(uintptr_t phys, size_t len);
/* Attaches an interrupt, which comes as a pulse `code` on `coid`. Returns its identifier for
 * InterruptUnmask(), or -1 and errno. */
int line_attach(int irq, int coid, int code);

#endif
