/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The power fails at every write of every sector and at every flush of a random story; of what was
 * not flushed any part may be there. CUTS=n SEED=s build/unit/blocklog_cut: so many images, each of
 * which must hold all that was acknowledged, and take a new capture without losing any of it.
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

#define SECTORS BLOCKLOG_DISK(40, 1)

struct run {
    struct model model;
    struct story story;
    uint64_t seed, cuts, wanted, went_on;
    uint8_t *image;
};

/* After a cut: the writer comes back, and writes until the disk is full or it has had enough. */
static void go_on(struct run *run)
{
    static struct blocklog log;
    static uint8_t data[BLOCKLOG_DATA_BYTES];
    struct model model;

    model_from(&model, run->image, SECTORS, run->cuts + 1);
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    if (blocklog_begin(&log, "after", 1) == 0) {
        while (model_random(&model, 20) && blocklog_append(&log, data, 3000, 1, 0) == 0) {
        }
        blocklog_end(&log);
        model_cut(&model, run->image);
        run->went_on++;
    }
    model_end(&model);
}

static void check(struct run *run)
{
    if (!story_holds(&run->story, run->image)) {
        fail_msg("after operation %llu: SEED=%llu", (unsigned long long)run->model.operations,
                 (unsigned long long)run->seed);
    }
}

static void cut(void *context)
{
    struct run *run = context;

    if (run->cuts >= run->wanted || model_random(&run->model, 4)) {
        return;
    }
    run->cuts++;
    model_cut(&run->model, run->image);
    check(run);
    if (run->cuts % 8 == 0) {
        go_on(run);
        check(run);
    }
}

/* On a disk that has what the last story left. */
static void story(struct run *run)
{
    model_from(&run->model, run->image, SECTORS, run->seed);
    run->story = (struct story){.model = &run->model};
    assert_int_equal(blocklog_format(&run->story.log, &run->model.disk, run->seed), 0);
    assert_int_equal(blocklog_open(&run->story.log, &run->model.disk), 0);
    assert_int_equal(run->story.log.next, 0);
    run->story.log.reclaims = run->seed % 2;
    run->model.at_operation = cut;
    run->model.at_context = run;
    for (int i = 0; i < 300 && run->cuts < run->wanted; i++) {
        assert_true(story_step(&run->story));
    }
    model_end(&run->model);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void test_cuts(void **state)
{
    static struct run run;

    (void)state;
    run.seed = setting("SEED", (uint64_t)time(NULL));
    run.wanted = setting("CUTS", 5000);
    run.image = calloc(SECTORS, BLOCKLOG_SECTOR);
    printf("SEED=%llu\n", (unsigned long long)run.seed);
    fflush(stdout);
    uint64_t acknowledged = 0, reclaimed = 0, together = 0;
    for (; run.cuts < run.wanted; run.seed++) {
        story(&run);
        acknowledged += run.story.acknowledged;
        reclaimed += run.story.reclaimed;
        together += run.story.together;
    }
    printf("%llu cuts, %llu records acknowledged, %llu captures reclaimed, %llu went on\n",
           (unsigned long long)run.cuts, (unsigned long long)acknowledged,
           (unsigned long long)reclaimed, (unsigned long long)run.went_on);
    assert_true(run.wanted < 5000 || (reclaimed > 0 && run.went_on > 0 && together > 0));
    free(run.image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
