/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of numbers: see trie.h. Kernel lock held. */
#include "kernel/base/trie.h"

#include "kernel/base/assert.h"

#define TOP_BIT 31

struct trie_node *trie_find(const struct trie *trie, uint32_t key)
{
    struct trie_node *node = trie->root;

    for (uint32_t path = key; node && node->key != key; path <<= 1) {
        node = node->child[path >> TOP_BIT];
    }
    return node;
}

static struct trie_node *trie_lower(struct trie_node *a, struct trie_node *b)
{
    return !b || (a && a->key < b->key) ? a : b;
}

/* Returns the node with the lowest key in this subtree. Left children come before right ones, but a
 * node's own key may be anywhere among those below it. */
static struct trie_node *trie_lowest(struct trie_node *node)
{
    struct trie_node *best = NULL;

    while (node) { /* TRIE_DEPTH */
        best = trie_lower(best, node);
        node = node->child[0] ? node->child[0] : node->child[1];
    }
    return best;
}

/* A subtree that is not on the key's path is entirely above or below the key. Of the subtrees above
 * it, the last one that the path passes has the lowest keys. */
struct trie_node *trie_at_least(const struct trie *trie, uint32_t key)
{
    struct trie_node *best = NULL, *right = NULL, *node = trie->root;

    for (uint32_t path = key; node; path <<= 1) { /* TRIE_DEPTH */
        if (node->key >= key) {
            best = trie_lower(best, node);
        }
        if (!(path >> TOP_BIT) && node->child[1]) {
            right = node->child[1];
        }
        node = node->child[path >> TOP_BIT];
    }
    return trie_lower(best, trie_lowest(right));
}

/* Returns the pointer to the node with this key, or the pointer where it would be inserted. */
static struct trie_node **trie_place(struct trie *trie, uint32_t key)
{
    struct trie_node **place = &trie->root;

    for (uint32_t path = key; *place && (*place)->key != key; path <<= 1) { /* TRIE_DEPTH */
        place = &(*place)->child[path >> TOP_BIT];
    }
    return place;
}

void trie_insert(struct trie *trie, struct trie_node *node)
{
    struct trie_node **place = trie_place(trie, node->key);

    kernel_assert(!*place);
    node->child[0] = node->child[1] = NULL;
    *place = node;
}

void trie_replace(struct trie *trie, const struct trie_node *node, struct trie_node *by)
{
    struct trie_node **place = trie_place(trie, node->key);

    kernel_assert(*place == node && by->key == node->key);
    by->child[0] = node->child[0];
    by->child[1] = node->child[1];
    *place = by;
}

/* Any leaf below the node can replace it: the leaf's key begins with the bits that lead there. */
void trie_cut(struct trie_node **place)
{
    struct trie_node *node = *place, **leaf = place;

    while ((*leaf)->child[0] || (*leaf)->child[1]) { /* the tree's depth */
        leaf = &(*leaf)->child[(*leaf)->child[0] ? 0 : 1];
    }
    struct trie_node *by = *leaf;
    *leaf = NULL;
    if (by != node) {
        by->child[0] = node->child[0];
        by->child[1] = node->child[1];
        *place = by;
    }
}

void trie_remove(struct trie *trie, struct trie_node *node)
{
    struct trie_node **place = trie_place(trie, node->key);

    kernel_assert(*place == node);
    trie_cut(place);
}
