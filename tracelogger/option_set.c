/* SPDX-License-Identifier: BSD-2-Clause */
/* See option_set.h. QNX options that Kymo lacks are refused with the alternative. */
#include "tracelogger/option_set.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/capture/attributes.h"
#include "tracelogger/header.h"

#define SECONDS_MOST 1000000
#define IDLE_MS_MOST 1000000
#define MORE_BUFFERS_MOST 65536
#define KEY_MOST 24

bool option_number(const char *text, uint32_t most, uint32_t *value)
{
    char *end;

    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    *value = (uint32_t)n;
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && n <= most;
}

static enum option_result if_good(bool good)
{
    return good ? OPTION_TAKEN : OPTION_WRONG;
}

static enum option_result option_set_flag(bool *which)
{
    *which = true;
    return OPTION_TAKEN;
}

static enum option_result option_set_refuse_with(const char *why)
{
    printf("tracelogger: %s\n", why);
    return OPTION_REFUSED;
}

enum option_result option_buffers(struct options *options, const char *text)
{
    options->limited = true;
    return if_good(option_number(text, UINT32_MAX, &options->buffers));
}

enum option_result option_seconds(struct options *options, const char *text)
{
    return if_good(option_number(text, SECONDS_MOST, &options->seconds));
}

enum option_result option_continuous(struct options *options, const char *text)
{
    (void)text;
    options->buffers = 0;
    return option_set_flag(&options->limited);
}

enum option_result option_ring(struct options *options, const char *text)
{
    (void)text;
    options->mode = MODE_RING;
    return OPTION_TAKEN;
}

enum option_result option_daemon(struct options *options, const char *text)
{
    uint32_t mode;

    if (!option_number(text, 1, &mode)) {
        return OPTION_WRONG;
    }
    options->daemon = mode == 1;
    return OPTION_TAKEN;
}

enum option_result option_everything(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->everything);
}

enum option_result option_kernel_buffers(struct options *options, const char *text)
{
    return if_good(option_number(text, KERNEL_BUFFERS_MOST, &options->kernel_buffers) &&
                   options->kernel_buffers >= 2);
}

enum option_result option_more_buffers(struct options *options, const char *text)
{
    return if_good(option_number(text, MORE_BUFFERS_MOST, &options->more_buffers));
}

enum option_result option_flush(struct options *options, const char *text)
{
    return if_good(option_number(text, SECONDS_MOST, &options->flush_seconds));
}

enum option_result option_idle(struct options *options, const char *text)
{
    options->idle_given = true;
    return if_good(option_number(text, IDLE_MS_MOST, &options->idle_ms));
}

enum option_result option_size(struct options *options, const char *text)
{
    static const struct {
        char letter;
        unsigned shift;
    } units[] = {{'\0', 0}, {'k', 10}, {'K', 10}, {'m', 20}, {'M', 20}};
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || end - text > 9 || n == 0) {
        return OPTION_WRONG;
    }
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (*end == units[i].letter && (*end == '\0' || end[1] == '\0')) {
            options->size = (uint64_t)n << units[i].shift;
            return OPTION_TAKEN;
        }
    }
    return OPTION_WRONG;
}

enum option_result option_without(struct options *options, const char *text)
{
    uint32_t value;

    if (!option_number(text, FILTERS - 1, &value)) {
        return OPTION_WRONG;
    }
    options->without |= UINT32_C(1) << value;
    return OPTION_TAKEN;
}

enum option_result option_wide(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->wide);
}

enum option_result option_probes(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->probes);
}

/* Checks KEY=VALUE: a key of letters, digits and _, a printable value; `key` is its length. */
static bool is_pair(const char *text, size_t *key)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]) || text[length] == '_') {
        length++;
    }
    *key = length;
    if (length == 0 || length > KEY_MOST || text[length] != '=') {
        return false;
    }
    for (length++; isprint((unsigned char)text[length]); length++) {
    }
    return text[length] == '\0' && length - *key - 1 <= CAPTURE_VALUE_MOST;
}

/* Refuses text that would break the header: keys and values are stored back to back, with ::
 * between. */
enum option_result option_attribute(struct options *options, const char *text)
{
    size_t key;

    if (strstr(text, "::") || strstr(text, "TRACE_")) {
        return option_set_refuse_with(
            "-A: KEY=VALUE may not contain :: or TRACE_, which separate the attributes "
            "in the header");
    }
    if (!is_pair(text, &key)) {
        return OPTION_WRONG;
    }
    if (strchr(text + key + 1, '=')) {
        return option_set_refuse_with(
            "-A: KEY=VALUE may not contain a second =: use another character");
    }
    if (header_has(text, key)) {
        return option_set_refuse_with(
            "-A: the tracelogger writes an attribute of this name itself: use another key");
    }
    if (options->attribute_count == ATTRIBUTES_MOST) {
        return option_set_refuse_with(
            "-A: at most 16 attributes are possible: put several values into one");
    }
    options->attributes[options->attribute_count++] = text;
    return OPTION_TAKEN;
}

enum option_result option_after(struct options *options, const char *text)
{
    return if_good(option_number(text, SECONDS_MOST, &options->after_seconds));
}

enum option_result option_gate(struct options *options, const char *text)
{
    options->gate = text;
    return if_good(*text != '\0');
}

enum option_result option_file(struct options *options, const char *text)
{
    if (strcmp(text, "-") == 0) {
        return option_set_refuse_with(
            "-f -: a target has no pipe on standard output: use -f link:NAME, and on the "
            "host `kymo capture -o -`, which writes to a pipe while the target records");
    }
    options->file = text;
    return if_good(*text != '\0');
}

enum option_result option_reclaim(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->reclaim);
}

enum option_result option_format(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->format);
}

enum option_result option_force(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->force);
}

enum option_result option_security(struct options *options, const char *text)
{
    (void)options;
    (void)text;
    printf("tracelogger: -a is ignored: Kymo has no Security events\n");
    return OPTION_TAKEN;
}

enum option_result option_address(struct options *options, const char *text)
{
    (void)options;
    (void)text;
    return option_set_refuse_with(
        "-p: the kernel places its buffers, so that it can keep other programs out of "
        "them: leave out -p");
}

enum option_result option_unknown(struct options *options, const char *text)
{
    (void)options;
    (void)text;
    return option_set_refuse_with("-u: its meaning in QNX 8.0 is not known: leave out -u");
}

enum option_result option_verbose(struct options *options, const char *text)
{
    (void)text;
    options->verbose++;
    return OPTION_TAKEN;
}

enum option_result option_help(struct options *options, const char *text)
{
    (void)options;
    (void)text;
    return OPTION_HELP;
}

enum option_result option_retain(struct options *options, const char *text)
{
    (void)text;
    options->mode = MODE_RING;
    return option_set_flag(&options->retain);
}

enum option_result option_recover(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->recover);
}

enum option_result option_discard(struct options *options, const char *text)
{
    (void)text;
    return option_set_flag(&options->discard);
}
