/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open, close and queries about a file. "/dev/NAME" and "NAME" both name the server that has
 * attached NAME; it must accept the _IO_CONNECT that open() sends (a server without files replies
 * ENOSYS).
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/sys/neutrino.h"
#include "lib/include/sys/iomsg.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/syscalls.h"
#include SYSTEM_PROBE_H

static int open_fail_with(long error)
{
    errno = error == -ESRCH ? EBADF : (int)-error;
    return -1;
}

static int open_path(const char *path, int flags)
{
    struct _io_msg msg = {_IO_CONNECT, 0, 0, flags};
    struct kymo_name name;

    if (strncmp(path, "/dev/", 5) == 0) {
        path += 5;
    }
    int error = NameLookup_r(path, &name);
    if (error < 0) {
        return open_fail_with(error);
    }
    int fd = ConnectAttach_r(0, name.pid, name.chid, 3, _NTO_COF_CLOEXEC);
    if (fd < 0) {
        return open_fail_with(fd);
    }
    long status = MsgSend_r(fd, &msg, sizeof(msg), NULL, 0);
    if (status < 0 || kymo_fd_known(fd, 1)) {
        ConnectDetach_r(fd);
        return open_fail_with(status < 0 ? status : -EMFILE);
    }
    return fd;
}

int kymo_open(const char *path, int flags)
{
    SYSTEM_PROBE(kymo, open__entry, path, flags);
    int fd = open_path(path, flags);
    SYSTEM_PROBE(kymo, open__return, fd);
    return fd;
}

/* Notifies the server; the descriptor is closed even if the server does not listen, or has
 * ended. */
int kymo_close(int fd)
{
    struct _io_msg msg = {_IO_CLOSE, 0, 0, 0};

    if (fd >= KYMO_OBJECT_FD) {
        return ObjectClose(fd - KYMO_OBJECT_FD);
    }
    if (!kymo_fd_known(fd, -1)) {
        return fd >= 0 && fd <= 2 ? 0 : open_fail_with(-EBADF);
    }
    MsgSend_r(fd, &msg, sizeof(msg), NULL, 0);
    kymo_fd_known(fd, 0);
    int error = ConnectDetach_r(fd);
    return error < 0 ? open_fail_with(error) : 0;
}

off_t kymo_lseek(int fd, off_t offset, int whence)
{
    struct _io_msg msg = {_IO_LSEEK, 0, (uint32_t)whence, offset};

    if (!kymo_fd_known(fd, -1)) {
        return open_fail_with(fd >= 0 && fd <= 2 ? -ESPIPE : -EBADF);
    }
    long position = MsgSend_r(fd, &msg, sizeof(msg), NULL, 0);
    return position < 0 ? open_fail_with(position) : position;
}

static int object_stat(int id, struct stat *st)
{
    struct kymo_object_info info;

    if (ObjectInfo(id, &info) < 0) {
        return -1;
    }
    memset(st, 0, sizeof(*st));
    st->st_mode = (mode_t)(S_IFREG | info.mode);
    st->st_size = (off_t)info.size;
    return 0;
}

int kymo_fstat(int fd, struct stat *st)
{
    struct _io_msg msg = {_IO_STAT, 0, 0, 0};
    struct _io_stat answer = {S_IFCHR | 0666, 0, 0};

    if (fd >= KYMO_OBJECT_FD) {
        return object_stat(fd - KYMO_OBJECT_FD, st);
    }
    if (kymo_fd_known(fd, -1)) {
        long error = MsgSend_r(fd, &msg, sizeof(msg), &answer, sizeof(answer));

        if (error < 0) {
            return open_fail_with(error);
        }
    } else if (fd < 0 || fd > 2) {
        return open_fail_with(-EBADF);
    }
    memset(st, 0, sizeof(*st));
    st->st_mode = (mode_t)answer.mode;
    st->st_blksize = (blksize_t)answer.block;
    st->st_size = (off_t)answer.size;
    return 0;
}

int kymo_stat(const char *path, struct stat *st)
{
    int fd = kymo_open(path, 0);

    if (fd < 0) {
        return -1;
    }
    int result = kymo_fstat(fd, st);
    kymo_close(fd);
    return result;
}

int kymo_isatty(int fd)
{
    struct stat st;

    if (kymo_fstat(fd, &st) != 0) {
        return 0;
    }
    if (!S_ISCHR(st.st_mode)) {
        errno = ENOTTY;
        return 0;
    }
    return 1;
}
