/* SPDX-License-Identifier: BSD-2-Clause */
/* See support.h. */
#include "test/host/support.h"
#include "host/temporary.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char path[PATH_MAX];

const char *support_file(const void *bytes, size_t len)
{
    FILE *file;

    snprintf(path, sizeof(path), "%s/kymo-test-%d.kev", temporary_place(), (int)getpid());
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    return path;
}

void support_remove(void)
{
    unlink(path);
}

struct kev *support_open(const struct mk *mk, const struct kev_options *options)
{
    struct kev_options none = {0};
    struct kev_error error;
    struct kev *kev =
        kev_open(support_file(mk->bytes, mk->len), options == NULL ? &none : options, &error);

    if (kev == NULL) {
        print_message("%s\n", error.text);
    }
    assert_non_null(kev);
    return kev;
}

static void hash_add(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * 1099511628211ull;
}

static void event_hash(struct support_read *read, const struct kev_event *event)
{
    hash_add(&read->hash, event->time);
    hash_add(&read->hash, (uint64_t)event->cpu << 16 | event->number);
    hash_add(&read->hash, (uint64_t)event->class << 32 | event->nwords);
    for (unsigned i = 0; i < event->nwords; i++) {
        hash_add(&read->hash, kev_word(event, i));
    }
}

struct support_read support_read_all(struct kev *kev)
{
    struct support_read read = {.hash = 14695981039346656037ull, .ordered = true};
    struct out *out = calloc(1, sizeof(*out));
    struct line_style style = {false};
    struct kev_event event;
    enum kev_result result;
    uint64_t last = 0;

    assert_non_null(out);
    out->fd = open("/dev/null", O_WRONLY);
    line_header(out, kev, true);
    while ((result = kev_next(kev, &event, &read.why)) == KEV_EVENT) {
        read.events++;
        read.slots += event.nwords / 2;
        read.ordered &= event.time >= last;
        last = event.time;
        event_hash(&read, &event);
        line_event(out, kev, &event, &style);
        style.one_line = !style.one_line;
    }
    read.error = result == KEV_ERROR;
    if (read.error) {
        print_message("%s\n", read.why.text);
    }
    out_flush(out);
    close(out->fd);
    free(out);
    return read;
}

static char *print_style(struct kev *kev, struct line_style style)
{
    struct out *out = calloc(1, sizeof(*out));
    struct kev_event event;
    struct kev_error error;
    FILE *file = temporary_stream();
    char *text = calloc(1, 1 << 20);

    assert_true(out != NULL && file != NULL && text != NULL);
    out->fd = fileno(file);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        line_event(out, kev, &event, &style);
    }
    out_flush(out);
    rewind(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    free(out);
    return text;
}

char *support_print(struct kev *kev, bool one_line)
{
    return print_style(kev, (struct line_style){.one_line = one_line});
}

char *support_print_dialect(struct kev *kev, enum line_dialect dialect, const struct format *format)
{
    return print_style(kev,
                       (struct line_style){.one_line = true, .dialect = dialect, .format = format});
}

char *support_print_format(struct kev *kev, const struct format *format)
{
    return print_style(kev, (struct line_style){.format = format});
}

uint64_t support_seed(void)
{
    const char *text = getenv("KYMO_SEED");
    uint64_t seed = text == NULL ? (uint64_t)time(NULL) : strtoull(text, NULL, 0);

    print_message("KYMO_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

struct support_sample support_sample(void)
{
    const char *text = getenv("EVERY");
    size_t every = text == NULL ? 1 : strtoul(text, NULL, 0);

    return every < 2 ? (struct support_sample){.every = 1}
                     : (struct support_sample){.first = support_seed() % every, .every = every};
}
