/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients that a server works for: a server thread that runs between receiving a message and
 * its reply runs for the thread that sent it; if it has received several, for the latest. If that
 * client is itself a server at work, its own client is charged as well, and so on. Times are by the
 * common clock, and only for messages of which send and receive were seen.
 */
#include "host/stat/stat.h"

/* The relations change: those who run for others have run for those of before. */
static void stat_serve_account(struct stat *stat, const struct thread *server, uint64_t now)
{
    for (unsigned cpu = 0; cpu < stat->ncpus; cpu++) {
        const struct thread *current = stat->cpus[cpu].current;

        if (current != NULL && (current->clients != NULL || current == server)) {
            cpu_account(stat, cpu, now);
        }
    }
}

static void unlink_client(struct thread *client)
{
    struct thread *server = client->server;

    if (server == NULL) {
        return;
    }
    if (client->newer != NULL) {
        client->newer->older = client->older;
    } else {
        server->clients = client->older;
    }
    if (client->older != NULL) {
        client->older->newer = client->newer;
    }
    client->server = client->newer = client->older = NULL;
}

void serve_begin(struct stat *stat, struct thread *server, struct thread *client, uint64_t now)
{
    if (!stat->goes || server == client) {
        return;
    }
    stat_serve_account(stat, server, now);
    unlink_client(client);
    client->server = server;
    client->served_epoch = stat->epoch;
    client->older = server->clients;
    if (client->older != NULL) {
        client->older->newer = client;
    }
    server->clients = client;
}

void serve_unknown(struct stat *stat, struct thread *server, uint64_t now)
{
    if (server->clients != NULL) {
        stat_serve_account(stat, server, now);
    }
    while (server->clients != NULL) {
        unlink_client(server->clients);
    }
}

void serve_end(struct stat *stat, struct thread *client, uint64_t now)
{
    if (client->server != NULL) {
        stat_serve_account(stat, client->server, now);
        unlink_client(client);
    }
}

/* The client that a thread works for, NULL: none that is known. */
static struct thread *stat_serve_client_of(const struct stat *stat, const struct thread *server)
{
    while (server->clients != NULL && server->clients->served_epoch != stat->epoch) {
        unlink_client(server->clients); /* of before a gap */
    }
    return server->clients;
}

static void stat_serve_charge_client(struct stat *stat, struct thread *client,
                                     const struct thread *server, uint64_t cycles, uint64_t now)
{
    uint32_t by = server->process == NULL ? 0 : server->process->index;
    uint64_t key = (uint64_t)client->index << 32 | by;
    struct served *served = map_get(&stat->served, key);

    client->imposed += cycles;
    if (stat->watch != NULL) { /* the common clock went all the time */
        stat->watch->served(stat->watch->arg, client, server, now - cycles, now);
    }
    if (served == NULL) {
        served = map_make(&stat->served, key);
        if (served == NULL) {
            stat->overflow++;
            return;
        }
        served->client = client;
        served->server = server->process;
    }
    served->time += cycles;
}

/* In a chain of A that works for B that works for C, both B and C are charged with A's time. */
void serve_ran(struct stat *stat, const struct thread *server, uint64_t cycles, uint64_t now)
{
    struct thread *client = stat_serve_client_of(stat, server);

    for (unsigned depth = 0; client != NULL && depth < STAT_NESTED; depth++) {
        if (client == server) { /* of a damaged file: a circle */
            break;
        }
        stat_serve_charge_client(stat, client, server, cycles, now);
        client = stat_serve_client_of(stat, client);
    }
}
