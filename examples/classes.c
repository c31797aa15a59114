/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the events of a capture by class and name, and what is missing.
 *
 *   cc -o classes classes.c $(pkg-config --cflags --libs kev)
 *   ./classes trace.kev, or - for standard input
 */
#include <inttypes.h>
#include <kev.h>
#include <stdio.h>
#include <string.h>

#define MOST 2048

static struct {
    char class_name[24], name[40];
    uint64_t events;
} counts[MOST];
static unsigned ncounts;

static void count(const struct kev_item *item)
{
    const char *name = item->name == NULL ? "-" : item->name;
    unsigned i = 0;

    while (i < ncounts && (strcmp(counts[i].class_name, item->class_name) != 0 ||
                           strcmp(counts[i].name, name) != 0)) {
        i++;
    }
    if (i == MOST) {
        return;
    }
    if (i == ncounts) {
        ncounts++;
        snprintf(counts[i].class_name, sizeof(counts[i].class_name), "%s", item->class_name);
        snprintf(counts[i].name, sizeof(counts[i].name), "%s", name);
    }
    counts[i].events++;
}

int main(int argc, char **argv)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int outcome;

    if (capture == NULL || argc != 2) {
        fprintf(stderr, "usage: classes FILE\n");
        return 2;
    }
    outcome = kev_capture_open(capture, argv[1]);
    while (outcome >= KEV_COMPLETE && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_EVENT) {
            count(item);
        } else if (item->kind == KEV_ITEM_LOSS) {
            printf("missing: %s\n", item->loss->text);
        } else if (item->kind == KEV_ITEM_SCOPE) {
            printf("recorded: %s\n", item->loss->text);
        }
    }
    for (unsigned i = 0; i < ncounts; i++) {
        printf("%10" PRIu64 "  %-9s %s\n", counts[i].events, counts[i].class_name, counts[i].name);
    }
    if (outcome != KEV_COMPLETE) {
        fprintf(stderr, "classes: %s\n", kev_capture_fault(capture)->text);
    }
    kev_capture_free(capture);
    return outcome == KEV_COMPLETE ? 0 : 1;
}
