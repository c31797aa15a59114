/* SPDX-License-Identifier: BSD-2-Clause */
/* See broker.h. */
#include "host/link/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/link/spec.h"

#define FRAME_MOST 4096
#define WINDOW 32
#define CHANNELS LINK_CHANNELS_MOST
#define HELLO_MS 200
#define MEET_MS 10000 /* to wait for the target's hello */
#define ALONE_MS 2000 /* to wait for the first session */
#define DOOR_MS 100   /* to look for a free descriptor again */

static struct broker broker_state;
static struct link_channel broker_channels[CHANNELS];
static uint8_t broker_memory[LINK_MEMORY(FRAME_MOST, WINDOW)];

static uint32_t broker_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint32_t)((uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000);
}

static void broker_exit_with(const char *what)
{
    if (!broker_state.over) {
        broker_state.over = true;
        snprintf(broker_state.why, sizeof(broker_state.why), "%.300s: %s", broker_state.spec, what);
    }
}

static int broker_serve_clients(void)
{
    int count = 0;

    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        count += broker_state.client[i].fd >= 0;
    }
    return count;
}

/* No descriptor is free for a client that waits to connect. Polled, the socket would be ready all
 * the time; so it is looked at again only when DOOR_MS have passed. */
static void door_shut(int error)
{
    if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
        broker_state.door_at = broker_now() + DOOR_MS;
        broker_state.door_shut = true;
    }
}

static bool door_is_open(void)
{
    if (broker_state.door_shut && (int32_t)(broker_now() - broker_state.door_at) >= 0) {
        broker_state.door_shut = false;
    }
    return !broker_state.door_shut;
}

static void accept_all(void)
{
    int fd;

    while ((fd = accept4(broker_state.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct client *client = NULL;

        for (unsigned i = 0; i < BROKER_CLIENTS && !client; i++) {
            client = broker_state.client[i].fd < 0 ? &broker_state.client[i] : NULL;
        }
        if (!client) {
            close(fd);
            continue;
        }
        client_begin(client, fd);
        if (link_is_up(&broker_state.link)) {
            client_put(client, LOCAL_HELLO, 0, 0, link_peer(&broker_state.link),
                       sizeof(struct link_hello));
        }
    }
    door_shut(errno);
}

/* Sent in this end's hello in place of a build id. */
static struct link_clock wall_clock;

/* A plug that is pulled: the other end may have had something unread (a socket), and a terminal
 * that is gone fails as a device does. */
static void line_failed(int error)
{
    bool closed = error == 0 || error == EPIPE || error == ECONNRESET || error == EIO;

    broker_exit_with(closed ? "the line was closed" : strerror(error));
}

static void line_in(void)
{
    static uint8_t bytes[65536];
    ssize_t got = read(broker_state.line, bytes, sizeof(bytes));

    if (got > 0) {
        link_input(&broker_state.link, broker_now(), bytes, (size_t)got);
    } else if (got == 0) {
        line_failed(0);
    } else if (errno != EAGAIN && errno != EINTR) {
        line_failed(errno);
    }
}

/* false: the line takes no more now. */
static bool line_out(void)
{
    const uint8_t *bytes;
    size_t count;
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    wall_clock.seconds = (uint64_t)time.tv_sec;
    wall_clock.ns = (uint32_t)time.tv_nsec;
    while (!broker_state.over &&
           (count = link_output(&broker_state.link, broker_now(), &bytes)) > 0) {
        ssize_t done = write(broker_state.line, bytes, count);

        if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
            return false;
        }
        if (done < 0) {
            line_failed(errno);
            return false;
        }
        link_output_done(&broker_state.link, (size_t)done);
    }
    return true;
}

/* A fetch frees room for the next packet, which may make the next frame. */
static bool clients_work(void)
{
    bool progress = false;

    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        struct client *client = &broker_state.client[i];
        size_t bytes = client->in_bytes;
        bool held = client->held;

        if (client->fd >= 0) {
            client_work(&broker_state, client);
            progress |= client->in_bytes != bytes || client->held != held;
        }
    }
    return progress;
}

static bool broker_serve_rounds(void)
{
    bool flows = line_out();

    while (flows && !broker_state.over && clients_work()) {
        flows = line_out();
    }
    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        if (broker_state.client[i].fd >= 0) {
            client_write(&broker_state, &broker_state.client[i]);
        }
    }
    return flows;
}

static short client_events(const struct client *client)
{
    bool room = !client->held && client->in_bytes < sizeof(client->in);

    return (short)((room ? POLLIN : 0) | (client->out_end > 0 ? POLLOUT : 0));
}

/* Only what is open is polled: poll() refuses more entries than a process may have descriptors. */
static void wait_and_read(bool flows)
{
    struct pollfd fds[BROKER_CLIENTS + 2];
    struct client *client[BROKER_CLIENTS + 2];
    uint32_t wait = link_wait(&broker_state.link, broker_now());
    bool door = door_is_open();
    nfds_t n = 1;

    wait = door || wait < DOOR_MS ? wait : DOOR_MS;
    fds[0] = (struct pollfd){.fd = broker_state.line, .events = flows ? POLLIN : POLLIN | POLLOUT};
    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        if (broker_state.client[i].fd >= 0) {
            client[n] = &broker_state.client[i];
            fds[n++] = (struct pollfd){.fd = broker_state.client[i].fd,
                                       .events = client_events(&broker_state.client[i])};
        }
    }
    nfds_t clients_end = n;
    if (door) {
        fds[n++] = (struct pollfd){.fd = broker_state.listener, .events = POLLIN};
    }
    if (poll(fds, n, wait < 500 ? (int)wait : 500) < 0) {
        return;
    }
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) {
        line_in();
    }
    for (nfds_t i = 1; i < clients_end; i++) {
        if (client[i]->fd == fds[i].fd && (fds[i].revents & (POLLIN | POLLHUP | POLLERR))) {
            client_readable(&broker_state, client[i]);
        }
    }
    if (door && fds[clients_end].revents) {
        accept_all();
    }
}

/* No client may connect any more. The lock, which a process that starts a broker takes first, is
 * kept to the end of this process: the next one gets the line when this one has let go of it. */
static bool close_door(void)
{
    int lock = open(broker_state.place->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
        close(lock);
        return false;
    }
    accept_all();
    if (broker_serve_clients() > 0 && !broker_state.over) {
        close(lock);
        return false;
    }
    unlink(broker_state.place->address.sun_path);
    close(broker_state.listener);
    broker_state.locked = lock >= 0;
    return true;
}

/* Each session gets the reason, and a second to take it. */
static void tell_all(void)
{
    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        if (broker_state.client[i].fd >= 0) {
            client_put(&broker_state.client[i], LOCAL_DOWN, 0, 0, broker_state.why,
                       strlen(broker_state.why));
            broker_state.client[i].leaving = true;
        }
    }
    for (int i = 0; i < 100 && broker_serve_clients() > 0; i++) {
        for (unsigned c = 0; c < BROKER_CLIENTS; c++) {
            if (broker_state.client[c].fd >= 0) {
                client_write(&broker_state, &broker_state.client[c]);
            }
        }
        if (broker_serve_clients() > 0) {
            poll(NULL, 0, 10);
        }
    }
}

/* Says goodbye once all that was sent before has arrived. */
static void say_bye(void)
{
    uint32_t began = broker_now();

    link_bye(&broker_state.link);
    while (link_is_up(&broker_state.link) && broker_now() - began < LINK_FAREWELL_MS + 500) {
        bool flows = line_out();
        struct pollfd fd = {.fd = broker_state.line, .events = flows ? POLLIN : POLLIN | POLLOUT};

        if (link_is_up(&broker_state.link) && poll(&fd, 1, 20) > 0 && (fd.revents & POLLIN)) {
            line_in();
        }
    }
}

static void broker_open_session(void)
{
    const struct link_config config = {
        .user = &broker_user,
        .context = &broker_state,
        .memory = broker_memory,
        .channel = broker_channels,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .channels = CHANNELS,
        .role = LINK_HOST,
        .hello_ms = HELLO_MS,
        .build_id = (const uint8_t *)&wall_clock,
        .seed = (uint32_t)getpid() * 2654435761u ^ (uint32_t)time(NULL) ^ broker_now(),
    };

    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        broker_state.client[i].fd = -1;
    }
    link_init(&broker_state.link, &config, broker_now());
    broker_state.line = spec_open(broker_state.spec, broker_state.why, sizeof(broker_state.why));
    broker_state.over = broker_state.line < 0;
}

void broker_run(const struct place *place, const char *spec, int listener)
{
    uint32_t began = broker_now();
    bool met = false;

    signal(SIGPIPE, SIG_IGN);
    broker_state.place = place;
    broker_state.spec = spec;
    broker_state.listener = listener;
    fcntl(listener, F_SETFL, O_NONBLOCK);
    broker_open_session();
    accept_all();
    for (;;) {
        bool flows = broker_state.over || broker_serve_rounds();

        met |= broker_serve_clients() > 0;
        if (!broker_state.over && !broker_state.was_up && broker_now() - began > MEET_MS) {
            broker_exit_with("no answer from the target: is linkd running there?");
        }
        if ((broker_state.over ||
             (broker_serve_clients() == 0 && (met || broker_now() - began > ALONE_MS))) &&
            close_door()) {
            break;
        }
        if (broker_state.over) {
            poll(NULL, 0, 10); /* somebody is at the door */
        } else {
            wait_and_read(flows);
        }
    }
    if (broker_state.over) {
        tell_all();
    } else {
        say_bye();
    }
    if (broker_state.locked) {
        unlink(broker_state.place->lock);
    }
    _exit(0);
}
