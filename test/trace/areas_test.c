/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a window of retained memory (abi/retain.h), and where it says that the areas are:
 * any values with a right CRC, and the layout before this one.
 */
#include "test/trace/retained.h"

#include <string.h>

#include "trace/crc32c.h"

/* One bit, or a value at the edge of what is possible. */
static void spoil(uint32_t *word)
{
    static const uint32_t edges[] = {0, 1, 8, FAKE_WINDOW - 1, FAKE_WINDOW, 1u << 31, UINT32_MAX};
    uint32_t which = random_below(16);

    *word =
        which < sizeof(edges) / sizeof(edges[0]) ? edges[which] : *word ^ 1u << random_below(32);
}

/* A header whose CRC is right and whose fields are anything: nothing is read outside the window,
 * nothing found that isn't there. */
static void another_layout(void **state)
{
    struct kymo_retain_header *header = (struct kymo_retain_header *)(void *)image;
    size_t from = offsetof(struct kymo_retain_header, boots);

    (void)state;
    retained_boot(2);
    retained_make(0);
    for (unsigned i = 0; i < 3000; i++) {
        struct retained_account accounts[CPUS];
        uint32_t *words = (uint32_t *)(void *)&image[from];

        stop_the_machine();
        for (uint32_t n = 1 + random_below(3); n > 0; n--) {
            spoil(&words[random_below((uint32_t)(sizeof(*header) - from) / 4)]);
        }
        header->crc = trace_crc(image + from, sizeof(*header) - from);
        if (open_image() && header->ring.ncpu <= CPUS) {
            retained_account(accounts);
        }
    }
    retained_end();
}

/* Each area in turn is where the window ends, one byte longer, or ends after UINT32_MAX: then
 * there is no window. Without it, what it held is missing, and nothing else. */
static void areas_of_any_size(void **state)
{
    struct kymo_retain_header *header = (struct kymo_retain_header *)(void *)image;
    struct kymo_retain_area *area = &header->areas.panic;
    struct retained_account accounts[CPUS];
    size_t from = offsetof(struct kymo_retain_header, boots);

    (void)state;
    retained_boot(2);
    for (unsigned n = 0; n < 100; n++) {
        retained_make(n % CPUS);
    }
    for (unsigned i = 0; i < offsetof(struct kymo_retain_areas, free) / sizeof(*area); i++) {
        for (unsigned how = 0; how < 5; how++) {
            stop_the_machine();
            uint32_t bytes = area[i].bytes;
            const struct kymo_retain_area other[] = {{FAKE_WINDOW - bytes, bytes},
                                                     {FAKE_WINDOW - bytes + 1, bytes},
                                                     {UINT32_MAX, bytes},
                                                     {area[i].at, UINT32_MAX},
                                                     {UINT32_MAX, 0}};
            area[i] = other[how];
            header->crc = trace_crc(image + from, sizeof(*header) - from);
            assert_int_equal(open_image(), how == 0 || how == 4);
            if (how == 4) {
                retained_account(accounts);
                assert_int_equal(accounts[0].last, made[0]);
            }
        }
    }
    retained_end();
}

/* A header of version 3 says nothing of areas: they are where they always were. */
static void version_3(void **state)
{
    static const struct kymo_retain_areas areas = KYMO_RETAIN_V3_AREAS;
    struct kymo_retain_header *header = (struct kymo_retain_header *)(void *)image;
    size_t from = offsetof(struct kymo_retain_header, boots);

    (void)state;
    retained_boot(2);
    retained_make(0);
    stop_the_machine();
    header->version = KYMO_RETAIN_V3;
    header->bytes = KYMO_RETAIN_V3_HEADER_BYTES;
    memset(&header->areas, 0xff, sizeof(header->areas));
    header->crc = trace_crc(image + from, header->bytes - from);
    assert_true(open_image());
    assert_memory_equal(&found.header.areas, &areas, sizeof(areas));
    header->bytes = sizeof(*header);
    header->crc = trace_crc(image + from, header->bytes - from);
    assert_false(open_image());
    retained_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_layout),
        cmocka_unit_test(areas_of_any_size),
        cmocka_unit_test(version_3),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
