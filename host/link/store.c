/* SPDX-License-Identifier: BSD-2-Clause */
/* See store.h. */
#include "host/link/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "host/kymo.h"
#include "host/link/reason.h"
#include "lib/link/service.h"

#define NAMES_MOST 10000

static enum output_policy policy_of(const struct store *store)
{
    return store->force ? OUTPUT_FORCE : OUTPUT_NEW;
}

int store_check(struct store *store)
{
    return store->output ? output_check(store->output, policy_of(store)) : 0;
}

static int link_store_tell_logger(struct store *store, int error)
{
    const struct link_capture word = {LINK_CAPTURE_STORED, -reason_to_target(error), store->bytes};

    return channel_send(store->channel, &word, sizeof(word));
}

static int link_store_fail_with(struct store *store, int error)
{
    link_store_tell_logger(store, error);
    return -error;
}

/* In the folder of the user's file, or here. */
static void name_it(struct store *store, const char *name)
{
    const char *slash = store->output ? strrchr(store->output, '/') : NULL;

    if (name != store->name) {
        snprintf(store->name, sizeof(store->name), "%s", name);
    }
    snprintf(store->path, sizeof(store->path), "%.*s%s",
             slash ? (int)(slash + 1 - store->output) : 0, store->output ? store->output : "",
             store->name);
}

/* The next name to try: trace.kev, trace-DATE.kev, trace-DATE-2.kev, … */
static bool next_name(struct store *store)
{
    char date[32] = "", tag[KYMO_TAG_MOST];
    time_t now = time(NULL);
    struct tm parts;

    if (store->tried++ == 0) {
        name_it(store, store->plain);
        return true;
    }
    if (gmtime_r(&now, &parts)) {
        strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &parts);
    }
    if (store->tried == 2) {
        snprintf(tag, sizeof(tag), "%s", date);
    } else {
        snprintf(tag, sizeof(tag), "%s-%u", date, store->tried - 1);
    }
    kymo_tagged_name(store->plain, tag, store->name);
    name_it(store, store->name);
    return store->tried < NAMES_MOST;
}

/* Links, pipes and folders of that name are not the target's to write to either. */
static int open_new(struct store *store)
{
    struct stat st;

    do {
        if (!next_name(store)) {
            kymo_error("%s: no free name is left for it", store->plain);
            return -EEXIST;
        }
    } while (lstat(store->name, &st) == 0);
    return output_open(&store->file, store->name, OUTPUT_LATER);
}

static int link_store_begin_capture(struct store *store, const uint8_t *name, size_t bytes)
{
    if (store->begun) {
        return -EPROTO;
    }
    store->bytes = store->tried = 0;
    int result;
    if (store->output) {
        const char *slash = strrchr(store->output, '/');

        snprintf(store->plain, sizeof(store->plain), "%s", slash ? slash + 1 : store->output);
        next_name(store);
        result = output_open(&store->file, store->output, policy_of(store));
    } else {
        kymo_plain_name((const char *)name, bytes, store->plain);
        result = open_new(store);
    }

    store->begun = result == 0;
    if (store->begun && store->opened) {
        store->opened(store);
    }
    return result == 0 ? 0 : link_store_fail_with(store, -result);
}

static int link_store_take_bytes(struct store *store, const uint8_t *data, size_t bytes)
{
    if (!store->begun) {
        return -EPROTO;
    }
    int result = output_write(&store->file, data, bytes);

    if (result != 0) {
        kymo_error("%s: %s", store->path, strerror(-result));
        return link_store_fail_with(store, -result);
    }
    store->bytes += bytes;
    return 0;
}

/* Under the first name that is free. The user's own file is replaced only by a whole capture. */
static int link_store_place_file(struct store *store, bool whole)
{
    store->file.replaces = store->file.replaces && whole;
    int result = output_try_commit(&store->file);

    while (result == -EEXIST && (!store->output || !whole) && next_name(store)) {
        result = output_rename(&store->file, store->name);
        result = result == 0 ? output_try_commit(&store->file) : result;
    }
    if (result == -EEXIST) {
        kymo_error("%s: a file of that name was created meanwhile", store->path);
    }
    output_abandon(&store->file);
    if (result == 0 && store->placed) {
        store->placed(store, whole);
    }
    return result;
}

static int link_store_end_capture(struct store *store, uint64_t bytes)
{
    if (!store->begun || bytes != store->bytes) {
        return -EPROTO;
    }
    store->begun = false;
    int result = link_store_place_file(store, true);

    if (result != 0) {
        return link_store_fail_with(store, -result);
    }
    store->stored++;
    if (!store->is_passing && (!store->output || strcmp(store->output, "-") != 0)) {
        kymo_error("the capture: %s, %llu bytes", store->path, (unsigned long long)bytes);
    }
    return link_store_tell_logger(store, 0);
}

int store_message(struct store *store, const uint8_t *bytes, size_t count)
{
    struct link_capture head;

    if (count < sizeof(head)) {
        return -EPROTO;
    }
    memcpy(&head, bytes, sizeof(head));
    switch (head.kind) {
    case LINK_CAPTURE_BEGIN:
        return link_store_begin_capture(store, bytes + sizeof(head), count - sizeof(head));
    case LINK_CAPTURE_DATA:
        return link_store_take_bytes(store, bytes + sizeof(head), count - sizeof(head));
    case LINK_CAPTURE_END:
        return link_store_end_capture(store, head.bytes);
    default:
        return -EPROTO;
    }
}

bool store_incomplete(struct store *store)
{
    if (!store->begun) {
        return false;
    }
    store->begun = false;
    store->file.error = 0; /* what was written before it failed is kept */
    if (store->bytes == 0) {
        kymo_error("%s: INCOMPLETE: nothing of it was received", store->path);
        output_abandon(&store->file);
        if (store->placed) {
            store->placed(store, false);
        }
    } else if (link_store_place_file(store, false) == 0 && !store->is_passing) {
        kymo_error("%s: INCOMPLETE: %llu bytes", store->path, (unsigned long long)store->bytes);
    }
    return true;
}
