/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tracelogger's sinks talk to, on this machine: a kernel whose buffers are made at random
 * from a seed, semihosting, diskd on a disk that may fail, linkd, a memory object. One recording a
 * process, because the sinks' state is that of a program.
 */
#ifndef TEST_TRACELOGGER_BOARD_H
#define TEST_TRACELOGGER_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/lib/blocklog/model.h"

#define BOARD_BUFFERS 32 /* of the kernel */
#define BOARD_FRAMES 400u
#define BOARD_SECTORS BLOCKLOG_DISK(BOARD_FRAMES, 8u)

struct board {
    uint64_t random;
    unsigned cpus;
    uint32_t page_bytes;
    bool faults;               /* now and then an operation of the disk fails, once */
    bool refuses;              /* the disk takes one buffer of eight never, whatever the place */
    uint64_t refused;          /* slots in those */
    uint8_t *block;            /* BOARD_BUFFERS */
    unsigned left;             /* buffers that will be READY */
    unsigned ready;            /* that are */
    unsigned taken;            /* so far */
    unsigned in_hand, at_once; /* taken and not given back; at most so many were */
    uint32_t sequence[64];
    uint64_t time;
    uint64_t made[64][32]; /* of each CPU and class: in buffers taken, or lost */
    struct model disk;
    uint8_t *got; /* by the file, the link, the object */
    size_t bytes, room;
    bool ended;
};
extern struct board board;

/* All of it from the seed alone; what is written goes to `got`. */
void board_begin(uint64_t seed, uint8_t *got, size_t room);
uint64_t board_random(uint64_t below);

#endif
