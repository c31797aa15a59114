/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server of `kymo view`: libmicrohttpd, with a thread of its own, on 127.0.0.1. Other users of
 * the machine, and pages of other sites in the user's browser, can reach the port. So every path
 * begins with a secret; the header Host must name this machine (a name that an attacker's DNS makes
 * this address does not); no other site may read an answer (no CORS) or frame it. A client
 * may be slow or send anything: connections (visitors.h), their memory, their idle time, and
 * answers that are held for them are bounded. Proof: test/host/view/check.py,
 * test/host/view/strangers.py.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "host/kymo.h"
#include "host/view/view.h"
#include "host/view/visitors.h"

#define CONNECTION_BYTES 32768 /* of a request's head */
#define WAITERS 16             /* requests that wait for news */
#define HELD_MOST 3            /* large answers that are being sent */
#define TOKEN_BYTES 16
#define HTTP_PORT 80
#define SAID_MOST 512

struct server {
    struct MHD_Daemon *daemon;
    int listening;
    unsigned port;
    char token[2 * TOKEN_BYTES + 1];
    char url[128];
    char *page;
    size_t page_bytes;
    pthread_mutex_t lock; /* of what follows */
    struct snapshot *snapshot;
    uint64_t generation, version;
    bool grows, stops;
    bool live; /* what is served is being recorded */
    double share;
    char said[SAID_MOST];
    struct MHD_Connection *waiters[WAITERS];
    unsigned nwaiters, held;
    struct visitors visitors; /* of the server's thread */
};

/* ---- the page ---------------------------------------------------------------------- */

/* The report's page, which may ask this server, and no other one. */
static bool page_make(struct server *server)
{
    static const char policy[] = "default-src 'none';",
                      ours[] = "default-src 'none'; connect-src 'self';",
                      mark[] = "<script type=\"text/plain\" id=\"served\"></script>\n";
    size_t head = (size_t)(report_page_head_end - report_page_head),
           tail = (size_t)(report_page_tail_end - report_page_tail);
    const char *at = memmem(report_page_head, head, policy, sizeof(policy) - 1);
    struct bytes page = {0};

    if (at == NULL) {
        return false;
    }
    bytes_put(&page, report_page_head, (size_t)(at - report_page_head));
    bytes_text(&page, ours);
    at += sizeof(policy) - 1;
    bytes_put(&page, at, (size_t)(report_page_head + head - at));
    bytes_text(&page, mark);
    bytes_put(&page, report_page_tail, tail);
    server->page = (char *)page.data;
    server->page_bytes = page.used;
    return !page.failed;
}

/* ---- answers ----------------------------------------------------------------------- */

static enum MHD_Result answer_queue(struct MHD_Connection *connection, unsigned status,
                                    const char *type, struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"X-Frame-Options", "DENY"},
    };
    enum MHD_Result result;

    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", type);
    for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, "Allow", "GET");
    }
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
    return answer_queue(connection, status, "text/plain; charset=utf-8",
                        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                        MHD_RESPMEM_MUST_COPY));
}

struct held { /* an answer that is being sent */
    struct server *server;
    struct bytes bytes;
};

static ssize_t held_read(void *arg, uint64_t offset, char *to, size_t room)
{
    const struct held *held = arg;
    size_t left = held->bytes.used - offset, count = left < room ? left : room;

    if (count == 0) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    memcpy(to, held->bytes.data + offset, count);
    return (ssize_t)count;
}

static void held_free(void *arg)
{
    struct held *held = arg;

    pthread_mutex_lock(&held->server->lock);
    held->server->held--;
    pthread_mutex_unlock(&held->server->lock);
    bytes_free(&held->bytes);
    free(held);
}

static bool view_server_time_of(struct MHD_Connection *connection, const char *name, int64_t *ns)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    char *end = NULL;

    errno = 0;
    *ns = text == NULL ? 0 : strtoll(text, &end, 10);
    return text != NULL && end != text && *end == '\0' && errno == 0;
}

/* A window, or without one the whole; the server is locked. */
static unsigned view_server_blocks_make(struct server *server, struct MHD_Connection *connection,
                                        struct bytes *bytes, bool part)
{
    int64_t generation, from = 0, to = 0;

    if (server->snapshot == NULL) {
        return MHD_HTTP_CONFLICT;
    }
    if (!part) {
        return snapshot_whole(server->snapshot, server->generation, bytes)
                   ? MHD_HTTP_OK
                   : MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
    if (!view_server_time_of(connection, "from", &from) ||
        !view_server_time_of(connection, "to", &to) ||
        !view_server_time_of(connection, "generation", &generation) || from > to) {
        return MHD_HTTP_BAD_REQUEST;
    }
    if ((uint64_t)generation != server->generation) {
        return MHD_HTTP_CONFLICT;
    }
    switch (snapshot_part(server->snapshot, server->generation, from, to, bytes)) {
    case SNAPSHOT_GIVEN:
        return MHD_HTTP_OK;
    case SNAPSHOT_TOO_MUCH:
        return MHD_HTTP_CONTENT_TOO_LARGE;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static enum MHD_Result answer_blocks(struct server *server, struct MHD_Connection *connection,
                                     bool part)
{
    struct held *held = calloc(1, sizeof(*held));
    unsigned status = MHD_HTTP_SERVICE_UNAVAILABLE;

    if (held == NULL) {
        return MHD_NO;
    }
    held->server = server;
    pthread_mutex_lock(&server->lock);
    if (server->held < HELD_MOST) {
        status = view_server_blocks_make(server, connection, &held->bytes, part);
        server->held += status == MHD_HTTP_OK;
    }
    pthread_mutex_unlock(&server->lock);
    if (status != MHD_HTTP_OK) {
        bytes_free(&held->bytes);
        free(held);
        return answer_text(connection, status,
                           status == MHD_HTTP_CONFLICT              ? "there is a newer one\n"
                           : status == MHD_HTTP_CONTENT_TOO_LARGE   ? "too many events\n"
                           : status == MHD_HTTP_BAD_REQUEST         ? "from, to and generation?\n"
                           : status == MHD_HTTP_SERVICE_UNAVAILABLE ? "busy\n"
                                                                    : "it can't be read\n");
    }
    struct MHD_Response *response =
        MHD_create_response_from_callback(held->bytes.used, 262144, held_read, held, held_free);

    if (response == NULL) {
        held_free(held);
    }
    return answer_queue(connection, MHD_HTTP_OK, "application/octet-stream", response);
}

static enum MHD_Result answer_state(struct server *server, struct MHD_Connection *connection)
{
    struct bytes json = {0};
    char head[160];
    struct MHD_Response *response;

    pthread_mutex_lock(&server->lock);
    snprintf(head, sizeof(head),
             "{\"version\":%" PRIu64 ",\"generation\":%" PRIu64
             ",\"grows\":%s,\"live\":%s,\"share\":%.4f,\"said\":",
             server->version, server->generation, server->grows ? "true" : "false",
             server->live ? "true" : "false", server->share);
    bytes_text(&json, head);
    bytes_json(&json, server->said, strlen(server->said));
    bytes_text(&json, "}\n");
    pthread_mutex_unlock(&server->lock);
    response = json.failed
                   ? NULL
                   : MHD_create_response_from_buffer(json.used, json.data, MHD_RESPMEM_MUST_COPY);
    bytes_free(&json);
    return answer_queue(connection, MHD_HTTP_OK, "application/json", response);
}

/* True: the page knows this state, and waits for the next one. */
static bool state_waits(struct server *server, struct MHD_Connection *connection)
{
    int64_t after;
    bool waits;

    if (!view_server_time_of(connection, "after", &after)) {
        return false;
    }
    pthread_mutex_lock(&server->lock);
    waits = (uint64_t)after == server->version && server->nwaiters < WAITERS && !server->stops;
    if (waits) {
        server->waiters[server->nwaiters++] = connection;
        MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&server->lock);
    return waits;
}

/* ---- requests ---------------------------------------------------------------------- */

/* Browsers leave out the port that is the scheme's own. */
bool server_is_named(const char *host, unsigned port)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char after[16];

    snprintf(after, sizeof(after), ":%u", port);
    for (unsigned i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);

        if (strncasecmp(host, names[i], length) == 0) {
            return strcmp(host + length, after) == 0 || (port == HTTP_PORT && host[length] == '\0');
        }
    }
    return false;
}

/* The path after the secret; NULL: it has another one. Takes as long for any. */
static const char *view_server_path_of(const struct server *server, const char *url)
{
    size_t length = strlen(server->token);
    unsigned differs = 0;

    if (strlen(url) < length + 2 || url[0] != '/' || url[length + 1] != '/') {
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        differs |= (unsigned char)(url[i + 1] ^ server->token[i]);
    }
    return differs == 0 ? url + length + 2 : NULL;
}

static enum MHD_Result request_answer(void *arg, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload,
                                      size_t *upload_bytes, void **state)
{
    static char begun, waited;
    struct server *server = arg;
    const char *path;

    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 || *upload_bytes > 0) {
        *upload_bytes = 0;
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    }
    if (*state == NULL) { /* only the head has come: answer when the request is whole */
        *state = &begun;
        return MHD_YES;
    }
    if (!server_is_named(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
                         server->port)) {
        return answer_text(connection, MHD_HTTP_FORBIDDEN, "not this machine's name\n");
    }
    path = view_server_path_of(server, url);
    if (path == NULL) {
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "not here\n");
    }
    visitors_trust(&server->visitors, connection);
    if (*path == '\0') {
        return answer_queue(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
                            MHD_create_response_from_buffer(server->page_bytes, server->page,
                                                            MHD_RESPMEM_PERSISTENT));
    }
    if (strcmp(path, "state") == 0) {
        if (*state == &begun && state_waits(server, connection)) {
            *state = &waited;
            return MHD_YES;
        }
        return answer_state(server, connection);
    }
    if (strcmp(path, "whole") == 0 || strcmp(path, "part") == 0) {
        return answer_blocks(server, connection, strcmp(path, "part") == 0);
    }
    return answer_text(connection, MHD_HTTP_NOT_FOUND, "not here\n");
}

/* ---- from the command -------------------------------------------------------------- */

/* There is news: those that wait for it are answered. The server is locked. */
static void waiters_wake(struct server *server)
{
    server->version++;
    for (unsigned i = 0; i < server->nwaiters; i++) {
        MHD_resume_connection(server->waiters[i]);
    }
    server->nwaiters = 0;
}

void server_show(struct server *server, struct snapshot *snapshot, bool grows)
{
    struct snapshot *old;

    pthread_mutex_lock(&server->lock);
    old = server->snapshot;
    server->snapshot = snapshot;
    server->generation++;
    server->grows = grows;
    waiters_wake(server);
    pthread_mutex_unlock(&server->lock);
    snapshot_free(old);
}

void server_show_no_more(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    server->grows = false;
    waiters_wake(server);
    pthread_mutex_unlock(&server->lock);
}

void server_say(struct server *server, double share, const char *text)
{
    pthread_mutex_lock(&server->lock);
    if (strcmp(server->said, text) != 0 || server->share != share) {
        server->share = share;
        snprintf(server->said, sizeof(server->said), "%s", text);
        waiters_wake(server);
    }
    pthread_mutex_unlock(&server->lock);
}

void server_tick(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    waiters_wake(server);
    pthread_mutex_unlock(&server->lock);
}

const char *server_url(const struct server *server)
{
    return server->url;
}

static bool listen_here(struct server *server, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int on = 1;

    server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listening < 0 ||
        (port != 0 && setsockopt(server->listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on))) ||
        bind(server->listening, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(server->listening, 64) != 0 ||
        getsockname(server->listening, (struct sockaddr *)&address, &length) != 0) {
        kymo_error("port %u of 127.0.0.1: %s%s", port, strerror(errno),
                   errno == EADDRINUSE ? "; without --port a free one is taken" : "");
        return false;
    }
    server->port = ntohs(address.sin_port);
    return true;
}

static bool token_make(struct server *server)
{
    uint8_t bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
        kymo_error("no random numbers: %s", strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < TOKEN_BYTES; i++) {
        snprintf(server->token + (size_t)2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

struct server *server_new(unsigned port, struct snapshot *first, bool grows)
{
    struct server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        kymo_error("out of memory");
        return NULL;
    }
    server->listening = -1;
    server->share = -1;
    server->generation = first == NULL ? 0 : 1;
    server->version = 1;
    server->grows = grows;
    server->live = first == NULL;
    pthread_mutex_init(&server->lock, NULL);
    if (!token_make(server) || !listen_here(server, port)) {
        server_free(server);
        return NULL;
    }
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u/%s/", server->port,
             server->token);
    server->snapshot = first;
    if (page_make(server)) {
        server->daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request_answer,
            server, MHD_OPTION_LISTEN_SOCKET, server->listening, MHD_OPTION_CONNECTION_LIMIT,
            (unsigned)VISITORS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned)VISITORS_STRANGE_SECONDS, MHD_OPTION_NOTIFY_CONNECTION, visitors_notify,
            &server->visitors, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
            MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    }
    if (server->daemon == NULL) {
        kymo_error("port %u of 127.0.0.1: cannot be served: %s", server->port, strerror(errno));
        server->snapshot = NULL;
        server_free(server);
        return NULL;
    }
    return server;
}

void server_free(struct server *server)
{
    if (server == NULL) {
        return;
    }
    if (server->daemon != NULL) {
        pthread_mutex_lock(&server->lock);
        server->stops = true;
        waiters_wake(server);
        pthread_mutex_unlock(&server->lock);
        MHD_stop_daemon(server->daemon); /* closes the socket, too */
    } else if (server->listening >= 0) {
        close(server->listening);
    }
    snapshot_free(server->snapshot);
    pthread_mutex_destroy(&server->lock);
    free(server->page);
    free(server);
}
