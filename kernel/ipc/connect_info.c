/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries about connections: ConnectServerInfo, ConnectClientInfo, ConnectFlags.
 *
 * Kernel lock held. Errors: unknown pids (ESRCH), coids and scoids (EINVAL), unknown flags
 * (EINVAL), other processes' flags (EPERM), bad memory (EFAULT). Tested by test/kernel.
 */
#include "kernel/ipc/msg.h"

/* Returns the connection with this coid or, as on QNX, the next one above it. */
static struct connection *at_least(const struct process *proc, uint32_t coid)
{
    uint32_t base = coid & _NTO_SIDE_CHANNEL;
    struct connection *const *table = base ? proc->side : proc->fds;
    for (uint32_t i = coid - base; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        if (table[i]) {
            return table[i];
        }
    }
    return NULL;
}

long ker_connect_server_info(struct thread *self, const uintptr_t *args)
{
    struct process *proc = process_self_or(self->proc, (int)args[0]);
    if (!proc) {
        return -ESRCH;
    }
    const struct connection *conn = at_least(proc, (uint32_t)args[1]);
    if (!conn) {
        return -EINVAL;
    }
    struct _server_info info = {.scoid = conn->scoid, .flags = conn->flags & KYMO_COF_ALL};
    if (conn->channel) {
        info.pid = conn->channel->proc->pid;
        info.chid = conn->channel->chid;
    }
    int r = copy_out(self->proc, args[2], &info, sizeof(info));
    return r != 0 ? r : conn->coid;
}

/* Returns the process of an scoid on one of the server's channels, or NULL. */
static const struct process *client_of(const struct process *server, int32_t scoid)
{
    const struct connection *conn = connection_by_scoid(scoid);

    return conn && conn->channel && conn->channel->proc == server ? conn->proc : NULL;
}

long ker_connect_client_info(struct thread *self, const uintptr_t *args)
{
    const struct process *client = client_of(self->proc, (int32_t)args[0]);
    if (!client) {
        return -EINVAL;
    }
    uint32_t user = (client->ability & ABILITY_EVERY) == ABILITY_EVERY ? 0 : 1;
    const struct _client_info info = {
        .pid = client->pid,
        .cred = {user, user, user, user, user, user, 0, {0}},
        .ability = client->ability,
    };
    return copy_out(self->proc, args[1], &info, sizeof(info));
}

long ker_connect_flags(struct thread *self, const uintptr_t *args)
{
    uint32_t mask = (uint32_t)args[2], bits = (uint32_t)args[3];
    struct process *proc = process_self_or(self->proc, (int)args[0]);
    if (!proc) {
        return -ESRCH;
    }
    struct connection *conn = msg_connection(proc, args[1]);
    if (!conn || ((mask | bits) & ~(uint32_t)KYMO_COF_ALL)) {
        return -EINVAL;
    }
    if (proc != self->proc && mask != 0) {
        return -EPERM;
    }
    uint32_t old = conn->flags & KYMO_COF_ALL;
    conn->flags = (conn->flags & ~mask) | (bits & mask);
    return (long)old;
}
