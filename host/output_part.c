/* SPDX-License-Identifier: BSD-2-Clause */
/* See output_part.h. */
#include "host/output_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output_path.h"

/* Removes a part whose command was killed: nobody holds its lock. One that is a capture stays: it
 * may be all that is left of a recording. */
static void output_part_remove_if_dead(int folder, const char *in, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char path[PATH_MAX];
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_nlink == 1 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        snprintf(path, sizeof(path), "%s%s", in, name) < (int)sizeof(path) &&
        !output_is_capture(path) && unlinkat(folder, name, 0) == 0) {
        kymo_error("%s: removed: a kymo that was killed had left it", path);
    }
    if (fd >= 0) {
        close(fd);
    }
}

void output_part_remove_dead(const char *in, const char *part)
{
    DIR *folder = opendir(in);
    size_t length = strlen(part), same = length - strlen(OUTPUT_PART_UNIQUE);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;

        if (strlen(name) == length && strncmp(name, part, same) == 0 &&
            strcmp(name + length - strlen(".part"), ".part") == 0) {
            output_part_remove_if_dead(dirfd(folder), in, name);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

int output_part_create(char *path)
{
    char *unique = path + strlen(path) - strlen(OUTPUT_PART_UNIQUE);

    for (;;) {
        struct stat st;

        strcpy(unique, OUTPUT_PART_UNIQUE);
        int fd = mkostemps(path, (int)strlen(".part"), O_CLOEXEC);
        if (fd < 0 || ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                       fstat(fd, &st) == 0 && st.st_nlink > 0)) {
            return fd;
        }
        close(fd);
    }
}
