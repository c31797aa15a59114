/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bound of a collection's disk space. Only captures in the devices' folders count and go:
 * NAME.kev, and NAME.kev.kymo-XXXXXX.part while it is being received. A capture that goes for
 * others is a loss, and is counted and told as one.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/kymo.h"

bool disk_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "kMGT";
    char *end;

    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end == '\0' ? NULL : strchr(units, *end == 'K' ? 'k' : *end);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);

    if (!isdigit((unsigned char)*text) || errno != 0 || n == 0 || n > UINT64_MAX >> shift ||
        (*end != '\0' && (unit == NULL || end[1] != '\0'))) {
        return false;
    }
    *bytes = n << shift;
    return true;
}

static bool collect_disk_ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    return n > m && strcmp(name + n - m, suffix) == 0;
}

struct oldest {
    struct device *device; /* NULL: there is none */
    struct timespec time;
    uint64_t bytes;
    char name[256];
};

struct usage {
    uint64_t bytes;
    struct oldest oldest;    /* of the captures that are complete */
    struct device *receives; /* which receives the largest one */
    uint64_t receives_bytes;
};

static bool collect_disk_is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void file_count(struct usage *usage, struct device *device, const char *name,
                       const struct stat *st)
{
    uint64_t bytes = (uint64_t)st->st_size;

    usage->bytes += bytes;
    if (collect_disk_ends_with(name, ".part")) {
        if (usage->receives == NULL || bytes > usage->receives_bytes) {
            usage->receives = device;
            usage->receives_bytes = bytes;
        }
    } else if (usage->oldest.device == NULL ||
               collect_disk_is_older(&st->st_mtim, &usage->oldest.time)) {
        usage->oldest.device = device;
        usage->oldest.time = st->st_mtim;
        usage->oldest.bytes = bytes;
        snprintf(usage->oldest.name, sizeof(usage->oldest.name), "%s", name);
    }
}

static void folder_count(struct collect *collect, struct usage *usage, struct device *device)
{
    int fd = openat(collect->folder, device->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct stat st;

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if ((collect_disk_ends_with(e->d_name, ".kev") ||
             collect_disk_ends_with(e->d_name, ".part")) &&
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
            file_count(usage, device, e->d_name, &st);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* Returns false if the file can't be deleted, as reported. */
static bool oldest_delete(struct collect *collect, const struct oldest *oldest)
{
    struct device *device = oldest->device;
    char path[COLLECT_NAME + 257];

    snprintf(path, sizeof(path), "%s/%s", device->name, oldest->name);
    if (unlinkat(collect->folder, path, 0) != 0) {
        kymo_error("%s/%s: %s", collect->path, path, strerror(errno));
        return false;
    }
    device->deleted++;
    device->deleted_bytes += oldest->bytes;
    index_put(collect, device, "deleted", oldest->name, oldest->bytes);
    kymo_error("%s: deleted to make room: %s, %llu bytes", device->name, oldest->name,
               (unsigned long long)oldest->bytes);
    return true;
}

void disk_bound(struct collect *collect)
{
    bool done = false;

    while (!done) {
        struct usage usage = {0};

        for (unsigned i = 0; i < collect->ndevices; i++) {
            folder_count(collect, &usage, &collect->devices[i]);
        }
        if (usage.bytes <= collect->most) {
            return;
        }
        done = true;
        if (usage.oldest.device != NULL) {
            done = !oldest_delete(collect, &usage.oldest);
        } else if (usage.receives != NULL && usage.receives->pid > 0 && !usage.receives->is_asked) {
            kymo_error("%s: more than --disk allows: its capture is ended", usage.receives->name);
            device_stop(usage.receives);
        }
    }
}
