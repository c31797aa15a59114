/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of the link under test, with an owner that talks at random. What a message says follows
 * from its conversation's number, direction and place, so the receiver knows every byte that must
 * come next, and fails the test on any other. A conversation is one use of a channel; its number is
 * the service's name.
 */
#ifndef TEST_LIB_LINK_END_H
#define TEST_LIB_LINK_END_H

#include "lib/link/link.h"

#define END_CHANNELS 6
#define END_FRAME_MOST 512
#define END_WINDOW 8

struct talk {
    bool open;
    uint32_t number;         /* of the conversation */
    uint32_t sent, received; /* whole messages */
    bool sending;            /* one is announced */
    size_t at;               /* of it: fetched; fetch() points into `bytes` */
    uint32_t owed;           /* credit not given back yet */
    uint32_t allowed, used;  /* credit given to the other end, and what it has cost */
    uint8_t bytes[END_FRAME_MOST];
};

struct end {
    struct link link;
    const char *name;
    uint8_t role;
    uint16_t frame_most;
    uint8_t window;
    uint32_t seed;
    struct link_channel channels[END_CHANNELS];
    uint8_t memory[LINK_MEMORY(END_FRAME_MOST, END_WINDOW)];
    struct talk talk[END_CHANNELS];
    uint32_t conversations; /* opened by this end */
    uint32_t ups, downs, strangers;
    enum link_down why; /* of the last down */
    uint64_t messages;  /* received whole */
    bool refuses;       /* every open */
    bool careless;      /* takes any service and any message */
    bool idle;          /* fetch() gives nothing and credit stays here */
};

void end_start(struct end *end, const char *name, uint8_t role, uint32_t now);
size_t end_message_bytes(uint32_t conversation, uint8_t sender, uint32_t message);

/* Something at random. Nothing new if `quiet`, only what is left to do. */
void end_act(struct end *end, bool quiet);
/* Has it sent and fetched all that it announced, and given back all credit? */
bool end_is_done(const struct end *end);

#endif
