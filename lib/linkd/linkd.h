/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's end of the link to a host (docs/reference/link.md): the services console, capture,
 * dtrace, program and source over any byte stream. The library knows no kernel: what it needs of a
 * system is struct linkd_port, which the owner supplies (on Kymo apps/linkd/, in tests
 * test/lib/linkd/).
 *
 * One thread. No function blocks, unless one of the port does. The owner calls linkd_input() when
 * bytes may have come, then linkd_output(), and sleeps until the next event or for as long as
 * linkd_output() said. Errors are negative numbers of abi/errno.h.
 *
 * Guarantee: memory is bounded, whatever the host sends, and the link restarts with the next hello.
 * A link that goes down takes its channels with it: D's consumers are destroyed, the program that
 * sends a capture gets EPIPE, a program that is still held ends. Tested by test/lib/linkd, and on
 * boards by test/board/link.py and test/board/dlink.py.
 */
#ifndef LIB_LINKD_LINKD_H
#define LIB_LINKD_LINKD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/dtrace.h"
#include "lib/link/link.h"
#include "lib/link/service.h"

#define LINKD_CHANNELS 16
#ifndef LINKD_CONSOLES
#define LINKD_CONSOLES 4 /* channels of the service console; a small board sets fewer */
#endif
#define LINKD_CONSUMERS 4 /* D consumers of a channel */
#define LINKD_NOTE 40     /* bytes of the note about text that was lost */

/* Bytes of config.memory. */
#define LINKD_MEMORY(frame_most, window) (LINK_MEMORY(frame_most, window) + (frame_most))

#define LINKD_NO_TIMER UINT32_MAX /* of linkd_output(): only an event continues */

/* The events of port.defer(). */
enum linkd_event {
    LINKD_EVENT_CONSOLE, /* the console may have more text */
    LINKD_EVENT_CAPTURE, /* a host that takes captures has come */
};

/*
 * The functions that the owner supplies; `context` is config.context. Functions of a service that
 * the owner does not offer may be NULL.
 */
struct linkd_port {
    /* The line. Reads received bytes, at most `room`. Returns 0 if there are none. */
    size_t (*read)(void *context, uint8_t *bytes, size_t room);
    /* Takes the bytes that there is room for and returns their number. If that is not all, the
     * owner calls linkd_output() when there is room again. */
    size_t (*write)(void *context, const uint8_t *bytes, size_t count);
    /* Sends bytes that write() may have kept. */
    void (*flush)(void *context);

    /* Returns milliseconds, of a clock that is never set; it may wrap. */
    uint32_t (*now)(void *context);
    /* Has linkd_event(event) called soon: by the owner's loop, not from within this function. */
    void (*defer)(void *context, enum linkd_event event);
    /* The host's clock when the link came up, in ns since 1970, for a system without one. */
    void (*host_time)(void *context, uint64_t ns);
    /* The host's link has this version, which isn't LINK_VERSION. Called once for each. */
    void (*stranger)(void *context, unsigned version);

    /*
     * Service capture. A client is a program that sends a capture; a request is a message of a
     * client, which waits until it is answered by reply() or refuse().
     */
    void (*reply)(void *context, int request, long status);
    void (*refuse)(void *context, int request, int error); /* error: positive */
    /* Reads the request's message from `offset` on. Returns the bytes read; 0 or less: the client
     * has gone. */
    long (*request_read)(void *context, int request, void *to, size_t bytes, size_t offset);
    bool (*request_waits)(void *context, int request); /* its client still waits */
    bool (*client_exists)(void *context, int client);

    /* Service console. Connects to the console: 0 or an error. Called for each channel. */
    int (*console_open)(void *context);
    /*
     * Reads text of the console from *position on, or from the oldest that is kept, and returns the
     * bytes; *position becomes that of the first. Returns 0 if there is none yet: defers
     * LINKD_EVENT_CONSOLE once there is.
     */
    long (*console_read)(void *context, uint64_t *position, void *text, size_t room);
    /* The text is handled as if typed. */
    int (*console_type)(void *context, const void *text, size_t bytes);

    /* Service dtrace. D's control call (abi/sys/dtrace.h): 0 or an error. */
    int (*dtrace)(void *context, struct kymo_d_call *call, const void *in, void *out);
    /* Memory where the heap has no piece of that size; NULL: none. May itself be NULL. */
    void *(*memory_map)(void *context, size_t bytes);
    void (*memory_unmap)(void *context, void *at, size_t bytes);

    /*
     * Service program. Starts a program by a line as in a start script, and holds it before its
     * first instruction: its pid or an error. `line` may be overwritten. text: gets the text of
     * LINK_PROGRAM_START about an error, *bytes of it, at most LINK_PROGRAM_TEXT; it is the same
     * memory as `line`.
     */
    int (*program_start)(void *context, char *line, char *text, size_t *bytes);
    int (*program_run)(void *context, int pid);
    /* Returns 1 and how the program ended; 0: it has not ended; or an error. */
    int (*program_ended)(void *context, int pid, int *status);
    /* Disowns a program, which continues alone; one that is still held ends. */
    void (*program_disown)(void *context, int pid);
    /* LINK_PROGRAM_FIND: returns the pid, or an error. text: the name that is wanted, "" for any;
     * then the process's, *bytes of it, at most LINK_PROGRAM_TEXT. */
    int (*program_find)(void *context, int from, char *text, size_t *bytes);
};

struct linkd_service;
extern const struct linkd_service linkd_console, linkd_capture, linkd_dtrace, linkd_program,
    linkd_source;

struct linkd_config {
    const struct linkd_port *port;
    void *context;
    const struct linkd_service *const *services; /* ended by NULL */
    void *memory;                                /* LINKD_MEMORY(frame_most, window) bytes */
    uint16_t frame_most;                         /* these as in struct link_config */
    uint8_t window;
    uint32_t seed;
    const char *board;
    const uint8_t *build_id;
};

/* Internal to lib/linkd/ from here on; the owner only supplies the memory. */

enum linkd_capture_phase {
    LINKD_CAPTURE_NONE,
    LINKD_CAPTURE_BEGINNING, /* its name goes to the host */
    LINKD_CAPTURE_WRITING,   /* between two requests of the client, or within one */
    LINKD_CAPTURE_ENDING,    /* waits for the host to confirm */
    LINKD_CAPTURE_FAILED,    /* the client has not asked since */
};

struct linkd_capture_state {
    enum linkd_capture_phase phase;
    int client;
    int request; /* 0: none waits */
    int channel; /* of the host that takes it, -1: none */
    int error;   /* FAILED: what to report to the client */
    uint64_t bytes;
    /* The message on its way: a head, then bytes of the request's message from `offset` on. */
    struct link_capture head;
    size_t size, at, offset;
    /* A client that waits for a host before it begins; waiting_request 0: none. */
    int waiting_client, waiting_request;
    bool takes[LINKD_CHANNELS]; /* channels whose host takes a capture */
    struct link_capture answer[LINKD_CHANNELS];
};

struct linkd_console_channel {
    bool open, sending;
    unsigned channel;
    uint64_t position; /* of the console's text: the next to be read */
    size_t bytes, at;  /* of `text`: present, fetched */
    uint8_t text[LINKD_NOTE + LINK_CONSOLE_MOST];
    size_t typed;
    uint8_t typing[LINK_CONSOLE_MOST]; /* message of the host */
};

struct linkd_memory {
    uint8_t *at;
    size_t bytes;
    bool mapped; /* not of the heap */
};

enum linkd_dtrace_phase { LINKD_DTRACE_IDLE, LINKD_DTRACE_ASKED, LINKD_DTRACE_ANSWERING };

struct linkd_dtrace_channel {
    enum linkd_dtrace_phase phase;
    struct kymo_d_call call;
    struct linkd_memory in, out;
    size_t at;                           /* of the answer: fetched */
    uint32_t consumers[LINKD_CONSUMERS]; /* handles; 0: free */
};

struct linkd_program_channel {
    struct link_program head; /* of the request, then of the answer */
    size_t at;                /* of the answer: fetched */
    size_t text_bytes;
    int pid; /* 0: none started */
    bool held, answering;
    char text[LINK_PROGRAM_TEXT]; /* the line, then the answer's text */
};

struct linkd_source_channel {
    struct link_source request;
    uint32_t at;
};

struct linkd {
    struct linkd_config config;
    struct link link;
    struct link_channel channels[LINKD_CHANNELS];
    const struct linkd_service *service[LINKD_CHANNELS]; /* NULL: the channel is closed */
    uint8_t *piece;    /* frame_most bytes, between fetches free */
    unsigned stranger; /* version last reported */
    struct linkd_capture_state capture;
    struct linkd_console_channel consoles[LINKD_CONSOLES];
    uint32_t console_due; /* ms: when the console is asked next */
    struct linkd_dtrace_channel dtrace[LINKD_CHANNELS];
    struct linkd_program_channel *programs[LINKD_CHANNELS];
    struct linkd_source_channel sources[LINKD_CHANNELS];
};

/* Returns 0, or -EINVAL: an invalid config. The link's hello is sent by the next linkd_output(). */
int linkd_init(struct linkd *linkd, const struct linkd_config *config);

/* Processes all bytes that the line has. */
void linkd_input(struct linkd *linkd);
/* Sends all that the line takes. Returns the ms after which it must be called again even if there
 * is no event, at least 1, or LINKD_NO_TIMER. */
uint32_t linkd_output(struct linkd *linkd);
/* The line was cut, or connected again. */
void linkd_lost(struct linkd *linkd);

/* Handles the event of port.defer(). */
void linkd_event(struct linkd *linkd, enum linkd_event event);

/* A message from a client (lib/include/sys/linkmsg.h): `bytes` of it are in `message`, aligned as
 * struct linkmsg, `total` were sent. */
void linkd_request(struct linkd *linkd, int request, int client, const void *message, size_t bytes,
                   size_t total);
/* A client has ended or disconnected. */
void linkd_client_gone(struct linkd *linkd, int client);

#endif
