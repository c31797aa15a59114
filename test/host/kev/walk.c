/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk FILE SEED [ELF...]: calls of libkev on a capture, in an order that SEED draws: selections,
 * what they may not precede, reading on, seeking, learning, and questions about what was read. All
 * that is returned is touched to its last byte. The status is 0, or 1 after a message if the
 * capture could not be read to its end. Uses nothing but kev.h; test/host/every_command.py runs it
 * under the sanitizers.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kev/kev.h"
#include "test/tool/random.h"

#define CALLS 400
#define OPTIONS_MOST 3

struct walk {
    struct kev_capture *capture;
    const struct kev_item *item; /* the last; NULL: none */
    int outcome;
    uint64_t touched;
};

static void touch(struct walk *walk, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        walk->touched = walk->touched * 31 + ((const unsigned char *)bytes)[i];
    }
}

static void touch_text(struct walk *walk, const char *text)
{
    touch(walk, text, text == NULL ? 0 : strlen(text));
}

/* A number of a process, class or CPU: mostly one that may be there. */
static uint32_t number(void)
{
    return random_below(8) == 0 ? random_below(UINT32_MAX) : random_below(40);
}

/* A stamp: near the last item, or anywhere. */
static int64_t stamp(const struct walk *walk)
{
    int64_t near = walk->item == NULL ? 0 : walk->item->ns;

    switch (random_below(6)) {
    case 0:
        return INT64_MIN;
    case 1:
        return INT64_MAX;
    case 2:
        return 0;
    default:
        return (int64_t)((uint64_t)near + random_below(2000000) - 1000000);
    }
}

/* ---- what was read ----------------------------------------------------------------- */

static void value_touch(struct walk *walk, const struct kev_value *value)
{
    if (value != NULL) {
        touch_text(walk, value->name);
        touch(walk, value->text, value->text == NULL ? 0 : value->length);
    }
}

static void event_touch(struct walk *walk)
{
    unsigned count = kev_capture_values(walk->capture);
    const uint32_t *words = NULL;
    unsigned nwords = kev_capture_words(walk->capture, &words);

    touch(walk, words, nwords * sizeof(*words));
    for (unsigned i = 0; i <= count; i++) { /* one after the last, too */
        const struct kev_value *value = kev_capture_value(walk->capture, i);

        value_touch(walk, value);
        if (value != NULL) {
            value_touch(walk, kev_capture_value_of(walk->capture, value->name));
            touch_text(walk,
                       kev_capture_term(walk->capture, value->meaning, (unsigned)value->number));
        }
    }
}

static void item_touch(struct walk *walk)
{
    const struct kev_item *item = walk->item;

    touch_text(walk, item->class_name);
    touch_text(walk, item->name);
    touch_text(walk, kev_capture_name(walk->capture, item->pid, item->tid));
    touch_text(walk, kev_capture_name(walk->capture, item->about_pid, KEV_NOBODY));
    if (item->loss != NULL) {
        touch_text(walk, item->loss->class_name);
        touch_text(walk, item->loss->reason);
        touch_text(walk, item->loss->text);
    }
    if (item->kind == KEV_ITEM_EVENT) {
        event_touch(walk);
    }
}

static void next(struct walk *walk)
{
    unsigned count = random_below(3) == 0 ? 1 : random_below(300);

    for (walk->outcome = KEV_GIVEN; count > 0 && walk->outcome == KEV_GIVEN; count--) {
        walk->outcome = kev_capture_next(walk->capture, &walk->item);
        if (walk->outcome == KEV_GIVEN) {
            item_touch(walk);
        }
    }
    walk->item = walk->outcome == KEV_GIVEN ? walk->item : NULL;
}

/* ---- questions --------------------------------------------------------------------- */

static void attributes_touch(struct walk *walk)
{
    const char *key, *value;

    for (unsigned i = 0; kev_capture_attribute_at(walk->capture, i, &key, &value); i++) {
        touch_text(walk, key);
        touch_text(walk, value);
        touch_text(walk, kev_capture_attribute(walk->capture, key));
    }
}

static void facts_touch(struct walk *walk)
{
    const struct kev_facts *facts = kev_capture_facts(walk->capture);
    int64_t from, to;

    if (facts != NULL) {
        touch_text(walk, facts->path);
        touch_text(walk, facts->board);
        touch_text(walk, facts->processor);
        touch_text(walk, facts->image);
        touch_text(walk, facts->release);
        touch_text(walk, facts->build_id);
    }
    for (unsigned i = 0; kev_capture_covered(walk->capture, number(), i, &from, &to) && i < 100;
         i++) {
        touch(walk, &from, sizeof(from));
    }
    for (unsigned i = 0; i < 100; i++) {
        touch_text(walk, kev_capture_log_missing(walk->capture, i));
    }
}

static void description_touch(struct walk *walk)
{
    const struct kev_description *description =
        kev_capture_describe(walk->capture, number(), number());

    if (description != NULL) {
        touch_text(walk, description->class_name);
        touch_text(walk, description->name);
        touch_text(walk, description->fast);
        touch_text(walk, description->wide);
    }
    touch_text(walk, kev_capture_term(walk->capture, random_below(20), number()));
}

static void life_touch(struct walk *walk, const struct kev_life *life)
{
    if (life != NULL) {
        touch(walk, life, sizeof(*life));
        touch_text(walk, life->name);
    }
}

static void lives_touch(struct walk *walk)
{
    for (unsigned i = 0; i < 100; i++) {
        life_touch(walk, kev_capture_life(walk->capture, i));
    }
    life_touch(walk, kev_capture_life_at(walk->capture, (int32_t)number(), (int32_t)number(),
                                         stamp(walk)));
    touch_text(walk, kev_capture_name(walk->capture, (int32_t)number(), (int32_t)number()));
}

static void call(struct walk *walk)
{
    switch (random_below(9)) {
    case 0:
        kev_capture_seek(walk->capture, stamp(walk));
        walk->item = NULL;
        break;
    case 1:
        kev_capture_learn(walk->capture);
        break;
    case 2:
        attributes_touch(walk);
        break;
    case 3:
        facts_touch(walk);
        break;
    case 4:
        description_touch(walk);
        break;
    case 5:
        lives_touch(walk);
        break;
    case 6: /* too late: refused */
        kev_capture_select(walk->capture, "cpu", "0");
        kev_capture_set_recover(walk->capture, 1);
        touch_text(walk, kev_capture_fault(walk->capture)->text);
        break;
    default:
        next(walk);
        break;
    }
}

/* ---- the beginning ----------------------------------------------------------------- */

static void options_set(struct walk *walk, const char *elfs)
{
    static const char *const options[][2] = {
        {"cpu", "0"},        {"cpu", "1,3-5"},     {"class", "thread,comm"}, {"pid", "1"},
        {"from", "1ms"},     {"to", "0.5"},        {"event", "THRUNNING"},   {"name", "server*"},
        {"from", "nothing"}, {"nothing", "thread"}};
    const unsigned count = sizeof(options) / sizeof(*options);

    kev_capture_set_recover(walk->capture, random_below(2) != 0);
    if (elfs != NULL && random_below(2) != 0) {
        kev_capture_set_log_text(walk->capture, elfs);
    }
    for (unsigned i = random_below(OPTIONS_MOST); i > 0; i--) {
        const char *const *option = options[random_below(count)];

        kev_capture_select(walk->capture, option[0], option[1]);
    }
}

static int memory_open(struct walk *walk, int descriptor, const char *path, void **bytes)
{
    off_t length = lseek(descriptor, 0, SEEK_END);

    *bytes = malloc((size_t)length);
    if (pread(descriptor, *bytes, (size_t)length, 0) != length) {
        return KEV_FAILED;
    }
    return kev_capture_open_memory(walk->capture, *bytes, (size_t)length, path);
}

int main(int argc, char **argv)
{
    struct walk walk = {.capture = kev_capture_new()};
    int descriptor = argc < 3 ? -1 : open(argv[1], O_RDONLY);
    void *bytes = NULL;

    if (descriptor < 0) {
        fputs("Usage: walk FILE SEED [ELFS]\n", stderr);
        return 2;
    }
    random_state = strtoull(argv[2], NULL, 0);
    options_set(&walk, argv[3]);
    switch (random_below(3)) {
    case 0:
        walk.outcome = kev_capture_open(walk.capture, argv[1]);
        break;
    case 1:
        walk.outcome = kev_capture_open_descriptor(walk.capture, descriptor, argv[1]);
        break;
    default:
        walk.outcome = memory_open(&walk, descriptor, argv[1], &bytes);
        break;
    }
    for (unsigned i = 0; i < CALLS; i++) {
        call(&walk);
    }
    for (walk.outcome = KEV_GIVEN; walk.outcome == KEV_GIVEN;) {
        next(&walk);
    }
    if (walk.outcome == KEV_FAILED) {
        touch_text(&walk, kev_capture_fault(walk.capture)->text);
        fprintf(stderr, "walk: %s\n", kev_capture_fault(walk.capture)->text);
    }
    kev_capture_free(walk.capture);
    free(bytes);
    close(descriptor);
    printf("%016llx\n", (unsigned long long)walk.touched);
    return walk.outcome == KEV_FAILED;
}
