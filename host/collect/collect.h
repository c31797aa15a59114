/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo collect: takes the captures of many targets at once into one folder. A child process a
 * target has the link (device.c), the parent the accounts (index.c) and the disk (disk.c). What was
 * lost on the way is counted: captures without an end, and captures that had to go for others.
 * docs/guide/collect.md; proof: test/host/collect/check, test/host/collect/collect_test.c.
 */
#ifndef HOST_COLLECT_COLLECT_H
#define HOST_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "host/journal.h"

#define COLLECT_DEVICES 256
#define COLLECT_NAME 64
#define COLLECT_LINE 1024
#define COLLECT_INDEX "collect.jsonl"
#define COLLECT_VERSION 1u /* of its lines; a line without one is of version 1 */

/* A child's report on a capture. */
struct collect_report {
    uint64_t bytes;
    uint8_t is_whole;
    char name[256]; /* of its file, in the device's folder */
};

struct device {
    char name[COLLECT_NAME]; /* and its folder's */
    const char *target;
    pid_t pid;               /* 0: no child runs */
    int reports, words;      /* its pipes, -1: closed */
    char line[COLLECT_LINE]; /* of its messages, not complete yet */
    size_t used;
    char said[COLLECT_LINE]; /* its latest message, which is not repeated */
    time_t again;            /* when the next child starts; monotonic */
    unsigned wait;           /* seconds, doubled each time */
    bool is_asked;           /* to end */
    /* The account. */
    uint64_t stored, stored_bytes;
    uint64_t incomplete, incomplete_bytes; /* the link or the target ended first */
    uint64_t deleted, deleted_bytes;       /* to make room */
    uint64_t breaks;                       /* times the link was lost or could not be had */
};

struct collect {
    int folder;             /* file descriptor */
    struct journal journal; /* the index */
    const char *path;       /* the folder's, for messages */
    uint64_t most;          /* bytes in the folder */
    struct device *devices;
    unsigned ndevices;
    bool is_failed; /* the index could not be written */
};

/* device.c. Starts the child of a device, whose folder is there. Returns false after a message. */
bool device_start(struct collect *collect, struct device *device);
/* Takes what the child's pipes have. */
void device_read(struct collect *collect, struct device *device);
/* Asks the child to end. */
void device_stop(struct device *device);
/* Notes that the child has ended, and when to start the next one. */
void device_ended(struct collect *collect, struct device *device, time_t now);

/* index.c. Appends a line about a capture: "stored", "incomplete", "deleted". */
void index_put(struct collect *collect, const struct device *device, const char *what,
               const char *name, uint64_t bytes);
/* The version of a line, without its newline or with it. */
unsigned index_version(const char *line);
/* Opens the folder, makes it if need be, and locks it. False: it can't be, as reported. */
bool index_open(struct collect *collect);
/* [NAME=]TARGET. False: the name can't be one of a folder. */
bool index_name(const char *word, char name[COLLECT_NAME], const char **target);

/* disk.c. Deletes the oldest captures until the folder holds at most `most` bytes. If what is still
 * being received alone has more, asks the device that has the most of it to end. */
void disk_bound(struct collect *collect);
/* Reads "64M". False: no size, or 0. */
bool disk_size(const char *text, uint64_t *bytes);

#endif
