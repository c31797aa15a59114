/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view --open. Every user of the machine can read the arguments of commands, so the browser
 * gets the name of a file that only this user can read: a page that leads to the address. The file
 * exists until the command ends; after a kill the next `kymo view --open` removes it. Caller: the
 * main thread, once. Proof: test/host/view/strangers.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/temporary.h"
#include "host/view/view.h"

#define LEADING_NAME "open.html"

static char browse_folder[PATH_MAX]; /* "": none */
static int browse_held = -1;         /* temporary_directory_hold()'s */

static void browse_remove(void)
{
    char path[PATH_MAX + sizeof(LEADING_NAME)];

    if (browse_folder[0] != '\0') {
        snprintf(path, sizeof(path), "%s/%s", browse_folder, LEADING_NAME);
        unlink(path);
        rmdir(browse_folder);
        close(browse_held);
        browse_folder[0] = '\0';
    }
}

/* The address is digits and letters, which need no escapes. Returns 0, or -1 and errno. */
static int browse_write_page(const char *path, const char *url)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int n, error;

    if (fd < 0) {
        return -1;
    }
    n = dprintf(fd,
                "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
                "<title>kymo view</title>\n<p><a href=\"%s\">kymo view</a></p>\n",
                url, url);
    error = errno;
    if (close(fd) == 0 && n < 0) {
        errno = error;
    }
    return n < 0 ? -1 : 0;
}

/* file://PATH, with the characters escaped that an address must not have. */
static void browse_make_address(const char *path, char *to, size_t room)
{
    static const char plain[] =
        "/-._~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t used = (size_t)snprintf(to, room, "file://");

    for (; *path != '\0' && used + 4 <= room; path++) {
        used +=
            (size_t)snprintf(to + used, room - used, strchr(plain, *path) != NULL ? "%c" : "%%%02X",
                             (unsigned char)*path);
    }
}

/* Never returns. */
static void browse_exec(const char *address)
{
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    setsid();
    execlp("xdg-open", "xdg-open", address, (char *)NULL);
    kymo_error("--open: xdg-open: %s; the address is printed above", strerror(errno));
    _exit(127);
}

void browse_open(const char *url)
{
    static const char *const files[] = {">" LEADING_NAME, NULL};
    char path[PATH_MAX + sizeof(LEADING_NAME)], address[3 * sizeof(path) + sizeof("file://")];

    browse_held = temporary_directory_hold("open", files, browse_folder, sizeof(browse_folder));
    if (browse_held < 0) {
        browse_folder[0] = '\0';
        kymo_error("--open: no folder in %s: %s; the address is printed above", temporary_place(),
                   strerror(errno));
        return;
    }
    atexit(browse_remove);
    snprintf(path, sizeof(path), "%s/%s", browse_folder, LEADING_NAME);
    if (browse_write_page(path, url) != 0) {
        kymo_error("--open: %s: %s; the address is printed above", path, strerror(errno));
        return;
    }
    browse_make_address(path, address, sizeof(address));
    switch (fork()) {
    case 0:
        browse_exec(address);
        break;
    case -1:
        kymo_error("--open: xdg-open: %s; the address is printed above", strerror(errno));
        break;
    default:
        break;
    }
}
