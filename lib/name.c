/* SPDX-License-Identifier: BSD-2-Clause */
/* <sys/dispatch.h>, and name_attach() with channel flags chosen by the caller. */
#include "lib/include/sys/dispatch.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"

static int register_channel(name_attach_t *attach, const char *path, unsigned channel_flags)
{
    attach->chid = ChannelCreate(channel_flags);
    if (attach->chid < 0) {
        return -1;
    }
    attach->mntid = NameAttach(path, attach->chid);
    if (attach->mntid < 0) {
        ChannelDestroy_r(attach->chid);
        return -1;
    }
    return 0;
}

name_attach_t *kymo_name_attach(const char *path, unsigned channel_flags)
{
    name_attach_t *attach = calloc(1, sizeof(*attach));

    if (attach && register_channel(attach, path, channel_flags) != 0) {
        free(attach);
        return NULL;
    }
    return attach;
}

name_attach_t *name_attach(dispatch_t *dpp, const char *path, unsigned flags)
{
    (void)flags;
    if (dpp || !path || !*path) {
        errno = EINVAL;
        return NULL;
    }
    return kymo_name_attach(path,
                            _NTO_CHF_UNBLOCK | _NTO_CHF_DISCONNECT | _NTO_CHF_COID_DISCONNECT);
}

int name_detach(name_attach_t *attach, unsigned flags)
{
    (void)flags;
    int result = NameDetach(attach->mntid);

    if (ChannelDestroy(attach->chid) != 0) {
        result = -1;
    }
    free(attach);
    return result;
}

int name_open(const char *path, int flags)
{
    struct kymo_name name;

    (void)flags;
    if (NameLookup(path, &name) < 0) {
        return -1;
    }
    return ConnectAttach(0, name.pid, name.chid, _NTO_SIDE_CHANNEL, _NTO_COF_CLOEXEC);
}

int name_close(int coid)
{
    return ConnectDetach(coid);
}
