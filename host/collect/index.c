/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of a collection: a folder a device, and collect.jsonl, a line for each thing that
 * happened to a capture. A line is on the medium before anything else is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dirent.h>

#include "host/collect/collect.h"
#include "host/json_text.h"
#include "host/kymo.h"
#include "host/output_part.h"
#include "host/name.h"

bool index_name(const char *word, char name[COLLECT_NAME], const char **target)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *equals = strchr(word, '=');
    const char *from = word;
    size_t length = equals == NULL ? 0 : (size_t)(equals - word);

    *target = equals == NULL ? word : equals + 1;
    if (equals == NULL) { /* unix:/tmp/line3 is line3 */
        const char *slash = strrchr(word, '/'), *colon = strchr(word, ':');

        from = slash != NULL ? slash + 1 : colon != NULL ? colon + 1 : word;
        length = strlen(from);
    }
    if (length == 0 || length >= COLLECT_NAME || from[0] == '.' || **target == '\0') {
        return false;
    }
    if (length == strlen(COLLECT_INDEX) && strncasecmp(from, COLLECT_INDEX, length) == 0) {
        return false; /* the index has that name */
    }
    for (size_t i = 0; i < length; i++) {
        /* A name that was made of a target may have others: tcp:board:4000. */
        bool good = strchr(plain, from[i]) != NULL;

        if (!good && equals != NULL) {
            return false;
        }
        name[i] = good ? from[i] : '-';
    }
    name[length] = '\0';
    return true;
}

/* Text in JSON: names of files hold what kymo_plain_name() leaves, a target's words none. */
static void collect_index_json_text(char *to, size_t room, const char *text)
{
    size_t n = 0;

    for (; *text != '\0' && n + JSON_CHAR_MOST < room; text++) {
        n += json_byte(to + n, (unsigned char)*text);
    }
    to[n] = '\0';
}

void index_put(struct collect *collect, const struct device *device, const char *what,
               const char *name, uint64_t bytes)
{
    char line[JOURNAL_LINE], text[2048], date[32] = "";
    time_t now = time(NULL);
    struct tm parts;

    if (gmtime_r(&now, &parts) != NULL) {
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    collect_index_json_text(text, sizeof(text), name);
    int n = snprintf(line, sizeof(line),
                     "{\"time\":\"%s\",\"device\":\"%s\",\"what\":\"%s\",\"file\":\"%s/%s\","
                     "\"bytes\":%llu,\"version\":%u}\n",
                     date, device->name, what, device->name, text, (unsigned long long)bytes,
                     COLLECT_VERSION);
    int error = journal_append(&collect->journal, line, (size_t)n);

    if (error != 0) {
        kymo_error(
            "%s/%s: %s: it has no line that says %s: %s/%s, %llu bytes; make room, or name a "
            "new folder",
            collect->path, COLLECT_INDEX, strerror(-error), what, device->name, name,
            (unsigned long long)bytes);
        collect->is_failed = true;
    }
}

unsigned index_version(const char *line)
{
    const char *at = strrchr(line, ','); /* the last member; names can't hold its quotes */
    unsigned version;

    return at != NULL && sscanf(at, ",\"version\":%u", &version) == 1 ? version : 1;
}

/* False after a message: the last whole line is of a later kymo. */
static bool collect_index_is_known(const struct collect *collect)
{
    char text[8192], why[160];
    off_t end = lseek(collect->journal.fd, 0, SEEK_END);
    off_t from = end > (off_t)sizeof(text) - 1 ? end - ((off_t)sizeof(text) - 1) : 0;
    ssize_t length = pread(collect->journal.fd, text, sizeof(text) - 1, from);
    char *last;
    unsigned version;

    text[length > 0 ? length : 0] = '\0';
    last = strrchr(text, '\n');
    if (last == NULL) {
        return true;
    }
    *last = '\0';
    version = index_version(text);
    if (version == COLLECT_VERSION) {
        return true;
    }
    snprintf(why, sizeof(why),
             "%s has lines of version %u, this kymo writes version %u; use the kymo that made it, "
             "or name a new folder",
             COLLECT_INDEX, version, COLLECT_VERSION);
    kymo_error("collect: %s/%s", collect->path, why);
    return false;
}

/* Returns true if there is nothing in the folder. */
static bool collect_index_folder_is_empty(int folder)
{
    int copy = dup(folder);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    bool empty = dir != NULL;

    for (struct dirent *e; empty && (e = readdir(dir)) != NULL;) {
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return empty;
}

static bool collect_index_refuse_folder(const struct collect *collect, const char *why)
{
    kymo_error("collect: %s: %s", collect->path, why);
    return false;
}

/* A part that a killed collection had received of a capture, "x.kev.kymo-aBcDeF.part" (before 0.2
 * without the mark), becomes x-aBcDeF.kev. The lock says that nobody writes to it any more. */
static void part_adopt(struct collect *collect, struct device *device, int folder, const char *part)
{
    char stem[KYMO_NAME_MOST], tagged[KYMO_NAME_MOST], name[KYMO_NAME_MOST], *tag;
    struct stat st;

    snprintf(stem, sizeof(stem), "%s", part);
    stem[strlen(stem) - (sizeof(".part") - 1)] = '\0';
    tag = strrchr(stem, '.');
    if (tag == NULL || tag == stem || strlen(tag) >= KYMO_TAG_MOST ||
        fstatat(folder, part, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    *tag++ = '\0';
    if (strncmp(tag, OUTPUT_PART_MARK, strlen(OUTPUT_PART_MARK)) == 0) {
        tag += strlen(OUTPUT_PART_MARK);
    }
    kymo_tagged_name(stem, tag, tagged);
    kymo_plain_name(tagged, strlen(tagged), name); /* a long name's part has lost its ".kev" */
    if (renameat2(folder, part, folder, name, RENAME_NOREPLACE) != 0) {
        kymo_error("%s/%s/%s: an incomplete capture that cannot be renamed to %s, and is not "
                   "counted: %s",
                   collect->path, device->name, part, name, strerror(errno));
        return;
    }
    fsync(folder); /* else a power cut would have it counted twice */
    device->incomplete++;
    device->incomplete_bytes += (uint64_t)st.st_size;
    index_put(collect, device, "incomplete", name, (uint64_t)st.st_size);
}

static void parts_adopt(struct collect *collect, struct device *device)
{
    int fd = openat(collect->folder, device->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);

        if (n > sizeof(".part") && n < KYMO_NAME_MOST &&
            strcmp(e->d_name + n - (sizeof(".part") - 1), ".part") == 0) {
            part_adopt(collect, device, dirfd(dir), e->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* Opens the index, which is in the folder for ever once this has returned true. */
static bool index_file_open(struct collect *collect)
{
    int fd = openat(collect->folder, COLLECT_INDEX, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 && errno == ENOENT) {
        if (!collect_index_folder_is_empty(collect->folder)) {
            return collect_index_refuse_folder(
                collect, "is no folder of kymo collect: it has files, but no " COLLECT_INDEX
                         "; name a new folder");
        }
        fd = openat(collect->folder, COLLECT_INDEX,
                    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    collect->journal.fd = fd;
    if (fd < 0) {
        return collect_index_refuse_folder(collect, strerror(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return collect_index_refuse_folder(
            collect, errno == EWOULDBLOCK ? "another kymo collect has it" : strerror(errno));
    }
    return true;
}

/* A crash or a power cut may have torn the latest line. What it said of its capture is printed:
 * the capture itself is in its device's folder. */
static bool index_journal_open(struct collect *collect)
{
    char torn[160];
    size_t cut;
    int error = journal_open(&collect->journal, collect->journal.fd, torn, sizeof(torn), &cut);

    if (error == -EINVAL) {
        return collect_index_refuse_folder(collect, COLLECT_INDEX " has no lines of kymo collect; "
                                                                  "name a new folder");
    }
    if (error != 0) {
        kymo_error("%s/%s: %s", collect->path, COLLECT_INDEX, strerror(-error));
        return false;
    }
    if (cut > 0) {
        kymo_error("%s/%s: its last line was torn by a crash and is cut off: %s", collect->path,
                   COLLECT_INDEX, torn);
    }
    return true;
}

static bool index_device_folder(const struct collect *collect, const char *name)
{
    struct stat st;

    if ((mkdirat(collect->folder, name, 0777) != 0 && errno != EEXIST) ||
        fstatat(collect->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        kymo_error("%s/%s: %s", collect->path, name, strerror(errno));
        return false;
    }
    if (!S_ISDIR(st.st_mode)) {
        kymo_error("%s/%s: is no folder: give NAME=TARGET", collect->path, name);
        return false;
    }
    return true;
}

bool index_open(struct collect *collect)
{
    if (mkdir(collect->path, 0777) != 0 && errno != EEXIST) {
        return collect_index_refuse_folder(collect, strerror(errno));
    }
    collect->folder = open(collect->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (collect->folder < 0) {
        return collect_index_refuse_folder(collect, strerror(errno));
    }
    /* Captures are deleted to make room, so the folder must be one that collect has made. */
    if (!index_file_open(collect) || !index_journal_open(collect)) {
        return false;
    }
    if (!collect_index_is_known(collect)) {
        return false;
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        if (!index_device_folder(collect, collect->devices[i].name)) {
            return false;
        }
    }
    /* A line and a capture are on the medium only if the folders that have them are. */
    if (fsync(collect->folder) != 0 && errno != EINVAL && errno != ENOTSUP) {
        return collect_index_refuse_folder(collect, strerror(errno));
    }
    for (unsigned i = 0; i < collect->ndevices; i++) {
        parts_adopt(collect, &collect->devices[i]);
    }
    return !collect->is_failed;
}
