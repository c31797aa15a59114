/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELFs of a target that is this machine: those of the process of -p or -c, and those of --elf. A
 * program's types and symbols have its file's name before the backquote. Internal to host/dtrace;
 * unreadable ones are skipped, except for --elf. Tested by test/d/rows/programs.rows.
 */
#include "host/dtrace/command.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Where the file's first segment was linked to, at the start of its page. */
static bool linked_at(const char *path, uint64_t *address)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    GElf_Phdr header;
    size_t n = 0;

    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_getphdrnum(elf, &n) == 0) {
        for (size_t i = 0; i < n && !found; i++) {
            found = gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD;
        }
    }
    if (found) {
        *address = header.p_vaddr & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1);
    }
    elf_end(elf);
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

/* Where a process has that file: the lowest mapping. */
static bool loaded_at(pid_t pid, const char *path, uint64_t *address)
{
    char maps[40], line[PATH_MAX + 128];
    bool found = false;

    snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
    FILE *f = fopen(maps, "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        char *name = strchr(line, '/');
        unsigned long long start;
        line[strcspn(line, "\n")] = '\0';
        found = name && strcmp(name, path) == 0 && sscanf(line, "%llx-", &start) == 1;
        *address = found ? start : 0;
    }
    if (f) {
        fclose(f);
    }
    return found;
}

void command_add_program(struct command *c, const char *path)
{
    dt_session_add_elf(c->session, path, base_name(path), false);
}

void command_add_process(struct command *c)
{
    char link[40], path[PATH_MAX];
    uint64_t linked, loaded;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)c->pid);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n <= 0) {
        return;
    }
    path[n] = '\0';
    bool known = linked_at(link, &linked) && loaded_at(c->pid, path, &loaded);
    dt_session_add_elf_at(c->session, link, base_name(path), false, known ? loaded - linked : 0);
}

bool command_add_elves_here(struct command *c)
{
    for (unsigned i = 0; i < c->nelves; i++) {
        errno = 0;
        if (!dt_session_add_elf(c->session, c->elves[i], base_name(c->elves[i]), false)) {
            fprintf(stderr, "dtrace: failed to read %s: %s\n", c->elves[i],
                    errno ? strerror(errno) : "it is no ELF");
            return false;
        }
    }
    return true;
}
