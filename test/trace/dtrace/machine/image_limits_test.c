/* SPDX-License-Identifier: BSD-2-Clause */
/* Images: the kernel that one was compiled with, on which alone it runs, and so many actions. */
#include "test/trace/dtrace/machine/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Any bit of the id that is another: both kernels are named, which the reason alone doesn't do. */
static void test_kernel(void **state)
{
    struct image_builder *b = &world.image;
    struct dtrace_refusal refusal;

    (void)state;
    assert_string_equal(dtrace_reason_text(DTRACE_REASON_OTHER_KERNEL),
                        "compiled for another build of the kernel");
    for (unsigned i = 0; i < sizeof(fake.kernel); i++) {
        fake.kernel[i] = (uint8_t)(i + 1);
    }
    image_begin(b);
    struct dtrace_image *image = image_end(b);
    memcpy(image->kernel, fake.kernel, sizeof(fake.kernel));
    assert_int_equal(dtrace_image_check(image, b->size, &refusal), 0);
    for (unsigned i = 0; i < 8 * sizeof(fake.kernel); i++) {
        image->kernel[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(dtrace_image_check(image, b->size, &refusal), -EINVAL);
        assert_int_equal(refusal.error, -EINVAL);
        assert_int_equal(refusal.reason, DTRACE_REASON_OTHER_KERNEL);
        assert_string_equal(dtrace_refusal_text(&refusal), "another");
        image->kernel[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(dtrace_image_check(image, b->size, &refusal), 0);
}

/* So many actions that each ECB alone would do. */
static void test_too_many(void **state)
{
    enum { ACTIONS = DTRACE_ACTIONS_MAX / 2 + 1 };
    size_t size = sizeof(struct dtrace_image) + 2 * sizeof(struct dtrace_image_ecb) +
                  ACTIONS * sizeof(struct dtrace_image_action) + 8;
    struct dtrace_image *image = calloc(1, size);
    struct dtrace_refusal refusal;

    (void)state;
    enum { ECBS = sizeof(struct dtrace_image), FIRST = ECBS + 2 * sizeof(struct dtrace_image_ecb) };
    *image = (struct dtrace_image){DTRACE_IMAGE_MAGIC,
                                   DTRACE_IMAGE_VERSION,
                                   sizeof(void *),
                                   DIF_VERSION,
                                   (uint32_t)size,
                                   0,
                                   {ECBS, 0},
                                   {ECBS, 2},
                                   {FIRST, ACTIONS},
                                   {ECBS, 0},
                                   {ECBS, 0},
                                   {ECBS, 0},
                                   {ECBS, 0},
                                   {(uint32_t)size - 8, 1},
                                   {0},
                                   0};
    struct dtrace_image_ecb *e = (struct dtrace_image_ecb *)((char *)image + ECBS);
    e[0].nactions = e[1].nactions = ACTIONS;
    assert_int_equal(dtrace_image_check(image, size, &refusal), -E2BIG);
    assert_int_equal(refusal.reason, DTRACE_REASON_ACTIONS);
    e[1].nactions--;
    e[0].nactions--;
    assert_int_equal(dtrace_image_check(image, size, &refusal), 0);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kernel, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_too_many, world_open, world_close)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
