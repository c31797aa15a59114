/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a cut: the original's attributes, those of the cut, the system page, and CHECK
 * and BUFFER_END for all of it. The original may be of format 1.01, and a damaged one's attributes
 * may be anything that the reader takes; a reader takes at most 256.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cut/cut.h"
#include "lib/capture/attribute.h"

#define ATTRIBUTES_MOST 256 /* that a reader takes */
#define BYTES_MOST 65536    /* likewise */
#define OWN_MOST 40         /* attributes that a cut adds to those that it copies */
#define SELECT_LINES 20     /* of them, for the selection: what is longer is cut */
#define KEY_MOST 100        /* of a key that has been copied many times: CUT_BEFORE_BEFORE_... */

static void cut_head_put_bytes(struct cut_file *file, const void *bytes, size_t len)
{
    capture_check_head(&file->check, bytes, len);
    cut_put(file, bytes, len);
}

static void cut_head_put_attribute(struct cut_file *file, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void cut_head_put_attribute(struct cut_file *file, const char *key, const char *format, ...)
{
    char text[CAPTURE_ATTRIBUTE_ROOM];
    va_list list;

    va_start(list, format);
    cut_head_put_bytes(file, text, (size_t)capture_attribute(text, key, format, list));
    va_end(list);
}

/* Options in as many attributes as they take. */
static void selection_attributes(struct cut_file *file, char *const *options)
{
    char line[CAPTURE_VALUE_MOST + 1] = "", key[32];
    unsigned n = 0;

    for (; *options != NULL; options++) {
        const char *word = *options;

        while (*word != '\0' && n < SELECT_LINES) {
            size_t used = strlen(line), len = strlen(word);
            size_t room = sizeof(line) - 1 - used - (used > 0);

            if (len > room && used > 0) {
                snprintf(key, sizeof(key), "CUT_SELECT_%u", ++n);
                cut_head_put_attribute(file, key, "%s", line);
                line[0] = '\0';
                continue;
            }
            len = len < room ? len : room;
            snprintf(line + used, sizeof(line) - used, "%s%.*s", used > 0 ? " " : "", (int)len,
                     word);
            word += len;
        }
    }
    if (line[0] != '\0' && n < SELECT_LINES) {
        snprintf(key, sizeof(key), "CUT_SELECT_%u", ++n);
        cut_head_put_attribute(file, key, "%s", line);
    }
}

static void cut_attributes(struct cut_file *file, const struct kev *kev,
                           const struct cut_origin *origin)
{
    const struct kymo_select *select = origin->select;
    const char *name = strrchr(origin->file, '/');
    char plain[CAPTURE_VALUE_MOST + 1];

    snprintf(plain, sizeof(plain), "%s", name == NULL ? origin->file : name + 1);
    for (char *at = plain; *at != '\0'; at++) {
        *at = *at >= ' ' && *at < 0x7f ? *at : '?';
    }
    cut_head_put_attribute(file, "CUT_OF", "%s", plain);
    cut_head_put_attribute(file, "CUT_START", "0x%016" PRIx64, kev_info(kev)->start);
    if (select->from.given) {
        cut_head_put_attribute(file, "CUT_FROM", "0x%016" PRIx64, select->first);
    }
    if (select->to.given) {
        cut_head_put_attribute(file, "CUT_TO", "0x%016" PRIx64, select->end);
    }
    selection_attributes(file, origin->options);
    for (unsigned i = 0; i < origin->ndoubts; i++) {
        char key[32];

        snprintf(key, sizeof(key), "CUT_DOUBT_%u", i + 1);
        cut_head_put_attribute(file, key, "%s", origin->doubts[i]);
    }
    /* Readers know what a gate means: what is not there may have happened. */
    if (select->owned || select->nevents > 0 || !select->classes.any) {
        cut_head_put_attribute(file, "FILTER_CUT", "gate of kymo cut: see CUT_SELECT_1");
    }
}

/* Returns true if a reader accepts the header with what a cut adds to it. */
static bool header_fits(const struct kev_info *info)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < info->nattrs; i++) {
        bytes += strlen(info->attrs[i].key) + strlen(info->attrs[i].value) + 20;
    }
    return info->nattrs + OWN_MOST <= ATTRIBUTES_MOST &&
           bytes + OWN_MOST * CAPTURE_ATTRIBUTE_ROOM <= BYTES_MOST;
}

/* A value that ends in what may begin a key would take the next key with it. */
static void value_copy(struct cut_file *file, const char *value)
{
    for (const char *at = strstr(value, "TRACE_"); at != NULL; at = strstr(value, "TRACE_")) {
        cut_head_put_bytes(file, value, (size_t)(at - value));
        cut_head_put_bytes(file, "TRACE-", 6);
        value = at + 6;
    }
    cut_head_put_bytes(file, value, strlen(value));
}

static void cut_head_copy_attribute(struct cut_file *file, const char *key, const char *value)
{
    bool again = strncmp(key, "CUT_", 4) == 0; /* it was cut before */

    if (strlen(key) > KEY_MOST) {
        return;
    }
    cut_head_put_bytes(file, "TRACE_", 6);
    if (again) {
        cut_head_put_bytes(file, "CUT_BEFORE_", 11);
        key += 4;
    }
    cut_head_put_bytes(file, key, strlen(key));
    cut_head_put_bytes(file, "::", 2);
    value_copy(file, value);
}

int cut_head(struct cut_file *file, const struct kev *kev, const struct cut_origin *origin)
{
    const struct kev_info *info = kev_info(kev);
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];
    uint32_t len;
    const uint8_t *page = kev_page(kev, &len);

    if (!header_fits(info)) {
        kymo_error("%s: its header has no room for the attributes of a cut", info->path);
        return -1;
    }
    file->swapped = info->swapped;
    capture_check_begin(&file->check);
    for (unsigned i = 0; i < info->nattrs; i++) {
        const char *key = info->attrs[i].key, *value = info->attrs[i].value;

        if (strcmp(key, "TRACELOGGER_ARGS") == 0) {
            cut_attributes(file, kev, origin);
        }
        cut_head_copy_attribute(file, key, strcmp(key, "VER_MINOR") == 0 ? "02" : value);
    }
    if (kev_attr(kev, "TRACELOGGER_ARGS") == NULL) {
        cut_attributes(file, kev, origin);
    }
    cut_head_put_bytes(file, "TRACE_HEADER_END::", 18);
    cut_head_put_bytes(file, page, len);
    capture_check_close(&file->check, 0, trailer);
    cut_put_slots(file, trailer, sizeof(trailer));
    return 0;
}
