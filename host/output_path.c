/* SPDX-License-Identifier: BSD-2-Clause */
/* See output_path.h. */
#include "host/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MOST 40 /* symbolic links in a row, as the kernel has it */

int output_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    char *end;

    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t n = strlen(prefixes[i]);

        if (strncmp(path, prefixes[i], n) == 0 && path[n] >= '0' && path[n] <= '9') {
            long fd = strtol(path + n, &end, 10);

            return *end == '\0' && fd <= INT_MAX ? (int)fd : -1;
        }
    }
    return -1;
}

char *output_follow_links(const char *path)
{
    char target[PATH_MAX], *at = strdup(path);

    for (int i = 0; at && i < LINKS_MOST; i++) {
        ssize_t n = readlink(at, target, sizeof(target) - 1);
        char *slash = strrchr(at, '/'), *next = NULL;

        if (n < 0) {
            return at;
        }
        target[n] = '\0';
        int folder = target[0] != '/' && slash ? (int)(slash + 1 - at) : 0;
        next = asprintf(&next, "%.*s%s", folder, at, target) < 0 ? NULL : next;
        free(at);
        at = next;
    }
    free(at);
    errno = at ? ELOOP : ENOMEM;
    return NULL;
}

bool output_is_capture(const char *path)
{
    char head[8] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));

    if (fd >= 0) {
        close(fd);
    }
    return n == sizeof(head) &&
           (memcmp(head, "TRACE_", 6) == 0 || memcmp(head, "KymoBlok", sizeof(head)) == 0);
}
