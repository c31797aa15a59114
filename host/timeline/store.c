/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the timeline's arrays. What is small comes from malloc(). A large array is a shared
 * mapping of a file without a name in $TMPDIR: the system writes pages that are not in use to that
 * file, so a timeline may be larger than memory. Room in the file is reserved before it is used, so
 * a full disk is an error and no signal. Proof: test/host/timeline/timeline_test.c.
 */
#define _GNU_SOURCE 1 /* mremap() */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/temporary.h"
#include "host/timeline/make.h"

#define LARGE ((size_t)4 << 20) /* bytes of an array that goes into a file */
#define STORES 16

struct timeline_store {
    struct store {
        void *at; /* NULL: this entry is free */
        size_t bytes;
        int fd;
    } stores[STORES];
};

static struct store *store_of(const struct timeline *timeline, const void *array)
{
    for (unsigned i = 0; timeline->stores != NULL && i < STORES; i++) {
        if (timeline->stores->stores[i].at == array) {
            return &timeline->stores->stores[i];
        }
    }
    return NULL;
}

/* A new file of `bytes`, which has the array's entries. */
static void *store_new(struct timeline *timeline, void *array, size_t had, size_t bytes)
{
    struct store *store;
    void *at = MAP_FAILED;
    int fd;

    if (timeline->stores == NULL) {
        timeline->stores = calloc(1, sizeof(*timeline->stores));
    }
    store = store_of(timeline, NULL);
    if (store == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    fd = temporary_open();
    if (fd < 0) {
        return NULL;
    }
    errno = posix_fallocate(fd, 0, (off_t)bytes);
    if (errno == 0) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (at == MAP_FAILED) {
        int error = errno;

        close(fd);
        errno = error;
        return NULL;
    }
    if (array != NULL) {
        memcpy(at, array, had);
        free(array);
    }
    *store = (struct store){at, bytes, fd};
    return at;
}

void *store_grow(struct timeline *timeline, void *array, size_t had, size_t bytes)
{
    struct store *store = array == NULL ? NULL : store_of(timeline, array);
    void *at;

    if (store == NULL && bytes < LARGE) {
        return realloc(array, bytes);
    }
    if (store == NULL) {
        return store_new(timeline, array, had, bytes);
    }
    errno = posix_fallocate(store->fd, (off_t)store->bytes, (off_t)(bytes - store->bytes));
    if (errno != 0) {
        return NULL;
    }
    at = mremap(store->at, store->bytes, bytes, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) {
        return NULL;
    }
    store->at = at;
    store->bytes = bytes;
    return at;
}

void store_free(struct timeline *timeline, void *array)
{
    struct store *store = array == NULL ? NULL : store_of(timeline, array);

    if (store == NULL) {
        free(array);
        return;
    }
    munmap(store->at, store->bytes);
    close(store->fd);
    store->at = NULL;
}

void timeline_rest(const struct timeline *timeline)
{
    for (unsigned i = 0; timeline->stores != NULL && i < STORES; i++) {
        const struct store *store = &timeline->stores->stores[i];

        if (store->at != NULL) {
            madvise(store->at, store->bytes, MADV_DONTNEED); /* of a shared mapping: kept */
        }
    }
}
