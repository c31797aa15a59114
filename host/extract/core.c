/* SPDX-License-Identifier: BSD-2-Clause */
/* See core.h: the file, and what kind it is. */
#include "host/extract/core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"

/* Formats that hold memory in a coded form. */
static const struct {
    const char *magic, *what;
} refused[] = {
    {"\x1f\x8b", "compressed: gunzip it first"},
    {"BZh", "compressed: bunzip2 it first"},
    {"\xfd"
     "7zXZ",
     "compressed: unxz it first"},
    {"(\xb5/\xfd", "compressed: unzstd it first"},
    {"KDUMP ", "a kdump file: dump it as an ELF core (dump-guest-memory without -z)"},
    {"makedumpfile", "a kdump file: dump it as an ELF core (dump-guest-memory without -z)"},
    {"S0", "S-records: dump it as binary"},
    {"S1", "S-records: dump it as binary"},
    {"S3", "S-records: dump it as binary"},
    {":0", "Intel hex: dump it as binary"},
    {":1", "Intel hex: dump it as binary"},
    {":2", "Intel hex: dump it as binary"},
    {"QFI\xfb", "a qcow2 image, which is a disk: kymo extract without --core"},
};

static const char *core_refusal_text(const struct core *core)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        size_t n = strlen(refused[i].magic);

        if (core->size > n && memcmp(core->data, refused[i].magic, n) == 0) {
            return refused[i].what;
        }
    }
    return NULL;
}

int core_add(struct core *core, struct core_part part)
{
    struct core_part *more = realloc(core->part, (core->count + 1) * sizeof(*more));

    if (!more) {
        kymo_error("%s: %s", core->path, strerror(ENOMEM));
        return -1;
    }
    core->part = more;
    core->part[core->count++] = part;
    return 0;
}

static const char *core_mapped_file; /* the file that is in memory */

/* The file has become shorter, or its medium fails: what is mapped can't be read. */
static void on_bus_error(int signo)
{
    static const char why[] = ": it can't be read any more: it has become shorter, or its medium "
                              "fails\n";

    (void)signo;
    ssize_t n = write(STDERR_FILENO, "kymo: ", 6);
    n += write(STDERR_FILENO, core_mapped_file, strlen(core_mapped_file));
    n += write(STDERR_FILENO, why, sizeof(why) - 1);
    output_remove_parts();
    (void)n;
    _exit(KYMO_FAILURE);
}

/* The file in memory: an image may be larger than there is memory. */
static int core_map_file(struct core *core)
{
    int fd = open(core->path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *data = MAP_FAILED;

    if (fd < 0 || fstat(fd, &about) != 0) {
        kymo_error("%s: %s", core->path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        kymo_error("%s: not a file: copy it into one first", core->path);
    } else if (about.st_size == 0) {
        kymo_error("%s: it is empty", core->path);
    } else {
        core->size = (size_t)about.st_size;
        data = mmap(NULL, core->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            kymo_error("%s: %s", core->path, strerror(errno));
        }
    }
    core->fd = fd;
    if (data != MAP_FAILED) {
        core_mapped_file = core->path;
        signal(SIGBUS, on_bus_error);
    }
    core->data = data == MAP_FAILED ? NULL : data;
    return core->data ? 0 : -1;
}

static int read_parts(struct core *core, const uint64_t *base)
{
    const char *what = core_refusal_text(core);

    if (what && !base) {
        kymo_error("%s: %s; if it is plain memory, say where it was: --base ADDRESS", core->path,
                   what);
        return -1;
    }
    if (!base && core->size >= 4 && memcmp(core->data, "\177ELF", 4) == 0) {
        return core_read_elf(core);
    }
    return core_add(core, (struct core_part){core->data, core->size, base ? *base : 0, base});
}

int core_open(struct core *core, const char *path, const uint64_t *base)
{
    *core = (struct core){.path = path, .fd = -1};
    if (core_map_file(core) != 0 || read_parts(core, base) != 0) {
        core_close(core);
        return -1;
    }
    return 0;
}

bool core_is_shorter(const struct core *core)
{
    struct stat about;
    bool shorter = fstat(core->fd, &about) != 0 || (uint64_t)about.st_size < core->size;

    if (shorter) {
        kymo_error("%s: it was truncated while it was read", core->path);
    }
    return shorter;
}

void core_close(struct core *core)
{
    if (core->data) {
        munmap((void *)(uintptr_t)core->data, core->size);
        signal(SIGBUS, SIG_DFL);
    }
    if (core->fd >= 0) {
        close(core->fd);
    }
    core->fd = -1;
    free(core->part);
    core->part = NULL;
    core->data = NULL;
}
