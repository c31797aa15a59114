/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes at an offset. A regular file is read where it lies; a pipe is copied to an unlinked
 * temporary file first, because merging by time needs to go back to every CPU's buffers. Memory is
 * read where it lies.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/reader/reader.h"
#include "host/temporary.h"

#define WINDOW_BYTES 65536
#define WINDOW_LEAST 512 /* around a small read away from the previous one */
_Static_assert(2 * KEV_LOOK_MOST <= WINDOW_BYTES, "two looks in order fit the window");

const volatile int *kev_interrupted;
void (*kev_progress)(void *arg, uint64_t done, uint64_t total);

static int reader_file_spool_open(struct kev_error *error, const char *path)
{
    int fd = temporary_open();

    return fd >= 0 ? fd
                   : kev_fail_plain(error, path, "cannot keep a copy of the stream in %s: %s",
                                    temporary_place(), strerror(errno));
}

static int pipe_start(struct kev_file *file, int fd, struct kev_error *error)
{
    file->pipe = fd;
    file->spooled = true;
    file->fd = reader_file_spool_open(error, file->path);
    return file->fd < 0 ? -1 : 0;
}

/* Returns a descriptor of the reader's own, or -1 and errno. */
static int reader_file_source_open(const char *path, const struct kev_options *options)
{
    if (options->by_descriptor) {
        return fcntl(options->descriptor, F_DUPFD_CLOEXEC, 0);
    }
    return strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
}

int kev_file_open(struct kev_file *file, const char *path, const struct kev_options *options,
                  struct kev_error *error)
{
    bool named = options->memory != NULL || options->by_descriptor;
    bool standard = !named && strcmp(path, "-") == 0;
    struct stat st;
    int fd;

    file->fd = -1;
    file->pipe = -1;
    file->memory = options->memory;
    file->size = options->memory == NULL ? 0 : options->memory_bytes;
    file->path = kev_copy(standard ? "standard input" : path, standard ? 14 : strlen(path));
    if (file->path == NULL) {
        return kev_fail_memory(error, path, "out of memory");
    }
    if (file->memory != NULL) {
        return 0;
    }
    fd = reader_file_source_open(path, options);
    if (fd < 0 || fstat(fd, &st) != 0) {
        kev_fail_plain(error, file->path, "cannot open: %s", strerror(errno));
        error->incomplete = errno == ENOENT;
        return -1;
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return kev_fail_plain(error, file->path, "is a directory, not a capture");
    }
    if (S_ISREG(st.st_mode)) {
        file->fd = fd;
        file->size = (uint64_t)st.st_size;
        if (options->by_descriptor && options->memory_bytes > 0 &&
            options->memory_bytes < file->size) {
            file->size = options->memory_bytes;
        }
        return 0;
    }
    if (pipe_start(file, fd, error) != 0) {
        return -1;
    }
    return kev_file_refresh(file, options->follow, error);
}

void kev_file_close(struct kev_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (file->pipe >= 0) {
        close(file->pipe);
    }
    free(file->path);
    free(file->window);
    file->window = NULL;
    file->fd = -1;
    file->pipe = -1;
    file->path = NULL;
}

static int spool_write(struct kev_file *file, const char *bytes, size_t len,
                       struct kev_error *error)
{
    while (len > 0) {
        ssize_t n = pwrite(file->fd, bytes, len, (off_t)file->size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return kev_fail_plain(error, file->path, "cannot keep a copy of the stream: %s",
                                  strerror(errno));
        }
        file->size += (uint64_t)n;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Takes what the pipe has; when following, without waiting for more. */
static int pipe_drain(struct kev_file *file, bool follow, struct kev_error *error)
{
    char bytes[65536];

    while (file->pipe >= 0) {
        struct pollfd ready = {.fd = file->pipe, .events = POLLIN};
        ssize_t n;

        if (follow && poll(&ready, 1, 0) == 0) {
            return 0;
        }
        n = read(file->pipe, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return kev_fail_plain(error, file->path, "cannot read: %s", strerror(errno));
        }
        if (n == 0) {
            close(file->pipe);
            file->pipe = -1;
        } else if (spool_write(file, bytes, (size_t)n, error) != 0) {
            return -1;
        }
    }
    return 0;
}

int kev_file_truncated(const struct kev_file *file, struct kev_error *error)
{
    return kev_fail_plain(error, file->path,
                          "was truncated while it was read: it was started again");
}

int kev_file_refresh(struct kev_file *file, bool follow, struct kev_error *error)
{
    struct stat st;

    file->window_bytes = 0;
    if (file->memory != NULL) {
        return 0;
    }
    if (file->pipe >= 0) {
        return pipe_drain(file, follow, error);
    }
    if (fstat(file->fd, &st) != 0) {
        return kev_fail_plain(error, file->path, "cannot read: %s", strerror(errno));
    }
    if ((uint64_t)st.st_size < file->size) {
        return kev_file_truncated(file, error);
    }
    file->size = (uint64_t)st.st_size;
    return 0;
}

int kev_file_wait(struct kev_file *file, struct kev_error *error)
{
    struct pollfd ready = {.fd = file->pipe, .events = POLLIN};

    if (poll(&ready, 1, -1) < 0) {
        return kev_fail_plain(error, file->path, "cannot read: %s", strerror(errno));
    }
    return kev_file_refresh(file, true, error);
}

/* Reads from the file itself, bytes that it had at the previous refresh. */
static int file_pread(struct kev_file *file, uint64_t offset, void *buffer, size_t len,
                      struct kev_error *error)
{
    size_t got = 0;

    if (kev_interrupted != NULL && *kev_interrupted != 0) {
        return kev_fail_plain(error, file->path, "interrupted");
    }
    while (got < len) {
        ssize_t n = pread(file->fd, (char *)buffer + got, len - got, (off_t)(offset + got));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return kev_fail_plain(error, file->path, "cannot read: %s", strerror(errno));
        }
        if (n == 0) {
            return kev_file_truncated(file, error);
        }
        got += (size_t)n;
    }
    return 0;
}

/* Returns how many of the bytes wanted are before the file's end. */
static size_t file_part(const struct kev_file *file, uint64_t offset, size_t len)
{
    uint64_t left = offset >= file->size ? 0 : file->size - offset;

    return len > left ? (size_t)left : len;
}

/* Fills the window, far ahead if the file is read in order. Then the window begins with the last
 * small read: after a buffer's head and its trailer the slots between them are read. */
static int window_fill(struct kev_file *file, uint64_t offset, size_t len, struct kev_error *error)
{
    bool in_order = offset >= file->looked_at && offset - file->looked_at <= KEV_LOOK_MOST;
    uint64_t from = in_order ? file->looked_at : offset;
    size_t want = in_order ? WINDOW_BYTES : len < WINDOW_LEAST ? WINDOW_LEAST : len;
    size_t part = file_part(file, from, want);

    if (file->window == NULL) {
        file->window = malloc(WINDOW_BYTES);
    }
    file->window_bytes = 0;
    if (file->window == NULL) {
        return kev_fail_memory(error, file->path, "out of memory");
    }
    if (file_pread(file, from, file->window, part, error) != 0) {
        return -1;
    }
    file->window_at = from;
    file->window_bytes = part;
    return 0;
}

long kev_file_look(struct kev_file *file, uint64_t offset, size_t len, const uint8_t **bytes,
                   struct kev_error *error)
{
    len = file_part(file, offset, len);
    if (len == 0) {
        return 0;
    }
    if (file->memory != NULL) {
        *bytes = file->memory + offset;
        return (long)len;
    }
    if ((offset < file->window_at || offset + len > file->window_at + file->window_bytes) &&
        window_fill(file, offset, len, error) != 0) {
        return -1;
    }
    file->looked_at = offset;
    *bytes = file->window + (offset - file->window_at);
    return (long)len;
}

long kev_file_read(struct kev_file *file, uint64_t offset, void *buffer, size_t len,
                   struct kev_error *error)
{
    const uint8_t *bytes;
    long got;

    len = file_part(file, offset, len);
    if (len == 0) {
        return 0;
    }
    if (file->memory == NULL && len > WINDOW_LEAST) {
        return file_pread(file, offset, buffer, len, error) != 0 ? -1 : (long)len;
    }
    got = kev_file_look(file, offset, len, &bytes, error);
    if (got > 0) {
        memcpy(buffer, bytes, (size_t)got);
    }
    return got;
}
