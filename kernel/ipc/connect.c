/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: ConnectAttach, ConnectDetach, and their ends. (connect_info.c has the queries.)
 *
 * All connections of one process to one channel share a scoid, which identifies the client to the
 * server. It is never an fd or a side-channel id, and is not reused soon, so a server may call
 * ConnectDetach(scoid) after a DISCONNECT pulse as on QNX: it has no effect. One of these
 * connections is in the tree of scoids; when it is closed, another one replaces it there.
 *
 * A connection contains the pulse that reports its end: COIDDEATH to the client if the server ends,
 * DISCONNECT to the server if the client closes it. Closed, it stays in the system's table, charged
 * to the server, until that pulse has been received. A server that does not receive gets no new
 * connections beyond CLOSED_MOST; and one client none beyond CLOSED_MOST_OF_ONE, so that it can't
 * use up the slow server's share for all clients. A COIDDEATH that the client has not received when
 * it closes the connection is discarded, because the coid may soon refer to another connection.
 *
 * Kernel lock held. Errors: unknown pid, chid or node (ESRCH), flags and index (EINVAL), a full
 * table of the process (EMFILE) or of the system, or too many unreceived notices (EAGAIN).
 * Detaching ends sends in progress through the connection with EBADF. Tested by test/kernel.
 */
#include "kernel/arch/irq.h"
#include "kernel/ipc/msg.h"
#include "kernel/base/pool.h"
#include "kernel/base/cpu.h"

#define PRIORITY_KERNEL_PULSE 10 /* DISCONNECT and COIDDEATH have no sending thread */
#define SCOID_FLAG 0x20000000u   /* distinguishes scoids from coids */
#define SCOID_MASK 0x1fffffffu
/* The most closed connections whose notices a server has not received: beyond it ConnectAttach()
 * fails with EAGAIN. Connections that are open then may still be closed. */
#define CLOSED_MOST (2 * CONFIG_CONNECTIONS_PER_PROCESS)
#define CLOSED_MOST_OF_ONE CONFIG_CONNECTIONS_PER_PROCESS

static TABLE_OF(struct connection, connections, CONFIG_CONNECTIONS);
static struct pool pool;
static struct trie by_scoid;     /* [k] the scoids in use */
static uint32_t scoids_assigned; /* [k] */

void connection_init(void)
{
    TABLE_MAKE(connections, struct connection, TABLE_ENTRIES(CONNECTIONS));
    pool_init(&pool, TABLE_POOL(connections), sizeof(struct connection),
              TABLE_ENTRIES(CONNECTIONS));
}

/* Returns another connection of proc to the same channel, or NULL. */
static struct connection *connect_sibling(const struct process *proc, const struct channel *ch)
{
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        if (proc->fds[i] && proc->fds[i]->channel == ch) {
            return proc->fds[i];
        }
        if (proc->side[i] && proc->side[i]->channel == ch) {
            return proc->side[i];
        }
    }
    return NULL;
}

/* Returns the key of an scoid in the tree. Scoids in use are consecutive numbers with equal highest
 * bits, so the tree would be deep; multiplication by an odd number distributes them, and keys stay
 * unique. */
static uint32_t scoid_key(int32_t scoid)
{
    return (uint32_t)scoid * 0x9e3779b1u;
}

struct connection *connection_by_scoid(int32_t scoid)
{
    struct trie_node *node = trie_find(&by_scoid, scoid_key(scoid));

    kernel_assert(kernel_locked());
    return node ? list_entry(node, struct connection, by_scoid) : NULL;
}

static int32_t new_scoid(void)
{
    int32_t scoid;
    do { /* at most TABLE_ENTRIES(CONNECTIONS) are in use */
        scoids_assigned++;
        scoid = (int32_t)(SCOID_FLAG | (scoids_assigned & SCOID_MASK));
    } while (connection_by_scoid(scoid));
    return scoid;
}

/* Returns the lowest free slot from `first` on, or NULL. */
static struct connection **connect_free_slot(struct connection **table, uint32_t first)
{
    for (uint32_t i = first; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        if (!table[i]) {
            return &table[i];
        }
    }
    return NULL;
}

static struct channel *connect_target(struct thread *self, const uintptr_t *args)
{
    struct process *server = process_self_or(self->proc, (int)args[1]);
    return args[0] == 0 && server ? msg_channel(server, args[2]) : NULL;
}

/* Returns whether the server has received enough of the notices that it requested. */
static bool connect_received(const struct channel *ch, const struct process *client)
{
    const struct process *server = ch->proc;
    unsigned own = 0;

    if (!(ch->flags & _NTO_CHF_DISCONNECT) || server->nclosed < CLOSED_MOST_OF_ONE) {
        return true;
    }
    if (server->nclosed >= CLOSED_MOST) {
        return false;
    }
    list_for_each (pos, &server->closed) { /* bounded by CLOSED_MOST */
        own += list_entry(pos, struct connection, link)->pid == client->pid;
    }
    return own < CLOSED_MOST_OF_ONE;
}

long ker_connect_attach(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;
    uint32_t index = (uint32_t)args[3];
    uint32_t base = index & _NTO_SIDE_CHANNEL;
    struct connection **table = base ? proc->side : proc->fds;
    struct channel *ch = connect_target(self, args);
    if (!ch) {
        return -ESRCH;
    }
    if ((args[4] & ~(uintptr_t)KYMO_COF_ALL) || (index & 0x80000000u)) {
        return -EINVAL;
    }
    struct connection **slot = connect_free_slot(table, index - base);
    if (!slot) {
        return -EMFILE;
    }
    if (!connect_received(ch, proc)) {
        return -EAGAIN;
    }
    struct connection *conn = pool_alloc_charged(&pool, &proc->quota, KYMO_LIMIT_CONNECTIONS);
    if (!conn) {
        return -EAGAIN;
    }
    conn->payer = process_payer(proc);
    conn->pid = proc->pid;
    struct connection *other = connect_sibling(proc, ch);
    conn->proc = proc;
    conn->channel = ch;
    conn->coid = (int32_t)(base + (uint32_t)(slot - table));
    conn->scoid = other ? other->scoid : new_scoid();
    conn->by_scoid.key = scoid_key(conn->scoid);
    if (!other) {
        trie_insert(&by_scoid, &conn->by_scoid);
    }
    conn->flags = (uint32_t)args[4];
    list_push_back(&ch->connections, &conn->link);
    *slot = conn;
    return conn->coid;
}

bool connection_fail_users(const struct connection *conn, int error, unsigned most)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = conn->proc->threads[i];
        if (t && (t->state == STATE_SEND || t->state == STATE_REPLY) && t->connection == conn) {
            if (most-- == 0) {
                return false;
            }
            msg_client_fail(t, error);
        }
    }
    return true;
}

static void connect_free(struct connection *conn)
{
    kernel_assert(!conn->proc && !pulse_queued(&conn->notice));
    if (connection_by_scoid(conn->scoid) == conn) {
        trie_remove(&by_scoid, &conn->by_scoid);
    }
    process_refund(conn->payer, KYMO_LIMIT_CONNECTIONS, 1);
    pool_free(&pool, conn);
}

/* Called when the notice of a closed connection has to wait: from now on both are charged to the
 * server. */
static void connect_wait(struct connection *conn, struct process *server)
{
    list_push_back(&server->closed, &conn->link);
    server->nclosed++;
    if (quota_charge(&server->quota, KYMO_LIMIT_CONNECTIONS, 1)) {
        process_refund(conn->payer, KYMO_LIMIT_CONNECTIONS, 1);
        conn->payer = process_payer(server);
    }
}

void connection_notice_done(struct pulse *p, const struct channel *ch)
{
    struct connection *conn = list_entry(p, struct connection, notice);
    if (!conn->proc) {
        kernel_assert(ch->proc->nclosed > 0);
        list_remove(&conn->link);
        ch->proc->nclosed--;
        connect_free(conn);
    }
}

static void connect_notify(struct connection *conn, struct channel *ch, int code, int value,
                           int scoid)
{
    pulse_notify(ch, &conn->notice,
                 (struct pulse){.kind = PULSE_CONNECTION,
                                .priority = PRIORITY_KERNEL_PULSE,
                                .code = (int8_t)code,
                                .value = (uintptr_t)value,
                                .scoid = scoid});
}

static void connect_detach(struct connection *conn)
{
    struct channel *ch = conn->channel;
    struct process *proc = conn->proc;
    kernel_assert(kernel_locked() && msg_connection(proc, (uintptr_t)conn->coid) == conn);
    connection_fail_users(conn, EBADF, CONFIG_THREADS_PER_PROCESS);
    if (conn->coid & _NTO_SIDE_CHANNEL) {
        proc->side[conn->coid - _NTO_SIDE_CHANNEL] = NULL;
    } else {
        proc->fds[conn->coid] = NULL;
    }
    if (ch) {
        list_remove(&conn->link);
    }
    pulse_unqueue(&conn->notice); /* COIDDEATH */
    conn->proc = NULL;
    struct connection *other = ch ? connect_sibling(proc, ch) : NULL;
    if (other && connection_by_scoid(conn->scoid) == conn) {
        trie_replace(&by_scoid, &conn->by_scoid, &other->by_scoid);
    }
    if (ch && (ch->flags & _NTO_CHF_DISCONNECT) && !ch->proc->dying && !other) {
        trace_comm_snd_pulse_dis((uint32_t)conn->scoid, (uint32_t)ch->proc->pid);
        connect_notify(conn, ch, _PULSE_CODE_DISCONNECT, 0, conn->scoid);
    }
    if (pulse_queued(&conn->notice)) { /* it is freed when the notice is received */
        connect_wait(conn, ch->proc);
    } else {
        connect_free(conn);
    }
}

long ker_connect_detach(struct thread *self, const uintptr_t *args)
{
    struct connection *conn = msg_connection(self->proc, args[0]);
    if (!conn) {
        return ((uint32_t)args[0] & ~SCOID_MASK) == SCOID_FLAG ? 0 : -EINVAL;
    }
    connect_detach(conn);
    return 0;
}

/* Returns the first channel of a process that requests pulses for ended servers, or NULL. */
static struct channel *death_channel(const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i] && (proc->channels[i]->flags & _NTO_CHF_COID_DISCONNECT)) {
            return proc->channels[i];
        }
    }
    return NULL;
}

void connection_lost(struct connection *conn, bool dead)
{
    kernel_assert(conn->proc && conn->channel);
    struct channel *tell = conn->proc->dying ? NULL : death_channel(conn->proc);
    list_remove(&conn->link);
    conn->channel = NULL;
    conn->flags |= dead ? CONNECTION_DEAD : 0;
    if (tell) {
        trace_comm_snd_pulse_dea((uint32_t)conn->scoid, (uint32_t)tell->proc->pid);
        connect_notify(conn, tell, _PULSE_CODE_COIDDEATH, conn->coid, 0);
    }
}

bool connection_process_gone(struct process *proc)
{
    unsigned freed = 0;

    kernel_assert(kernel_locked());
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        struct connection *of[] = {proc->fds[i], proc->side[i]};
        if (freed >= PROCESS_GONE_AT_ONCE && (of[0] || of[1])) {
            return true;
        }
        for (unsigned n = 0; n < 2; n++) {
            if (of[n]) {
                connect_detach(of[n]);
                freed++;
            }
        }
    }
    return false;
}
