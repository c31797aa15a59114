/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/id_tree.h against an array: numbers in sequence, at random, and chosen so that all begin
 * alike once they are mixed, are found, replaced and removed, never deeper than ID_TREE_DEPTH.
 */
#include <stdlib.h>
#include <string.h>

#include "host/id_tree.h"
#include "test/host/support.h"

#define NUMBERS 600
#define FACTOR_INVERSE 0xf1de83e19937733dull /* times 0x9e3779b97f4a7c15 (mod 2^64): 1 */

struct thing {
    struct id_node node;
    uint64_t number;
    bool there;
};

static uint64_t random_state = 1;

static uint64_t test_random(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 11;
}

static unsigned depth_of(const struct id_node *node)
{
    unsigned most = 0;

    for (unsigned i = 0; node != NULL && i < 4; i++) {
        unsigned depth = depth_of(node->child[i]);

        most = depth > most ? depth : most;
    }
    return node == NULL ? 0 : most + 1;
}

static void expect_found(const struct id_tree *tree, struct thing *things)
{
    for (unsigned i = 0; i < NUMBERS; i++) {
        assert_ptr_equal(id_tree_find(tree, things[i].number),
                         things[i].there ? &things[i].node : NULL);
    }
}

/* Adds, replaces and removes at random, then takes the rest. */
static void numbers_try(struct thing *things)
{
    struct id_tree tree = {NULL};
    struct id_node *node;
    unsigned there = 0;

    for (unsigned round = 0; round < 4 * NUMBERS; round++) {
        struct thing *thing = &things[test_random() % NUMBERS];

        if (!thing->there) {
            id_tree_add(&tree, &thing->node, thing->number);
            there++;
        } else if (round % 7 == 0) {
            struct id_node other;

            id_tree_replace(&tree, &thing->node, &other);
            assert_ptr_equal(id_tree_find(&tree, thing->number), &other);
            id_tree_replace(&tree, &other, &thing->node);
            continue;
        } else {
            id_tree_remove(&tree, &thing->node);
            there--;
        }
        thing->there = !thing->there;
        if (round % 50 == 0) {
            expect_found(&tree, things);
            assert_in_range(depth_of(tree.root), 0, ID_TREE_DEPTH);
        }
    }
    while ((node = id_tree_take(&tree)) != NULL) {
        there--;
    }
    assert_int_equal(there, 0);
}

static void test_as_an_array(void **state)
{
    static struct thing things[NUMBERS];

    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        memset(things, 0, sizeof(things));
        for (uint64_t i = 0; i < NUMBERS; i++) {
            things[i].number = kind == 0   ? i
                               : kind == 1 ? i << 32 | 1
                               : kind == 2 ? (test_random() << 10) + i
                                           : i * FACTOR_INVERSE; /* mixed: 0, 1, 2 ... */
        }
        numbers_try(things);
    }
}

/* Each number has one more bit in common with the last one than the one before: a tree of one
 * branch, which ends. */
static void test_deepest(void **state)
{
    static struct id_node nodes[64];
    struct id_tree tree = {NULL};

    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        id_tree_add(&tree, &nodes[i], (1ull << (63 - i)) * FACTOR_INVERSE);
    }
    assert_in_range(depth_of(tree.root), 20, ID_TREE_DEPTH);
    for (unsigned i = 0; i < 64; i++) {
        assert_ptr_equal(id_tree_find(&tree, (1ull << i) * FACTOR_INVERSE), &nodes[63 - i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_an_array),
                                       cmocka_unit_test(test_deepest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
