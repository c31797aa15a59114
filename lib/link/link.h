/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of the link's protocol: the same source on target and host (docs/reference/link.md).
 * Received bytes go in through link_input(), bytes to send come out of link_output(), time is an
 * argument; events are reported by the calls of struct link_user, which the owner supplies.
 *
 * One thread. No allocation: the owner supplies memory for frames. link_user's calls come from
 * within link_input() and link_output(), and may themselves call link_open(), link_send(),
 * link_more(), link_credit(), link_close().
 *
 * Guarantee: a message arrives whole, once, in order and unchanged, or the channel or the link is
 * reported as lost. Memory is bounded and every call ends, whatever bytes the other end sends.
 * Tested by test/lib/link: two ends over a line that drops, flips, doubles, inserts and stalls.
 */
#ifndef LIB_LINK_LINK_H
#define LIB_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/link/cobs.h"
#include "lib/link/hello.h"

#define LINK_CHANNELS_MOST 64
#define LINK_SERVICE_MOST 24 /* bytes of a service's name, no NUL */
#define LINK_HEAD 4          /* credit that a message costs in addition to its bytes */
#define LINK_FRAME_LEAST 96  /* frame_most: a hello fits */

#define LINK_FRAME_HEAD 6
#define LINK_FRAME_CHECK 4
/* Size on the line, with a 0 before and after. */
#define LINK_LINE_MOST(payload) (COBS_MOST(LINK_FRAME_HEAD + (payload) + LINK_FRAME_CHECK) + 2)
/* Memory that link_init() needs. */
#define LINK_MEMORY(frame_most, window) \
    ((window)*LINK_LINE_MOST(frame_most) + LINK_FRAME_HEAD + (frame_most) + LINK_FRAME_CHECK)

enum link_down {
    LINK_SILENT = 1, /* no frame received for LINK_SILENCE_MS */
    LINK_RESTARTED,  /* the other end restarted */
    LINK_BYE,        /* the other end said goodbye */
    LINK_STRANGE,    /* the other end broke the protocol */
    LINK_CLOSED,     /* link_bye(), link_lost() */
};

#define LINK_SILENCE_MS 15000
#define LINK_KEEPALIVE_MS 1000
#define LINK_FAREWELL_MS 3000 /* how long a farewell waits for acknowledgements */

struct link;

struct link_user {
    /* The link is up; the peer's hello stays readable by link_peer(). */
    void (*up)(void *context);
    /* The link is down, and with it all channels that closed() was not called for. */
    void (*down)(void *context, enum link_down why);
    /* The other end opens a channel: returns its first credit in bytes, or a negative errno to
     * refuse. */
    long (*open)(void *context, unsigned channel, const char *service);
    /* Our channel is accepted; if refused, closed() is called instead. */
    void (*opened)(void *context, unsigned channel);
    /* Part of a message: `bytes` of it at `offset`; `total` in all. offset + bytes == total is its
     * end. It costs credit, link_cost(), which the receiver returns when it has room again. */
    void (*data)(void *context, unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                 size_t total);
    /* Returns the next bytes of the announced message, at most `most`: their address and number; 0:
     * later, after link_more(). They are consumed before anything else happens. */
    size_t (*fetch)(void *context, unsigned channel, size_t most, const uint8_t **bytes);
    /* All bytes of the message were fetched: the next one may be announced. */
    void (*sent)(void *context, unsigned channel);
    /* The channel is closed, reason 0 or a negative errno. link_open() may give its
     * number to another channel from now on. */
    void (*closed)(void *context, unsigned channel, int reason);
    /* The other end uses another version. The link stays down. */
    void (*stranger)(void *context, unsigned version);
};

struct link_config {
    const struct link_user *user;
    void *context;
    void *memory; /* LINK_MEMORY(frame_most, window) bytes */
    struct link_channel *channel;
    uint16_t frame_most;     /* payload bytes of a frame, sent or received; from LINK_FRAME_LEAST */
    uint8_t window;          /* frames on their way at once, a power of 2, at most 64 */
    uint8_t channels;        /* of `channel`, at most LINK_CHANNELS_MOST */
    uint8_t role;            /* enum link_role */
    uint16_t hello_ms;       /* interval of hellos while down; 0: one, and as an answer */
    uint32_t seed;           /* different at each start of the process */
    const char *board;       /* may be NULL */
    const uint8_t *build_id; /* 20 bytes; may be NULL */
};

/* Internal to lib/link/ from here on; the owner only supplies the memory. */
struct link_channel {
    uint8_t state;            /* enum link_channel_state */
    uint8_t wants;            /* LINK_WANT_*: frames to make */
    bool ours;                /* we opened it */
    bool close_made;          /* our CLOSE is on its way */
    bool close_came;          /* the other end's has come */
    bool sending, receiving;  /* within a message */
    bool head_made;           /* its FIRST frame */
    int32_t reason;           /* of our CLOSE */
    uint32_t out_left;        /* of the message being sent; before its FIRST: its total */
    uint32_t out_credit;      /* bytes we may send, since the channel opened */
    uint32_t out_used;        /* of those, used */
    uint32_t in_credit;       /* bytes we allowed */
    uint32_t in_used;         /* of those, used */
    uint32_t in_total, in_at; /* of the message being received */
    char service[LINK_SERVICE_MOST + 1];
};

struct link_stats {
    uint32_t frames_in, frames_out; /* received; sent, retransmissions included */
    uint32_t bad;                   /* received, but incomplete or with a wrong check */
    uint32_t again;                 /* received again, or after a lost one */
    uint32_t resent;
    uint64_t bytes_in, bytes_out; /* on the line */
};

struct link {
    struct link_config config;
    struct link_hello peer;
    struct link_stats stats;
    bool up;
    uint32_t session, peer_session;
    uint32_t key_in, key_out;  /* initial states of the frames' checks */
    uint32_t now, heard, said; /* ms: time, of the last good frame received, of the last one sent */
    uint32_t hello_at;
    uint16_t payload_most; /* largest payload that both ends support */
    bool hello_due, ack_due, nak_due, bye_due;
    uint32_t bye_at;
    /* Sending: frames base..next are made and not acknowledged, cursor is the next to send. */
    uint16_t base, next, cursor, sent_to; /* sent_to: none from here on was sent yet */
    bool gone_back;                       /* since the last progress */
    uint16_t lengths[64];
    uint32_t went_back; /* ms */
    uint32_t round_trip, patience;
    uint16_t timed;
    bool timing, measured; /* measured: round_trip is one */
    uint32_t timed_at;
    uint32_t progress; /* ms: base moved, or the first frame after an empty window was made */
    unsigned turn;     /* next channel to serve */
    /* Receiving. */
    uint16_t expected, nak_for;
    bool nak_made;
    uint32_t nak_at;
    struct cobs_decoder decoder;
    bool any; /* bytes came since the last 0 */
    /* The frame being sent: from the window, or control[]. */
    const uint8_t *line;
    size_t line_left;
    bool line_is_window;
    uint16_t line_frame;
    uint8_t control[LINK_LINE_MOST(sizeof(struct link_hello))];
};

/* -EINVAL: an invalid config. */
int link_init(struct link *link, const struct link_config *config, uint32_t now);

/* Processes received bytes. */
void link_input(struct link *link, uint32_t now, const void *bytes, size_t count);

/* Returns the bytes to send next, 0: none. Report what was sent by link_output_done(). */
size_t link_output(struct link *link, uint32_t now, const uint8_t **bytes);
void link_output_done(struct link *link, size_t bytes);

/* Returns the milliseconds after which link_output() must be called even if nothing is received. */
uint32_t link_wait(const struct link *link, uint32_t now);

/* Reports that the line (a cable, a socket) is gone: takes the link down without a farewell. */
void link_lost(struct link *link);
/* Says goodbye, after all data sent before: call link_output() until the link is down. */
void link_bye(struct link *link);

bool link_is_up(const struct link *link);
const struct link_hello *link_peer(const struct link *link);
const struct link_stats *link_stats(const struct link *link);

/*
 * Opens a channel to a service of the other end, with initial credit for its data. Returns the
 * number, or -EAGAIN: none is free; -ENOTCONN: the link is down; -EINVAL: the name.
 */
int link_open(struct link *link, const char *service, uint32_t credit);

/* Announces a message, whose bytes are then fetched. -EBUSY: one is in transit; -EPIPE: the channel
 * is not open; -EMSGSIZE. */
int link_send(struct link *link, unsigned channel, size_t bytes);
/* Reports that there is more to fetch. */
void link_more(struct link *link, unsigned channel);

/* Returns the credit that data() with these arguments cost. */
static inline uint32_t link_cost(size_t count, size_t offset)
{
    return (uint32_t)count + (offset == 0 ? LINK_HEAD : 0);
}
/* Allows the other end this many more bytes. */
void link_credit(struct link *link, unsigned channel, uint32_t bytes);

/* Closes at once, after the bytes already fetched; closed() is not called. */
void link_close(struct link *link, unsigned channel, int reason);

#endif
