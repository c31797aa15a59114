/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every cut of one story: the power fails before each write and flush, and after each sector of a
 * write, so a write is torn at each of its 512-byte boundaries. Each time nothing, everything and
 * a random part of what was not flushed is there; before a flush also every end of it, every
 * sector alone, and all but each one: reordered as far as a disk may. cut_test.c has the random
 * rest. SEED=s replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "test/lib/blocklog/story.h"

#define FRAMES 33 /* so few that the story goes round and frees what is old */
#define SECTORS BLOCKLOG_DISK(FRAMES, 1)
#define STEPS 36

struct run {
    struct model model;
    struct story story;
    uint64_t seed, points, images;
    size_t torn_most; /* sectors that waited for a flush, at most */
    uint8_t *image;
};

static void check(struct run *run)
{
    run->images++;
    if (!story_holds(&run->story, run->image)) {
        fail_msg("before operation %llu, %zu sectors not flushed: SEED=%llu",
                 (unsigned long long)run->model.operations, run->model.pendings,
                 (unsigned long long)run->seed);
    }
}

/* Those of the sectors that wait from `first` up to before `after`, or all but those. */
static void cut_part(struct run *run, size_t first, size_t after, bool others)
{
    struct model *model = &run->model;

    memcpy(run->image, model->medium, model->disk.sectors * BLOCKLOG_SECTOR);
    for (size_t i = 0; i < model->pendings; i++) {
        if ((i >= first && i < after) != others) {
            model_settle(run->image, &model->pending[i]);
        }
    }
    check(run);
}

static void reorder(struct run *run)
{
    size_t all = run->model.pendings;

    for (size_t i = 0; i < all; i++) {
        cut_part(run, i, all, false);
        cut_part(run, i, i + 1, false);
        cut_part(run, i, i + 1, true);
    }
}

static void cut(void *context)
{
    struct run *run = context;
    size_t all = run->model.pendings;

    run->points++;
    run->torn_most = all > run->torn_most ? all : run->torn_most;
    cut_part(run, 0, all, false);
    if (all > 0) {
        cut_part(run, 0, 0, false);
        model_cut(&run->model, run->image);
        check(run);
    }
    if (run->model.flushing) {
        reorder(run);
    }
}

static void test_every_cut(void **state)
{
    static struct run run;
    const char *text = getenv("SEED");

    (void)state;
    run.seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)run.seed);
    fflush(stdout);
    run.image = calloc(SECTORS, BLOCKLOG_SECTOR);
    assert_true(story_begin(&run.story, &run.model, SECTORS, run.seed));
    run.story.whole_buffers = true;
    uint64_t before = run.model.operations + run.model.sectors;
    run.model.at_operation = cut;
    run.model.at_context = &run;
    for (int i = 0; i < STEPS; i++) {
        assert_true(story_step(&run.story));
    }
    printf("%llu cut points, %llu images, %llu records acknowledged\n",
           (unsigned long long)run.points, (unsigned long long)run.images,
           (unsigned long long)run.story.acknowledged);
    assert_int_equal(run.points, run.model.operations + run.model.sectors - before);
    assert_true(run.torn_most >= BLOCKLOG_DATA_SECTORS && run.story.together > 0);
    model_end(&run.model);
    free(run.image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
