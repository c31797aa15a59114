/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures below a folder of any kind, and what their paths say of them. A rule names the parts of
 * a path below the folder: DEVICE, FIRMWARE and DATE are what a folder's name is, * is a folder
 * that says nothing; a last part that ends in .kev is the file's name without that. Without
 * --path the rule is DEVICE. docs/guide/fleet.md explains it; proof: test/host/fleet/folder.py.
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/fleet/fleet.h"
#include "host/kymo.h"

#define SUFFIX ".kev"

enum path_word { PATH_DEVICE, PATH_FIRMWARE, PATH_DATE, PATH_ANY, PATH_WORDS };

static const char *const path_words[PATH_WORDS] = {"DEVICE", "FIRMWARE", "DATE", "*"};

/* A part of a rule or of a path, which ends before the next slash. */
struct path_part {
    const char *text;
    size_t length;
    bool is_last;
};

/* Takes the part at *at, and moves *at after its slash. Returns false after the last part. */
static bool path_part_take(const char **at, struct path_part *part)
{
    part->text = *at;
    part->length = strcspn(*at, "/");
    part->is_last = part->text[part->length] == '\0';
    *at += part->length + (part->is_last ? 0 : 1);
    return part->length > 0;
}

static bool path_part_ends(const struct path_part *part, const char *suffix)
{
    size_t n = strlen(suffix);

    return part->length > n && memcmp(part->text + part->length - n, suffix, n) == 0;
}

static enum path_word path_word_find(const struct path_part *part)
{
    size_t length = part->length;
    enum path_word word = PATH_DEVICE;

    length -= part->is_last && path_part_ends(part, SUFFIX) ? strlen(SUFFIX) : 0;
    while (word < PATH_WORDS && (strlen(path_words[word]) != length ||
                                 memcmp(path_words[word], part->text, length) != 0)) {
        word++;
    }
    return word;
}

bool fleet_path_is_rule(const char *rule)
{
    unsigned times[PATH_WORDS] = {0};
    struct path_part part = {.is_last = false};

    while (!part.is_last) {
        enum path_word word;

        if (!path_part_take(&rule, &part)) {
            return false;
        }
        word = path_word_find(&part);
        if (word == PATH_WORDS || (word != PATH_ANY && times[word] != 0)) {
            return false;
        }
        times[word]++;
    }
    return times[PATH_DEVICE] + times[PATH_FIRMWARE] + times[PATH_DATE] > 0;
}

/* Returns -1 after a message: the part is no day, and the rule says that it is one. */
static int path_value_set(struct fleet_source *source, enum path_word word,
                          const struct path_part *part)
{
    char text[FLEET_NAME + 1];

    if (part->length >= sizeof(text)) {
        return 0;
    }
    memcpy(text, part->text, part->length);
    text[part->length] = '\0';
    if (word == PATH_DEVICE) {
        strcpy(source->device, text);
    } else if (word == PATH_FIRMWARE) {
        strcpy(source->firmware, text);
    } else if (word == PATH_DATE) {
        if (!fleet_is_date(text)) {
            kymo_error("%s: --path: %s is no day YYYY-MM-DD", source->path, text);
            return -1;
        }
        strcpy(source->date, text);
    }
    return 0;
}

/* Returns true if the rule's last part is about the file, which is not where the rule has it. */
static bool path_is_elsewhere(const char *rule, const char *below)
{
    struct path_part part = {.is_last = false}, other = {.is_last = false};

    while (!part.is_last && !other.is_last) {
        path_part_take(&rule, &part);
        path_part_take(&below, &other);
    }
    return part.is_last && path_part_ends(&part, SUFFIX) &&
           (!other.is_last || !path_part_ends(&other, SUFFIX));
}

int fleet_path_use(struct fleet_source *source, const char *rule, const char *below)
{
    struct path_part part = {.is_last = false}, other;
    int status = 0;

    if (path_is_elsewhere(rule, below)) {
        return 0;
    }
    while (status == 0 && !part.is_last && path_part_take(&rule, &part) &&
           path_part_take(&below, &other)) {
        if (other.is_last && !path_part_ends(&part, SUFFIX)) {
            break; /* the rest of the rule is about folders */
        }
        other.length -= other.is_last ? strlen(SUFFIX) : 0;
        status = path_value_set(source, path_word_find(&part), &other);
    }
    return status;
}

/* ---- a folder ---------------------------------------------------------------------- */

static int path_name_compare(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool path_names_capture(const FTSENT *entry)
{
    const struct path_part name = {entry->fts_name, entry->fts_namelen, true};

    return entry->fts_info == FTS_F && path_part_ends(&name, SUFFIX);
}

int fleet_path_walk(const char *folder, fleet_path_visit_t visit, void *arg)
{
    char *paths[] = {(char *)folder, NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, path_name_compare);
    int status = fts == NULL ? -1 : 0;

    if (fts == NULL) {
        kymo_error("%s: %s", folder, strerror(errno));
    }
    for (FTSENT *e; status == 0 && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
            kymo_error("%s: %s", e->fts_path, strerror(e->fts_errno));
            status = -1;
        } else if (path_names_capture(e)) {
            const char *below = e->fts_path + strlen(folder);

            status = visit(arg, e->fts_path, below + strspn(below, "/"));
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
    return status;
}
