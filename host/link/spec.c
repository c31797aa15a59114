/* SPDX-License-Identifier: BSD-2-Clause */
/* See spec.h. A serial line is taken for this process alone, raw, 8 bits, no parity, no flow
 * control. */
#include "host/link/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#define DEFAULT_BAUD 115200

static const struct {
    unsigned baud;
    speed_t speed;
} speeds[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800},   {500000, B500000},
    {921600, B921600},   {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000},
    {3000000, B3000000}, {4000000, B4000000},
};

static const char *link_spec_text_after(const char *spec, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(spec, prefix, length) == 0 ? spec + length : NULL;
}

/* B0: no such speed. */
static speed_t baud_speed(const char *text)
{
    char *end;
    unsigned long baud = strtoul(text, &end, 10);

    for (size_t i = 0;
         *text >= '0' && *text <= '9' && *end == '\0' && i < sizeof(speeds) / sizeof(speeds[0]);
         i++) {
        if (speeds[i].baud == baud) {
            return speeds[i].speed;
        }
    }
    return B0;
}

bool spec_is_good(const char *spec)
{
    const char *rest = link_spec_text_after(spec, "unix:"), *at;

    if (rest) {
        return *rest != '\0' && strlen(rest) < sizeof(((struct sockaddr_un *)0)->sun_path);
    }
    rest = link_spec_text_after(spec, "tcp:");
    if (rest) {
        at = strrchr(rest, ':');
        return at && at > rest && at[1] != '\0' && strlen(rest) < 256;
    }
    at = strchr(spec, '@');
    return link_spec_text_after(spec, "/dev/") && strlen(spec) < PATH_MAX &&
           (!at || baud_speed(at + 1) != B0);
}

int spec_absolute(const char *spec, char *to, size_t room)
{
    const char *path = link_spec_text_after(spec, "unix:");
    char here[PATH_MAX];
    int length;

    if (path && path[0] != '/' && getcwd(here, sizeof(here))) {
        length = snprintf(to, room, "unix:%s/%s", here, path);
    } else {
        length = snprintf(to, room, "%s", spec);
    }
    return length < (int)room ? 0 : -1;
}

static int link_spec_fail_with(int fd, const char *what, char *why, size_t room)
{
    snprintf(why, room, "%s: %s", what, strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int unix_open(const char *spec, const char *path, char *why, size_t room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return link_spec_fail_with(fd, spec, why, room);
    }
    strcpy(address.sun_path, path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return link_spec_fail_with(fd, spec, why, room);
    }
    return fd;
}

static int tcp_connect(const struct addrinfo *list)
{
    int one = 1;

    for (; list; list = list->ai_next) {
        int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol);

        if (fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            return fd;
        }
        if (fd >= 0) {
            int error = errno;

            close(fd);
            errno = error;
        }
    }
    return -1;
}

static int tcp_open(const char *spec, const char *rest, char *why, size_t room)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char host[256];
    const char *port = strrchr(rest, ':');

    snprintf(host, sizeof(host), "%.*s", (int)(port - rest), rest);
    int error = getaddrinfo(host, port + 1, &hints, &list);
    if (error) {
        snprintf(why, room, "%s: %s", spec, gai_strerror(error));
        return -1;
    }
    int fd = tcp_connect(list);
    freeaddrinfo(list);
    return fd < 0 ? link_spec_fail_with(fd, spec, why, room) : fd;
}

static int tty_set(int fd, speed_t speed)
{
    struct termios modes;

    if (tcgetattr(fd, &modes) != 0) {
        return -1;
    }
    cfmakeraw(&modes);
    modes.c_cflag |= CLOCAL | CREAD;
    modes.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
    cfsetispeed(&modes, speed);
    cfsetospeed(&modes, speed);
    return tcsetattr(fd, TCSANOW, &modes) != 0 || tcflush(fd, TCIOFLUSH) != 0 ? -1 : 0;
}

static int tty_open(const char *spec, char *why, size_t room)
{
    char path[PATH_MAX];
    const char *at = strchr(spec, '@');
    char number[16];

    snprintf(path, sizeof(path), "%.*s", at ? (int)(at - spec) : (int)strlen(spec), spec);
    snprintf(number, sizeof(number), "%d", DEFAULT_BAUD);
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !isatty(fd)) {
        close(fd);
        snprintf(why, room, "%s: not a serial line", path);
        return -1;
    }
    if (fd < 0 || ioctl(fd, TIOCEXCL) != 0 || tty_set(fd, baud_speed(at ? at + 1 : number)) != 0) {
        return link_spec_fail_with(fd, path, why, room);
    }
    return fd;
}

int spec_open(const char *spec, char *why, size_t room)
{
    const char *path = link_spec_text_after(spec, "unix:"),
               *address = link_spec_text_after(spec, "tcp:");
    int fd;

    if (!spec_is_good(spec)) {
        snprintf(why, room, "%s: not a target: unix:PATH, tcp:HOST:PORT or /dev/…[@BAUD]", spec);
        return -1;
    }
    if (path) {
        fd = unix_open(spec, path, why, room);
    } else {
        fd = address ? tcp_open(spec, address, why, room) : tty_open(spec, why, room);
    }
    if (fd >= 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
        return link_spec_fail_with(fd, spec, why, room);
    }
    return fd;
}
