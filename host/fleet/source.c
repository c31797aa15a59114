/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which captures, and where each is from: an option says it, else the index of `kymo collect`, else
 * the capture's path (path.c), else the capture itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/csv_text.h"
#include "host/fleet/fleet.h"
#include "host/kymo.h"
#include "host/verify/verify.h"

/* ---- options ----------------------------------------------------------------------- */

bool fleet_is_date(const char *text)
{
    struct tm day = {0}, again;
    const char *end = strptime(text, "%Y-%m-%d", &day);

    if (strlen(text) != 10 || end == NULL || *end != '\0') {
        return false;
    }
    again = day;
    return timegm(&again) != -1 && again.tm_mday == day.tm_mday; /* February 30 is another day */
}

int fleet_option_use(const char *command, struct fleet_options *options, int option,
                     const char *value)
{
    if (option == FLEET_OPT_RECOVER) {
        options->recover = true;
        return KYMO_OK;
    }
    if (option == FLEET_OPT_DATE) {
        options->date = value;
        return fleet_is_date(value)
                   ? KYMO_OK
                   : kymo_usage(command, "%s: --date: %s: is no day YYYY-MM-DD", command, value);
    }
    if (option == FLEET_OPT_PATH) {
        options->path = value;
        return fleet_path_is_rule(value)
                   ? KYMO_OK
                   : kymo_usage(command,
                                "%s: --path: %s: is no rule of the words DEVICE, FIRMWARE, DATE "
                                "and * with a / between, as DEVICE/*/DATE or */DEVICE.kev",
                                command, value);
    }
    if (value[0] == '\0' || strlen(value) > FLEET_GIVEN) {
        return kymo_usage(command, "%s: a name has 1 to %d bytes, not %zu", command, FLEET_GIVEN,
                          strlen(value));
    }
    *(option == FLEET_OPT_DEVICE ? &options->device : &options->firmware) = value;
    return KYMO_OK;
}

/* ---- what there is ----------------------------------------------------------------- */

static struct fleet_source *source_add(struct fleet_sources *sources, const char *path)
{
    struct fleet_source *list = sources->list;

    if ((sources->count & (sources->count - 1)) == 0) { /* a power of two: room is needed */
        list =
            reallocarray(list, sources->count == 0 ? 1 : 2 * (size_t)sources->count, sizeof(*list));
    }
    if (list == NULL) {
        kymo_error("out of memory");
        return NULL;
    }
    sources->list = list;
    list[sources->count] = (struct fleet_source){.path = strdup(path)};
    if (list[sources->count].path == NULL) {
        kymo_error("out of memory");
        return NULL;
    }
    return &list[sources->count++];
}

void fleet_sources_free(struct fleet_sources *sources)
{
    for (unsigned i = 0; i < sources->count; i++) {
        free(sources->list[i].path);
    }
    free(sources->list);
}

/* The value of a member of a line of collect.jsonl, whose texts are ASCII with \u00XX. */
static bool member_read(const char *line, const char *name, char *to, size_t room)
{
    char key[32];
    const char *at;
    size_t n = 0;

    snprintf(key, sizeof(key), "\"%s\":\"", name);
    at = strstr(line, key);
    if (at == NULL) {
        return false;
    }
    for (at += strlen(key); *at != '"'; n++) {
        unsigned code;

        if (*at == '\0' || n + 1 >= room) {
            return false;
        }
        if (*at != '\\') {
            to[n] = *at++;
        } else if (sscanf(at, "\\u%4x", &code) == 1 && code < 256) {
            to[n] = (char)code;
            at += 6;
        } else {
            return false;
        }
    }
    to[n] = '\0';
    return true;
}

/* The capture that a line is about; a file that was deleted is not there any more. */
static int fleet_source_line_take(struct fleet_sources *sources, const char *folder,
                                  const char *line)
{
    char what[16], device[FLEET_NAME + 1], file[1024], when[32], path[PATH_MAX];
    struct fleet_source *source;

    if (index_version(line) != COLLECT_VERSION) {
        kymo_error(
            "%s/%s: a line of version %u, this kymo reads version %u: use the kymo that made "
            "it",
            folder, COLLECT_INDEX, index_version(line), COLLECT_VERSION);
        return -1;
    }
    if (!member_read(line, "what", what, sizeof(what)) ||
        !member_read(line, "device", device, sizeof(device)) ||
        !member_read(line, "file", file, sizeof(file)) ||
        !member_read(line, "time", when, sizeof(when)) || strstr(file, "..") != NULL) {
        kymo_error("%s/%s: no line of kymo collect: %.60s", folder, COLLECT_INDEX, line);
        return -1;
    }
    if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path) ||
        strcmp(what, "deleted") == 0 || access(path, F_OK) != 0) {
        return 0;
    }
    source = source_add(sources, path);
    if (source == NULL) {
        return -1;
    }
    snprintf(source->device, sizeof(source->device), "%s", device);
    when[10] = '\0';
    if (fleet_is_date(when)) {
        memcpy(source->date, when, sizeof(source->date));
    }
    return 0;
}

/* Before 0.3 a line was appended to one that a crash or a full disk had torn. Returns the whole
 * one, and reports the other. No text in a line has this beginning: its quotes are escaped. */
static const char *fleet_source_whole_line(const char *folder, const char *line)
{
    const char *next;

    while ((next = strstr(line + 1, "{\"time\":\"")) != NULL) {
        kymo_error("%s/%s: a torn line is skipped: %.*s", folder, COLLECT_INDEX, (int)(next - line),
                   line);
        line = next;
    }
    return line;
}

/* Takes what an index of `kymo collect` says, if the folder has one. Returns 1 if it has. */
static int fleet_source_index_take(struct fleet_sources *sources, const char *folder)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    int status = 1;
    FILE *index;

    snprintf(path, sizeof(path), "%s/%s", folder, COLLECT_INDEX);
    index = fopen(path, "re");
    if (index == NULL && errno == ENOENT) {
        return 0;
    }
    if (index == NULL) {
        kymo_error("%s: %s", path, strerror(errno));
        return -1;
    }
    /* The last line may be incomplete, while kymo collect runs or after a power cut. */
    while (status > 0 && getline(&line, &room, index) > 0 && strchr(line, '\n') != NULL) {
        status = fleet_source_line_take(sources, folder, fleet_source_whole_line(folder, line)) == 0
                     ? 1
                     : -1;
    }
    free(line);
    fclose(index);
    return status;
}

/* A capture in a device's folder of `kymo collect` has the name of that, whatever its index says of
 * it. */
static void device_guess(struct fleet_source *source)
{
    char *path = realpath(source->path, NULL), index[PATH_MAX], *name;
    char *slash = path == NULL ? NULL : strrchr(path, '/');

    if (slash != NULL) {
        *slash = '\0';
        name = strrchr(path, '/');
        if (name != NULL && strlen(name + 1) <= FLEET_NAME &&
            snprintf(index, sizeof(index), "%s/../%s", path, COLLECT_INDEX) < (int)sizeof(index) &&
            access(index, F_OK) == 0) {
            snprintf(source->device, sizeof(source->device), "%s", name + 1);
        }
    }
    free(path);
}

/* A folder that is being searched. */
struct fleet_source_folder {
    struct fleet_sources *sources;
    const char *path;
    unsigned from, indexed; /* the sources that its index has, sorted by path */
};

static int fleet_source_compare(const void *a, const void *b)
{
    return strcmp(((const struct fleet_source *)a)->path, ((const struct fleet_source *)b)->path);
}

/* Adds a capture that the index has not. What --path says outdoes the index. */
static int fleet_source_walk(void *arg, const char *path, const char *below)
{
    const struct fleet_source_folder *folder = arg;
    struct fleet_sources *sources = folder->sources;
    const char *rule = sources->options->path;
    struct fleet_source *source, key;
    char name[PATH_MAX];

    snprintf(name, sizeof(name), "%s/%s", folder->path, below);
    key.path = name;
    source = folder->indexed == 0 ? NULL
                                  : bsearch(&key, sources->list + folder->from, folder->indexed,
                                            sizeof(*source), fleet_source_compare);
    if (source != NULL && rule == NULL) {
        return 0;
    }
    source = source != NULL ? source : source_add(sources, path);
    if (source == NULL) {
        return -1;
    }
    if (rule == NULL) {
        device_guess(source);
        rule = source->device[0] != '\0' ? "*" : "DEVICE";
    }
    return fleet_path_use(source, rule, below);
}

static int folder_take(struct fleet_sources *sources, const char *path)
{
    struct fleet_source_folder folder = {sources, path, sources->count, 0};
    int has_index = fleet_source_index_take(sources, path);

    folder.indexed = sources->count - folder.from;
    if (folder.indexed > 0) {
        qsort(sources->list + folder.from, folder.indexed, sizeof(*sources->list),
              fleet_source_compare);
    }
    if (has_index < 0 || fleet_path_walk(path, fleet_source_walk, &folder) != 0) {
        return -1;
    }
    if (sources->count == folder.from && has_index == 0) {
        kymo_error("%s: has no captures: no file below it is called *.kev", path);
        return -1;
    }
    return 0;
}

/* Returns what --path is about of a capture that is named itself: all of its path. */
static const char *source_below(const char *path)
{
    while (path[0] == '/' || strncmp(path, "./", 2) == 0) {
        path++;
    }
    return path;
}

int fleet_sources_find(struct fleet_sources *sources, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
            if (folder_take(sources, argv[i]) != 0) {
                return KYMO_FAILURE;
            }
            continue;
        }
        struct fleet_source *source = source_add(sources, argv[i]);

        if (source == NULL) {
            return KYMO_FAILURE;
        }
        device_guess(source);
        if (sources->options->path != NULL &&
            fleet_path_use(source, sources->options->path, source_below(argv[i])) != 0) {
            return KYMO_FAILURE;
        }
    }
    return KYMO_OK;
}

/* ---- a capture --------------------------------------------------------------------- */

static int id_take(struct fleet_capture *capture, const char *path)
{
    static char *const argv[] = {"sha256sum", NULL};
    struct fleet_child child;
    char text[FLEET_ID + 16];

    if (fleet_child_start(&child, argv, capture->fd, NULL, false,
                          "it is in Debian's package coreutils") != 0) {
        return KYMO_FAILURE;
    }
    fleet_child_watch(&child, "summing", capture->fd, capture->bytes);
    if (fleet_child_end(&child, text, sizeof(text)) != 0 ||
        strspn(text, "0123456789abcdef") != FLEET_ID) {
        if (fleet_stopped == 0) {
            kymo_error("%s: sha256sum failed", path);
        }
        return KYMO_FAILURE;
    }
    memcpy(capture->id, text, FLEET_ID);
    lseek(capture->fd, 0, SEEK_SET);
    return KYMO_OK;
}

int fleet_capture_open(struct fleet_capture *capture, const struct fleet_source *source)
{
    const char *slash = strrchr(source->path, '/');
    struct stat st;

    memset(capture, 0, sizeof(*capture));
    capture->file = slash == NULL ? source->path : slash + 1;
    capture->fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (capture->fd < 0 || fstat(capture->fd, &st) != 0) {
        kymo_error("%s: %s", source->path, strerror(errno));
        return KYMO_FAILURE;
    }
    if (!S_ISREG(st.st_mode)) {
        kymo_error("%s: is no regular file; the id of a capture is that of its bytes",
                   source->path);
        return KYMO_FAILURE;
    }
    capture->bytes = (uint64_t)st.st_size;
    return id_take(capture, source->path);
}

uint32_t fleet_hash(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return hash;
}

/* Bytes of a name in Hive's form, of which a folder is named: parquet.c. */
static size_t fleet_source_path_bytes(const char *name, size_t length)
{
    size_t bytes = 0;

    for (size_t i = 0; i < length; i++) {
        bytes += strchr(FLEET_PLAIN, name[i]) != NULL ? 1 : 3;
    }
    return bytes;
}

/* A board's or an image's name; what has none is unknown. As in tables, what a terminal would obey
 * is \ooo and a backslash is \\. A name that a folder can't have is cut, and ends in a hash of all
 * of it, so that two such names stay two. */
static void name_set(char to[FLEET_NAME + 1], const char *text)
{
    const size_t most = NAME_MAX - strlen("firmware="), tail = strlen("-12345678");
    const char *from = text[0] == '\0' ? "unknown" : text;
    size_t n = 0, bytes = 0, cut = 0;

    unsigned taken;

    for (const char *at = from; *at != '\0' && bytes <= most; at += taken) {
        unsigned length = text_char(to + n, at, strlen(at), &taken);

        bytes += fleet_source_path_bytes(to + n, length);
        n += length;
        cut = bytes + tail <= most ? n : cut;
    }
    if (bytes > most) {
        n = cut + (size_t)sprintf(to + cut, "-%08x", fleet_hash(from));
    }
    to[n] = '\0';
}

/* The capture's own date, if its clock was right, else that of the file. */
static void date_find(struct fleet_capture *capture)
{
    const char *text = kev_capture_attribute(capture->export.capture, "DATE");
    struct tm day = {0};
    struct stat st;

    if (text == NULL || strptime(text, "%a %b %e %H:%M:%S %Y", &day) == NULL || day.tm_year < 100 ||
        day.tm_year > 8099) {
        if (fstat(capture->fd, &st) != 0 || gmtime_r(&st.st_mtime, &day) == NULL) {
            day = (struct tm){.tm_year = 70, .tm_mday = 1};
        }
    }
    strftime(capture->date, sizeof(capture->date), "%Y-%m-%d", &day);
}

static void origin_find(struct fleet_capture *capture, const struct fleet_source *source,
                        const struct fleet_options *options)
{
    const struct kev_facts *facts = capture->export.facts;
    char image[FLEET_NAME + 1];

    name_set(capture->device, options->device != NULL     ? options->device
                              : source->device[0] != '\0' ? source->device
                                                          : facts->board);
    snprintf(image, sizeof(image), "%.60s-%.19s", facts->image, facts->release);
    name_set(capture->firmware, options->firmware != NULL     ? options->firmware
                                : source->firmware[0] != '\0' ? source->firmware
                                : facts->build_id[0] != '\0'  ? facts->build_id
                                : facts->image[0] != '\0'     ? image
                                                              : "");
    if (options->date != NULL || source->date[0] != '\0') {
        snprintf(capture->date, sizeof(capture->date), "%s",
                 options->date != NULL ? options->date : source->date);
    } else {
        date_find(capture);
    }
}

int fleet_capture_read(struct fleet_capture *capture, const struct fleet_source *source,
                       const struct fleet_options *options)
{
    struct export *export = &capture->export;
    int status;

    export->input = source->path;
    export->recover = options->recover;
    export->capture = kev_capture_new();
    if (export->capture == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    if (options->recover) {
        kev_capture_set_recover(export->capture, 1);
    }
    if (kev_capture_open_descriptor(export->capture, capture->fd, source->path) != KEV_COMPLETE) {
        return verify_refuse_fault(kev_capture_fault(export->capture));
    }
    status = export_names_learn(export);
    if (status == KYMO_OK) {
        origin_find(capture, source, options);
    }
    return status;
}

void fleet_capture_close(struct fleet_capture *capture)
{
    kev_capture_free(capture->export.capture);
    if (capture->fd >= 0) {
        close(capture->fd);
    }
    capture->fd = -1;
}
