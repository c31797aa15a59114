/* SPDX-License-Identifier: BSD-2-Clause */
/* The sender of a pulse or a message: for servers that execute requests of others. See kymo.h;
 * docs/reference/security.md lists the servers that check it. */
#include <stdbool.h>

#include "abi/sys/neutrino.h"
#include "lib/include/kymo.h"
#include "lib/startup.h"

int kymo_own_scoid(int coid)
{
    struct _server_info own;

    return ConnectServerInfo(0, coid, &own) < 0 ? -1 : own.scoid;
}

bool kymo_may_control(const struct _msg_info *from, uint32_t ability)
{
    struct _client_info client;

    return from->pid == kymo_startup->ppid || (ConnectClientInfo(from->scoid, &client, 0) >= 0 &&
                                               (client.ability & ability) == ability);
}
