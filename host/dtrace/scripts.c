/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D scripts that come with the command: in the source tree host/scripts/, installed
 * PREFIX/share/kymo/scripts/. The first line of a script's head says what it is for. Tested by
 * test/host/check and test/scripts/package.
 */
#include "host/dtrace/command.h"

#include "host/home.h"
#include "host/kymo.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the folder of the scripts. Returns false if there is none. */
static bool scripts_folder(char *path, size_t room)
{
    struct home home;
    bool found = home_find(&home);
    const char *place = *home.tree ? home.tree : home.boards;
    int length = snprintf(path, room, "%s/%s", place, *home.tree ? "host/scripts" : "scripts");

    return found && length >= 0 && (size_t)length < room;
}

char *scripts_find(const char *name)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];

    if (strchr(name, '/') || access(name, F_OK) == 0 || !scripts_folder(folder, sizeof(folder))) {
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0 ? kymo_memory(strdup(path)) : NULL;
}

/* Prints the script's name and the first line of its head, which follows a line with only the
 * begin of a comment. */
static void script_print(const char *folder, const char *name)
{
    char path[2 * PATH_MAX], line[256] = "";
    bool begun = false, found = false;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *script = fopen(path, "r");
    while (script && !found && fgets(line, sizeof(line), script)) {
        line[strcspn(line, "\n")] = '\0';
        found = begun && strncmp(line, " * ", 3) == 0;
        begun = strcmp(line, "/*") == 0;
    }
    if (script) {
        fclose(script);
    }
    printf("%-14s %s\n", name, found ? line + 3 : "");
}

static int script_is_one(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end && end != entry->d_name && strcmp(end, ".d") == 0;
}

int scripts_list(void)
{
    char folder[PATH_MAX];
    struct dirent **entries = NULL;
    int n = -1;

    errno = ENOENT;
    if (scripts_folder(folder, sizeof(folder))) {
        n = scandir(folder, &entries, script_is_one, alphasort);
    }
    if (n < 0) {
        fprintf(stderr,
                "dtrace: no folder of scripts beside this kymo: %s; `make install` brings it\n",
                strerror(errno));
        return 1;
    }
    for (int i = 0; i < n; i++) {
        script_print(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
