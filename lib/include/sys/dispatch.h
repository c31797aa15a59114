/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers found by name: QNX's name_attach() and related functions. They return -1 (or NULL) and
 * errno on failure. */
#ifndef LIB_SYS_DISPATCH_H
#define LIB_SYS_DISPATCH_H

typedef struct kymo_dispatch dispatch_t; /* Kymo has no dispatch: pass NULL */

typedef struct _name_attach {
    dispatch_t *dpp;
    int chid;
    int mntid; /* NameAttach()'s id */
} name_attach_t;

#define NAME_FLAG_ATTACH_GLOBAL 0x2 /* accepted without effect: there is one machine */
#define NAME_FLAG_DETACH_SAVEDPP 0x1

/*
 * Makes a channel (_NTO_CHF_UNBLOCK | _NTO_CHF_DISCONNECT | _NTO_CHF_COID_DISCONNECT) and registers
 * it as `path`. A server that keeps a client waiting must reply to it (MsgError()) when a pulse
 * _PULSE_CODE_UNBLOCK names its rcvid: until then the client can neither time out nor be cancelled.
 * At most one per name: EEXIST. Free with name_detach(). EINVAL: dpp not NULL, or path empty.
 */
name_attach_t *name_attach(dispatch_t *dpp, const char *path, unsigned flags);
int name_detach(name_attach_t *attach, unsigned flags);
/* Connects to a name, as a side channel (so it never uses a file descriptor's number). Returns the
 * connection id. ENOENT: the name is not attached. */
int name_open(const char *path, int flags);
int name_close(int coid);

#endif
