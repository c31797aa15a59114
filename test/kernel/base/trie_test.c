/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/base/trie.c against a model that searches an array: random members, random keys of few and
 * of many bits. No operation takes more than STEPS_MOST steps, also with MEMBERS members. A step is
 * a basic block: trie.c is compiled with -fsanitize-coverage. SEED=n repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/base/trie.h"
#include "test/tool/random.h"
#include "test/kernel/fake/fake.h"
#include "test/kernel/fake/steps.h"

#define MEMBERS 4096u
#define OPERATIONS 15000u
#define STEPS_MOST 270u /* two paths of TRIE_DEPTH, four blocks each */

static struct trie_node nodes[MEMBERS];
static bool in[MEMBERS];
static struct trie trie;

static struct trie_node *model_at_least(uint32_t key)
{
    struct trie_node *best = NULL;

    for (unsigned i = 0; i < MEMBERS; i++) {
        if (in[i] && nodes[i].key >= key && (!best || nodes[i].key < best->key)) {
            best = &nodes[i];
        }
    }
    return best;
}

static struct trie_node *model_find(uint32_t key)
{
    struct trie_node *node = model_at_least(key);

    return node && node->key == key ? node : NULL;
}

static void look(uint32_t key)
{
    steps = 0;
    struct trie_node *found = trie_find(&trie, key);
    steps_end(STEPS_MOST);
    assert_ptr_equal(found, model_find(key));
    steps = 0;
    found = trie_at_least(&trie, key);
    steps_end(STEPS_MOST);
    assert_ptr_equal(found, model_at_least(key));
}

static uint32_t random_key(unsigned bits)
{
    uint32_t key = (random_below(0x10000) << 16 | random_below(0x10000)) >> (32 - bits);

    return random_below(8) == 0 ? key << (32 - bits) : key;
}

static void change(unsigned i, unsigned bits)
{
    if (in[i] && random_below(8) == 0) {
        static struct trie_node by;
        steps = 0;
        by.key = nodes[i].key;
        trie_replace(&trie, &nodes[i], &by);
        trie_replace(&trie, &by, &nodes[i]);
    } else if (in[i]) {
        steps = 0;
        trie_remove(&trie, &nodes[i]);
        in[i] = false;
    } else {
        nodes[i].key = random_key(bits);
        if (model_find(nodes[i].key)) {
            return;
        }
        steps = 0;
        trie_insert(&trie, &nodes[i]);
        in[i] = true;
    }
    steps_end(STEPS_MOST);
}

static void set_with(unsigned bits, unsigned members)
{
    memset(in, 0, sizeof(in));
    trie = (struct trie){NULL};
    steps_worst = 0;
    for (unsigned n = 0; n < OPERATIONS; n++) {
        change(random_below(members), bits);
        if (n % 16 == 0) {
            look(random_key(bits));
            look(nodes[random_below(members)].key);
        }
    }
    print_message("%4u members, keys of %2u bits: at most %u steps\n", members, bits, steps_worst);
    for (unsigned i = 0; i < members; i++) {
        if (in[i]) {
            trie_remove(&trie, &nodes[i]);
        }
    }
    assert_null(trie.root);
}

static void test_sets(void **state)
{
    (void)state;
    for (unsigned bits = 2; bits <= 32; bits += 6) {
        set_with(bits, 30);
        set_with(bits, MEMBERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
