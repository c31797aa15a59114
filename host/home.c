/* SPDX-License-Identifier: BSD-2-Clause */
/* See home.h. */
#include "host/home.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Cuts the last part off a path. Returns that part, or NULL if the path has no other part. */
static const char *path_cut(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path) {
        return NULL;
    }
    *slash = '\0';
    return slash + 1;
}

bool home_find(struct home *home)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const char *folder;

    *home = (struct home){.tree = ""};
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    if (!path_cut(path)) { /* now the executable's folder */
        return false;
    }
    snprintf(home->boards, sizeof(home->boards), "%s", path);
    folder = path_cut(path);
    if (folder && strcmp(folder, "build") == 0) {
        snprintf(home->tree, sizeof(home->tree), "%s", path);
        return true;
    }
    return folder && strcmp(folder, "bin") == 0 &&
           snprintf(home->boards, sizeof(home->boards), "%s/share/kymo", path) <
               (int)sizeof(home->boards) &&
           access(home->boards, R_OK | X_OK) == 0;
}

bool home_image(const struct home *home, const char *board, const char *image, char *path,
                size_t room)
{
    int length = snprintf(path, room, "%s/%s/test-images/%s.elf", home->boards, board, image);

    if (length >= 0 && (size_t)length < room && access(path, F_OK) == 0) {
        return true;
    }
    length = snprintf(path, room, "%s/%s/%s.elf", home->boards, board, image);
    return length >= 0 && (size_t)length < room;
}
