/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/linkd/ on this machine: a target whose system is made up here (struct world has all that the
 * library's port can see), a host's end of the link, and a line between them that may do harm
 * (test/lib/link/line.h). Time is virtual. What is to be read of the host is kept until
 * host_message() takes it.
 */
#ifndef TEST_LIB_LINKD_WORLD_H
#define TEST_LIB_LINKD_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/errno.h"
#include "lib/include/sys/linkmsg.h"
#include "lib/linkd/linkd.h"
#include "test/lib/link/line.h"

#define FRAME_MOST 512
#define WINDOW 8
#define CLIENTS 4
#define CONSOLE_KEPT 2048
#define D_CONSUMERS 8

/* A client's request that waits, or how it was answered. */
struct request {
    bool waits, refused;
    int client;
    long status; /* or the error */
    size_t bytes;
    uint8_t *message;
};

struct message {
    struct message *next;
    size_t bytes, got;
    uint8_t *data;
};

struct host_channel {
    bool open, opened;
    int reason; /* when it was closed; 1: it wasn't */
    const uint8_t *out;
    size_t out_at;
    bool sending;
    struct message *first, **end;
    struct message *partial;
};

struct world {
    uint32_t now;
    struct line to_target, to_host;
    /* The target. */
    struct linkd linkd;
    uint8_t memory[LINKD_MEMORY(FRAME_MOST, WINDOW)];
    unsigned deferred[2]; /* events, by kind */
    uint64_t host_time;
    unsigned strangers;
    struct request request[CLIENTS + 1]; /* by number, from 1 on; 0 is none */
    bool client_gone[CLIENTS];
    uint64_t console_bytes;        /* printed so far; byte i is console_byte(i) */
    bool console_asked;            /* an event is due when there is more */
    char typed[LINK_CONSOLE_MOST]; /* the newest input */
    size_t typed_bytes;
    uint32_t consumers[D_CONSUMERS]; /* handles that exist; 0: free */
    uint32_t next_handle;
    bool map_fails;
    unsigned mapped; /* pieces of memory beside the heap */
    unsigned calls;  /* of D's control call */
    int program;     /* pid; 0: none runs */
    bool program_held, program_ran, program_over, program_ended_held;
    /* The host. */
    struct link host;
    struct link_channel host_channels[LINKD_CHANNELS];
    uint8_t host_memory[LINK_MEMORY(FRAME_MOST, WINDOW)];
    struct host_channel channel[LINKD_CHANNELS];
    unsigned ups, downs;
    uint64_t host_clock; /* seconds: what its hello says */
    uint8_t host_build_id[20];
};

struct world *world_make(struct line_faults faults);
void world_free(struct world *w);
/* Lets so many ms pass. */
void world_run(struct world *w, uint32_t ms);
/* A new host on the same line, when the one before has left or was killed. */
void world_host_new(struct world *w);

/* Opens a channel, and lets time pass until it is open or refused. */
int host_open(struct world *w, const char *service);
/* Announces a message, whose bytes must stay until it was sent. */
void host_send(struct world *w, int channel, const void *message, size_t bytes);
/* Lets time pass until the next whole message has come. It is the caller's; NULL: the channel was
 * closed. */
uint8_t *host_message(struct world *w, int channel, size_t *bytes);
/* Lets time pass until the channel is closed, and returns the reason. */
int host_reason(struct world *w, int channel);

/* A client sends a request of struct linkmsg and `bytes` of data; it may be answered at once. */
struct request *client_request(struct world *w, int client, uint16_t type, const void *data,
                               size_t bytes);
/* Lets time pass until it is answered. */
void client_wait(struct world *w, struct request *request);
void client_kill(struct world *w, int client);

/* malloc() has no piece above this. */
extern size_t heap_most;

void console_print(struct world *w, unsigned bytes);
char console_byte(uint64_t position);

#endif
