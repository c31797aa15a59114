/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files: read and write as messages to the server of a descriptor (a connection id).
 *
 * Descriptors 0-2 are connected to the server "console" if it existed when the program started. If
 * not, output to 1 and 2 goes to the kernel's console, and 0 is at its end. If that server dies, 2
 * falls back to the kernel's console, so that errors remain visible; the others fail with EBADF.
 * Connections that the program made itself (ConnectAttach) are not files: EBADF.
 */
#include <errno.h>

#include "abi/sys/neutrino.h"
#include "lib/include/sys/iomsg.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/libc/syscalls.h"
#include "lib/startup.h"
#include SYSTEM_PROBE_H

#define FDS 32
static volatile uint32_t io_fd_bits; /* [a] bit: this descriptor is a file */

int kymo_fd_known(int fd, int set)
{
    if (fd < 0 || fd >= FDS) {
        return 0;
    }
    uint32_t bit = UINT32_C(1) << fd;
    uint32_t old = io_fd_bits;

    if (set == 1) {
        old = __atomic_fetch_or(&io_fd_bits, bit, __ATOMIC_RELAXED);
    } else if (set == 0) {
        old = __atomic_fetch_and(&io_fd_bits, ~bit, __ATOMIC_RELAXED);
    }
    return (old & bit) != 0;
}

/* Connects the three standard descriptors, in order. If they can't get their numbers they stay
 * unconnected: the kernel's console is used. */
void kymo_io_start(void)
{
    struct kymo_name name;

    if (NameLookup_r("console", &name) < 0) {
        return;
    }
    for (int fd = 0; fd <= 2; fd++) {
        int coid = ConnectAttach_r(0, name.pid, name.chid, (unsigned)fd, 0);

        if (coid != fd) {
            if (coid >= 0) {
                ConnectDetach_r(coid);
            }
            return;
        }
        kymo_fd_known(fd, 1);
    }
}

static ssize_t io_console_write(const void *buffer, size_t bytes)
{
    long done = ConsoleWrite_r(buffer, bytes);

    if (done < 0) {
        errno = (int)-done;
        return -1;
    }
    return done;
}

static ssize_t io_fail_with(long error)
{
    errno = error == -ESRCH || error == -EBADF ? EBADF : (int)-error;
    return -1;
}

static ssize_t write_file(int fd, const void *buffer, size_t bytes)
{
    struct _io_msg msg = {_IO_WRITE, 0, (uint32_t)bytes, 0};
    iov_t parts[2];

    if (!kymo_fd_known(fd, -1)) {
        return fd == 1 || fd == 2 ? io_console_write(buffer, bytes) : io_fail_with(-EBADF);
    }
    SETIOV(&parts[0], &msg, sizeof(msg));
    SETIOV(&parts[1], buffer, bytes);
    long done = MsgSendvs_r(fd, parts, 2, NULL, 0);
    if (done >= 0) {
        return done;
    }
    if (fd == 2 && (done == -ESRCH || done == -EBADF)) {
        return io_console_write(buffer, bytes);
    }
    return io_fail_with(done);
}

ssize_t kymo_write(int fd, const void *buffer, size_t bytes)
{
    SYSTEM_PROBE(kymo, write__entry, fd, buffer, bytes);
    const long done = write_file(fd, buffer, bytes);
    SYSTEM_PROBE(kymo, write__return, fd, done);
    return done;
}

static ssize_t io_read_file(int fd, void *buffer, size_t bytes)
{
    struct _io_msg msg = {_IO_READ, 0, (uint32_t)bytes, 0};

    if (!kymo_fd_known(fd, -1)) {
        return fd == 0 ? 0 : io_fail_with(-EBADF);
    }
    long done = MsgSend_r(fd, &msg, sizeof(msg), buffer, bytes);
    return done >= 0 ? done : io_fail_with(done);
}

ssize_t kymo_read(int fd, void *buffer, size_t bytes)
{
    SYSTEM_PROBE(kymo, read__entry, fd, buffer, bytes);
    const long done = io_read_file(fd, buffer, bytes);
    SYSTEM_PROBE(kymo, read__return, fd, done);
    return done;
}
